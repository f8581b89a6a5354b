"""The simulated core: reads exactly the messages an LLM gets and replies in the grammar they ask for.

It is no mock of an answer: what the prompt does not tell, it does not do. A private answer key stands
for its medical knowledge. ``VERSION`` changes when a reply can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from components.messages import Completion, Message, ToolSpec, Usage
from components.models.simulated.draws import Draws
from components.models.simulated.key import AnswerKey
from components.models.simulated.rates import Rates
from components.models.simulated.reading import Reader, Situation
from components.models.simulated.skills.act import Move, decide
from components.models.simulated.skills.choose import choose
from components.models.simulated.skills.conclude import conclude, validate
from components.models.simulated.skills.plan import plan
from components.models.simulated.skills.write import Style, write
from components.types import Sample

VERSION = "2"
_CONCLUDE = ("Write the final answer", "Now answer the question")
_MALFORMED = "I would use the next tool that fits, and then see what it returns."


@dataclass
class Core:
    """Rates, answer key and nothing else: a function of (messages, tools, seed)."""

    rates: Rates
    key: AnswerKey = field(default_factory=AnswerKey)
    _reader: Reader = field(default_factory=Reader, repr=False)

    def study(self, samples: Iterable[Sample]) -> None:
        """Take samples as the private answer key."""
        self.key = AnswerKey(samples)

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec], seed: int) -> Completion:
        """One reply; tokens are estimated as a quarter of the bytes."""
        message = self._message(messages, tools, Draws(seed, messages))
        asked = sum(len(m.wire) for m in messages) + sum(len(t.wire) for t in tools)
        usage = Usage(asked // 4, max(1, len(message.wire) // 4), 0.0)
        return Completion(message, usage, "tool_calls" if message.tool_calls else "stop")

    def _message(self, messages: Sequence[Message], tools: Sequence[ToolSpec], draws: Draws) -> Message:
        """Recognise what is asked by the formats that the messages give."""
        sample, situation, last = self.key.find(messages), self._reader.read(messages, tools), messages[-1].text
        if "<VALID>" in last:
            return _said(validate(situation, sample))
        choice = sample is not None and not isinstance(sample.target, dict)
        if not choice and any(words in last for words in _CONCLUDE):
            return _said(conclude(situation, sample, self.rates, draws))
        style = _style(situation, tools)
        if style is None and "Tool Chain:" in situation.marks:
            return _said(plan(sample, self.rates, draws))
        if draws.happens("malformed", self.rates.malformed):
            return _said(_MALFORMED)
        if style is not None and not choice:
            return self._act(situation, tools, style, sample, draws)
        if choice or (sample is None and "Answer: <" in situation.marks):
            answer = choose(sample, "step by step" in situation.marks, self.rates, draws)
        else:
            answer = conclude(situation, sample, self.rates, draws)
        return write(Move(), style or "native", answer)

    def _act(
        self,
        situation: Situation,
        tools: Sequence[ToolSpec],
        style: Style,
        sample: Sample | None,
        draws: Draws,
    ) -> Message:
        """A move of an agent with tools."""
        may_refuse = not situation.marks.isdisjoint(("<NoCall>", "Refuse[")) or any(t.name == "refuse" for t in tools)
        move = decide(situation, sample, may_refuse, self.rates, draws)
        answer = conclude(situation, sample, self.rates, draws) if move.card is None and move.grounds is None else ""
        return write(move, style, answer)


def _style(situation: Situation, tools: Sequence[ToolSpec]) -> Style | None:
    """The grammar that the prompt asks for; None where no action is asked."""
    if tools:
        return "native"
    if "<EndCall>" in situation.marks:
        return "xml"
    return "bracket" if "Finish[" in situation.marks else None


def _said(text: str) -> Message:
    return Message("assistant", text)
