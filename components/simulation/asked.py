"""What the simulated model is asked and what it knows of it, and what a responder of a family declares."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Protocol, runtime_checkable

from components.core.cached import cached_property
from components.core.messages import Message, ToolSpec
from components.core.types import Sample
from components.prompts.recognition import rendered_from
from components.simulation.draws import Draws, Rates
from components.simulation.grammar import STYLE_MARKS, Style, said
from components.simulation.history import REFINE, SELECT, History, read_history
from components.text.answers import parse_letter

CONCLUDES = ("_shared/conclude", "medagents_expert/conclude")
MALFORMED = "I would use the next tool that fits, and then see what it returns."
_LED = re.compile(r"([A-Z])[.):](?:\s|$)")
_DECISIONS = ("yes", "no", "maybe")


@dataclass(frozen=True)
class Knowledge:
    """Knowledge of a sample with options, a decision, or an answer in words. Families override what differs."""

    sample: Sample

    @property
    def choices(self) -> Mapping[str, str]:
        """The options, by their letters."""
        return self.sample.problem.choices

    def by_heart(self, rates: Rates) -> float:
        """How often an answer is right for which nothing was looked up."""
        return rates.competence

    def opinion(self, known: bool, draws: Draws, besides: str = "") -> str:
        """The answer in words, right or wrong, and not the option of the opinion ``besides``."""
        if isinstance(self.sample.target, str):
            return self.option(known, draws, self.option_in(besides))
        words = _words(self.sample.target)
        return " ".join(words if known else words[: max(1, len(words) * 2 // 3)])

    def option(self, right: bool, draws: Draws, besides: str = "") -> str:
        """An option with its text, or a decision; a wrong one is not ``besides``."""
        target = str(self.sample.target)
        among = self.choices or self.sample.metadata.get("decisions", ())
        others = [one for one in among if one not in (target, besides)]
        chosen = target if right or not others else draws.pick("wrong option", others)
        return f"{chosen}. {self.choices[chosen]}" if chosen in self.choices else chosen

    def marked(self, rates: Rates, reasons: bool, draws: Draws) -> str:
        """An option or decision by heart, marked on the last line; ``reasons``: below a line of reasoning."""
        options, right = tuple(self.choices) or _DECISIONS, str(self.sample.target)
        others = [option for option in options if option.lower() != right.lower()]
        known = not others or draws.happens("competence", self.by_heart(rates))
        letter = right if known else draws.pick("wrong option", others)
        lead = f"The findings that the question describes fit {self.choices.get(letter, letter)} best.\n"
        return f"{lead if reasons else ''}Answer: {letter}"

    def is_right(self, opinion: str) -> bool:
        """Whether an opinion is the right one."""
        if isinstance(self.sample.target, str):
            said = self.option_in(opinion).strip().strip('".').casefold()
            return said.removeprefix("answer:").strip().split(".")[0] == self.sample.target.casefold()
        return opinion.split() == _words(self.sample.target)

    def option_in(self, opinion: str) -> str:
        """The letter of the option that an opinion names; without options the opinion itself."""
        if not self.choices:
            return opinion
        led = _LED.match(opinion)
        return led[1] if led and led[1] in self.choices else parse_letter(opinion, self.choices) or ""


def _words(target: Any) -> list[str]:
    return str(target.get("answer", "") if isinstance(target, Mapping) else target).split()


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

    @cached_property
    def sample(self) -> Sample | None:
        """The sample that the conversation is about."""
        return None if self.knowledge is None else self.knowledge.sample

    @cached_property
    def last(self) -> str:
        """The text of the last message."""
        return self.messages[-1].text

    @cached_property
    def opening(self) -> Sequence[Message]:
        """The messages before the first reply."""
        return list(takewhile(lambda message: message.role != "assistant", self.messages))

    @cached_property
    def style(self) -> Style | None:
        """The grammar in which an action is asked for; None where none is."""
        if self.tools:
            return "native"
        shown = "\n".join([message.text for message in self.messages if message.role != "assistant"])
        return next((style for mark, style in STYLE_MARKS.items() if mark in shown), None)

    @cached_property
    def history(self) -> History:
        """What is offered and what was done."""
        return read_history(self.messages, self.tools)

    @property
    def reviewed(self) -> bool:
        """Whether a verifier asks about proposals."""
        asks = self.last.endswith((SELECT, REFINE))
        return asks and (self.history.current is not None or bool(self.history.candidates))

    @cached_property
    def concludes(self) -> bool:
        """Whether the answer is asked for after the last call."""
        return self.rendered_from(*CONCLUDES)

    def rendered_from(self, *templates: str) -> bool:
        """Whether the last message was rendered from one of these templates (``set/template``)."""
        return rendered_from(self.last, *templates)

    def garbled(self) -> Message | None:
        """A reply that no grammar can read, at its rate: an empty one where prose is an answer."""
        text = "" if self.tools and not self.reviewed else MALFORMED
        return said(text) if self.draws.happens("malformed", self.rates.malformed) else None


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
