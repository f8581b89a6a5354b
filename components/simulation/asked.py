"""What the simulated model is asked, and what a responder of a family declares."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

from components.core.messages import Message, ToolSpec
from components.core.types import Sample
from components.prompts.recognition import rendered_from
from components.simulation.draws import Draws, Rates
from components.simulation.grammar import Style, said, style_in
from components.simulation.history import History, read_history
from components.simulation.knowledge import Knowledge

CONCLUDES = ("_shared/conclude", "medagents_expert/conclude")
MALFORMED = "I would use the next tool that fits, and then see what it returns."


class Voice:
    """How an answer is worded: plainly, unless a responder declares another voice."""

    opines = False  # whether an opinion is asked for, not the answer

    def worded(self, answer: str, draws: Draws) -> str:
        """The answer in this voice; an empty one is not known."""
        return answer

    def serves(self, knowledge: Knowledge, text: str) -> bool:
        """Whether an answer that was worded so is good."""
        return knowledge.is_right(text)


@dataclass(frozen=True)
class Asked:
    """One request, with what the model knows: the facts by which a responder decides whether it is asked."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    rates: Rates
    draws: Draws
    knowledge: Knowledge | None = None
    voice: Voice = field(default_factory=Voice)

    @property
    def sample(self) -> Sample | None:
        """The sample that the conversation is about."""
        return None if self.knowledge is None else self.knowledge.sample

    @property
    def last(self) -> str:
        """The text of the last message."""
        return self.messages[-1].text

    @cached_property
    def opening(self) -> Sequence[Message]:
        """The messages before the first reply."""
        end = next((n for n, one in enumerate(self.messages) if one.role == "assistant"), len(self.messages))
        return self.messages[:end]

    @cached_property
    def style(self) -> Style | None:
        """The grammar in which an action is asked for; None where none is."""
        return style_in(self.messages, self.tools)

    @cached_property
    def history(self) -> History:
        """What is offered and what was done."""
        return read_history(self.messages, self.tools)

    @cached_property
    def concludes(self) -> bool:
        """Whether the answer is asked for after the last call."""
        return self.rendered_from(*CONCLUDES)

    def rendered_from(self, *templates: str) -> bool:
        """Whether the last message was rendered from one of these templates (``set/template``)."""
        return rendered_from(self.last, *templates)

    def garbled(self) -> Message | None:
        """A reply that no grammar can read, at its rate."""
        return said(MALFORMED) if self.draws.happens("malformed", self.rates.malformed) else None


@runtime_checkable
class Responder(Protocol):
    """Answers for one family of prompts. Named in ``conf/model``; asked in that order."""

    def knowledge(self, sample: Sample) -> Knowledge | None:
        """What is known of a sample of this family; None of any other."""
        return None

    def voice(self, asked: Asked) -> Voice | None:
        """How answers are to be worded; None where this family asks for nothing special."""
        return None

    def reply(self, asked: Asked) -> Message | None:
        """The reply; None for what another responder is to answer."""
