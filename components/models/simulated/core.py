"""The simulated core: reads exactly the messages an LLM gets and replies in the grammar they ask for.

It is no mock of an answer: what the prompt does not tell, it does not do. A private answer key stands
for its medical knowledge. ``VERSION`` changes when a reply can.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from components.core.messages import Completion, Message, ToolSpec, Usage
from components.core.types import Sample
from components.models.simulated import clinical
from components.models.simulated.dialogue import REFINE, SELECT, read_consultation
from components.models.simulated.draws import Draws
from components.models.simulated.key import AnswerKey
from components.models.simulated.rates import Rates
from components.models.simulated.reading import AS_OBJECT, HANDED, Reader, Situation
from components.models.simulated.review import review
from components.models.simulated.skills import build as building
from components.models.simulated.skills.act import Move, decide
from components.models.simulated.skills.advice import advised, eased
from components.models.simulated.skills.answers import is_clinical
from components.models.simulated.skills.authoring import authored
from components.models.simulated.skills.choose import choose, extracted
from components.models.simulated.skills.conclude import conclude, validate
from components.models.simulated.skills.doubt import doubting
from components.models.simulated.skills.grading import graded
from components.models.simulated.skills.learn import learnt
from components.models.simulated.skills.opinions import Voice, believed, heart, voice_of
from components.models.simulated.skills.panel import reply as on_panel
from components.models.simulated.skills.panel import stage_of
from components.models.simulated.skills.plan import plan
from components.models.simulated.skills.querying import on_records
from components.models.simulated.skills.record_key import is_records
from components.models.simulated.skills.reflect import SHOWN_FORM, heeds, proposed, reflected, repeated, shows_form
from components.models.simulated.skills.told import Reading
from components.models.simulated.skills.write import Style, write

VERSION = "11"
TAUGHT_SLIPS = 0.3  # of the calls of a wrong radiology tool are left where a solved task is shown
HANDED_SLIPS = 0.4  # of them are left where the plan is handed over in the instructions, with the tools
_CONCLUDE = ("Write the final answer", "Now answer the question", "Now write your opinion")
_TAUGHT = re.compile(r"\[Example\].*^Action: TOOL", re.DOTALL | re.MULTILINE)
_MALFORMED = "I would use the next tool that fits, and then see what it returns."


@dataclass
class Core:
    """Rates, answer key and nothing else: a function of (messages, tools, seed)."""

    rates: Rates
    key: AnswerKey = field(default_factory=AnswerKey)
    _reader: Reader = field(default_factory=Reader, repr=False)
    _reading: Reading = field(default_factory=Reading, repr=False)

    def study(self, samples: Iterable[Sample]) -> None:
        """Take samples as the private answer key."""
        self.key = AnswerKey(samples)

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec], seed: int) -> Completion:
        """One reply; tokens are estimated as a quarter of the bytes."""
        sample = self.key.find(messages)
        draws = Draws(seed, messages, sample.problem.question if sample is not None else None)
        message = doubting(self._message(messages, tools, sample, draws), messages, self.rates, draws)
        asked = sum(len(m.wire) for m in messages) + sum(len(t.wire) for t in tools)
        usage = Usage(asked // 4, max(1, len(message.wire) // 4), 0.0)
        return Completion(message, usage, "tool_calls" if message.tool_calls else "stop")

    def _message(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], sample: Sample | None, draws: Draws
    ) -> Message:  # fmt: skip
        """Recognise what is asked by the formats that the messages give."""
        last = messages[-1].text
        if len(messages) == 1:  # what tools and stages ask stands alone
            said = graded(last) or advised(last) or authored(last, self.rates, draws) or learnt(last)
            said = said or extracted(last) or clinical.as_tool(last, sample, self.rates, draws)
            if said is not None:
                return _said(said)
        if messages[0].text.startswith(building.BUILDER):
            return _said(building.code(messages, self.rates, draws))
        if is_records(sample) and stage_of(messages) is None:
            voice = voice_of(messages, sample)
            return on_records(messages, tools, sample, voice, self.rates, draws, self._reading)
        situation = self._reader.read(messages, tools)
        if building.REQUEST in last:
            return _said(building.request(last, situation, sample, self.rates, draws))
        if building.SPECIFY in last:
            return _said("{}")
        style, stage = _style(situation, tools), stage_of(messages)
        if style is None and stage is not None:
            garbled = draws.happens("malformed", self.rates.malformed)
            return _said(_MALFORMED if garbled else on_panel(stage, last, sample, self.rates, draws))
        voice = voice_of(messages, sample)
        if is_clinical(sample):
            return self._clinical(messages, tools, situation, style, sample, voice, draws)
        return self._radiology(messages, tools, situation, style, sample, voice, draws)

    def _clinical(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], situation: Situation, style: Style | None,
        sample: Sample, voice: Voice, draws: Draws,
    ) -> Message:  # fmt: skip
        """A task of ClinicalAgent Bench."""
        if draws.happens("malformed", self.rates.malformed):
            return _said(_MALFORMED)
        reasons = "step by step" in situation.marks
        return clinical.reply(messages, tools, style, reasons, sample, voice, self.rates, draws)

    def _radiology(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], situation: Situation, style: Style | None,
        sample: Sample | None, voice: Voice, draws: Draws,
    ) -> Message:  # fmt: skip
        """A question of RadABench, or one that is no sample's."""
        last = messages[-1].text
        if proposed(last) is None and not last.endswith((SELECT, REFINE)):  # what is asked anew is drawn anew
            draws = draws.in_turn(sum(message.role == "assistant" for message in messages))
        if "<VALID>" in last:
            return _said(validate(situation, sample))
        choice = sample is not None and not isinstance(sample.target, dict)
        if not choice and any(words in last for words in _CONCLUDE):
            return _said(self._worded(situation, sample, voice, draws))
        if style is None and not situation.marks.isdisjoint(("Tool Chain:", AS_OBJECT)):
            return _said(plan(sample, self.rates, draws, situation.marks))
        rates = eased(self.rates, situation.marks)
        shown = style is not None and shows_form(messages, situation, style)
        if draws.happens("malformed", rates.malformed * (SHOWN_FORM if shown else 1.0)):
            return _said(_MALFORMED)
        if not choice and last.endswith((SELECT, REFINE)):
            return self._review(messages, tools, situation, style or "native", sample, voice, draws)
        if style is not None and not choice:
            taught = any(m.role == "system" and _TAUGHT.search(m.text) for m in messages[:1])
            left = (TAUGHT_SLIPS if taught else 1.0) * (HANDED_SLIPS if HANDED in situation.marks else 1.0)
            slips = replace(rates, wrong_tool=rates.wrong_tool * left)
            return self._step(situation, tools, style, sample, voice, slips, draws, last)
        if not voice.field and (choice or (sample is None and "Answer: <" in situation.marks)):
            answer = choose(sample, "step by step" in situation.marks, self.rates, draws)
        else:
            answer = self._worded(situation, sample, voice, draws)
        return write(Move(), style or "native", answer)

    def _worded(self, situation: Situation, sample: Sample | None, voice: Voice, draws: Draws) -> str:
        """The final answer in words; an expert's as an analysis."""
        open_ended = bool(situation.memory) if sample is None else isinstance(sample.target, dict)
        if voice.field and not open_ended:
            known = sample is not None and draws.happens("competence", heart(sample, self.rates))
            return voice.worded(believed(sample, known, draws), draws)
        return voice.worded(conclude(situation, sample, self.rates, draws), draws)

    def _review(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], situation: Situation, style: Style,
        sample: Sample | None, voice: Voice, draws: Draws,
    ) -> Message:  # fmt: skip
        """A verifier's question: what the core would do without a slip is good."""
        dialogue = read_consultation(messages, tools)
        careful = replace(self.rates, wrong_tool=0.0)
        move = decide(situation, sample, _may_refuse(situation, tools), careful, draws)
        wanted = "Refuse" if move.grounds is not None else "Finish" if move.card is None else move.card.name

        def good(text: str) -> bool:
            return text.startswith(f"{wanted}[")

        def better() -> Message:
            return self._act(situation, tools, style, sample, voice, careful, draws)

        return review(dialogue, good, better, style, draws)

    def _step(
        self, situation: Situation, tools: Sequence[ToolSpec], style: Style, sample: Sample | None, voice: Voice,
        rates: Rates, draws: Draws, last: str,
    ) -> Message:  # fmt: skip
        """The next move; asked about a proposal of its own, that one again or the move without a slip."""
        if (proposal := proposed(last)) is None:
            return self._act(situation, tools, style, sample, voice, rates, draws, self.rates.malformed)
        if not heeds(last, draws):
            return repeated(proposal, style)
        return self._act(situation, tools, style, sample, voice, replace(rates, wrong_tool=0.0), draws)

    def _act(
        self, situation: Situation, tools: Sequence[ToolSpec], style: Style, sample: Sample | None, voice: Voice,
        rates: Rates, draws: Draws, forgets: float = 0.0,
    ) -> Message:  # fmt: skip
        """A move of an agent with radiology tools; ``forgets``: how often the reflection asked for is left out."""
        move = decide(situation, sample, _may_refuse(situation, tools), rates, draws)
        ends = move.card is None and move.grounds is None
        said = write(move, style, self._worded(situation, sample, voice, draws) if ends else "")
        return reflected(said, move, situation, style, draws.happens("forgets", forgets))


def _may_refuse(situation: Situation, tools: Sequence[ToolSpec]) -> bool:
    """Whether the prompt tells how to refuse."""
    return not situation.marks.isdisjoint(("<NoCall>", "Refuse[")) or any(tool.name == "refuse" for tool in tools)


def _style(situation: Situation, tools: Sequence[ToolSpec]) -> Style | None:
    """The grammar that the prompt asks for; None where no action is asked."""
    if tools:
        return "native"
    if "<EndCall>" in situation.marks:
        return "xml"
    return "bracket" if "Finish[" in situation.marks else None


def _said(text: str) -> Message:
    return Message("assistant", text)
