"""The simulated core on tasks of ClinicalAgent Bench: plain answers, steps with tools, and what tools ask it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from components.core.messages import Message, ToolSpec
from components.core.types import Sample
from components.models.simulated.dialogue import REFINE, SELECT, Consultation, call_in, read_consultation
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.review import review, written
from components.models.simulated.skills import consult, sql
from components.models.simulated.skills.answers import answer_text
from components.models.simulated.skills.build import BUILD
from components.models.simulated.skills.choose import choose
from components.models.simulated.skills.consult import Step
from components.models.simulated.skills.judge import Good, guided
from components.models.simulated.skills.opinions import Voice
from components.models.simulated.skills.write import Style

LOOKS, DESCRIBES, HINTS, PASSAGES = (
    "Look at the medical image",
    "Describe this medical image",
    "Hints:",
    "You read passages",
)
_CONCLUDE = ("Now answer the question", "Now write your opinion")


def as_tool(text: str, sample: Sample | None, rates: Rates, draws: Draws) -> str | None:
    """The reply to a model-driven tool's question; None when it is none."""
    if sql.ASKS in text and "SELECT statement" in text:
        return sql.statement(sample, text, rates, draws)
    if text.startswith(DESCRIBES):
        return "A single grey image of one body part; its findings are told when a question is asked."
    if text.startswith(LOOKS):
        if sample is None:
            return "The image alone does not tell."
        return answer_text(sample, draws.happens("competence", rates.competence), draws)
    if text.startswith(PASSAGES):
        return "The passages hold what is asked for [1]." if "\n[1]" in text else "The passages do not hold the answer."
    return "Use the tables listed first, joined as the manual says." if text.endswith(HINTS) else None


def reply(
    messages: Sequence[Message], tools: Sequence[ToolSpec], style: Style | None, reasons: bool, sample: Sample,
    voice: Voice, rates: Rates, draws: Draws,
) -> Message:  # fmt: skip
    """An answer from the prompt alone, the next step, the answer after the last one, or a verifier's choice."""
    last, dialogue = messages[-1].text, read_consultation(messages, tools)
    if last.endswith((SELECT, REFINE)):
        return _review(dialogue, style or "native", sample, voice, rates, draws)
    if style == "xml" and any(words in last for words in _CONCLUDE):
        style = None
    if style is not None:
        step = consult.next_step(sample, dialogue, rates, draws)
        return _step(step, style, sample, dialogue, voice, draws)
    if dialogue.done or voice.field:
        answer = consult.finish(sample, dialogue, rates, draws).arguments["response"]
        return Message("assistant", voice.worded(answer, draws) if voice.field else f"Answer: {answer}")
    return Message("assistant", _plainly(sample, reasons, rates, draws))


def _plainly(sample: Sample, reasons: bool, rates: Rates, draws: Draws) -> str:
    """An answer by heart, marked on the last line."""
    known = replace(rates, competence=consult.by_heart(sample, rates))
    if sample.problem.choices or "decisions" in sample.metadata:
        return choose(sample, reasons, known, draws)
    lead = "What the task gives speaks for this answer.\n" if reasons else ""
    return f"{lead}Answer: {answer_text(sample, draws.happens('competence', known.competence), draws)}"


def _review(
    dialogue: Consultation, style: Style, sample: Sample, voice: Voice, rates: Rates, draws: Draws
) -> Message:  # fmt: skip
    """The reply to a verifier's question; without cards the tools are those that the candidates name."""
    if not dialogue.offered:
        named = [found.name for text in dialogue.candidates if (found := call_in(text)) is not None]
        dialogue = replace(dialogue, offered={name: () for name in named if name != "Finish"})

    def good(text: str) -> bool:
        return _is_good(text, sample, dialogue, voice)

    def better() -> Message:
        step = _rewritten(sample, dialogue, good, rates, draws)
        return _step(step, style, sample, dialogue, voice, draws)

    return review(dialogue, good, better, style, draws)


def _is_good(text: str, sample: Sample, dialogue: Consultation, voice: Voice) -> bool:
    """Whether an action serves: a fitting tool asked in full, or the right answer."""
    found = call_in(text)
    if found is None:
        return False
    if found.name == "Finish":
        return voice.serves(sample, str(found.arguments.get("response", "")))
    if found.name == BUILD:
        return consult.misses_calculator(sample, dialogue)
    return found.name == consult.fitting(sample, dialogue) and consult.is_full(sample, found)


def _rewritten(sample: Sample, dialogue: Consultation, good: Good, rates: Rates, draws: Draws) -> Step:
    """The same kind of action with more of what it lacks, all of it where lessons tell or on the second time; a good
    one, rewritten once too often, loses something."""
    current = dialogue.current or ""
    found = call_in(current)
    if found is not None and found.name in dialogue.offered and found.name not in consult.INNER:
        whole = dialogue.earlier > 0 or guided(dialogue, [current])
        return consult.call(sample, dialogue, found.name, "few" if good(current) else "all" if whole else "half")
    if found is None:
        return consult.next_step(sample, dialogue, rates, draws)
    return consult.second_thought(sample, rates, draws)


def _step(
    step: Step, style: Style, sample: Sample, dialogue: Consultation, voice: Voice, draws: Draws
) -> Message:  # fmt: skip
    """A step in the grammar that the prompt asks for; in tags, which know no answer, the last call ends the work."""
    if style == "xml":
        if step.name == "Finish" and "Think" in dialogue.offered:
            return written("Think", {"response": "The answer is known."}, style, last=True)
        return written(step.name, step.arguments, style, last=consult.is_full(sample, step))
    if step.name == "Finish":
        return written(step.name, {"response": voice.worded(step.arguments["response"], draws)}, style)
    return written(step.name, step.arguments, style)
