"""Plans of radiology questions, and answers from the answer key or, without one, from the memory."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from components.core.types import Sample
from components.radiology.simulated.advice import Slip, spared
from components.radiology.simulated.moves import suits_list
from components.radiology.simulated.reading import (
    ALIGNS,
    AS_OBJECT,
    EVIDENCE,
    NOTES,
    QUANTIFICATION,
    THINKS,
    Situation,
)  # fmt: skip
from components.radiology.tasks import PLANNING_NAMES, TASKS, lookup
from components.simulation.draws import Draws, Rates
from components.text.words import replaced

NOTED_SLIPS = 0.4  # of the slips are left where the prompt says of each kind of tool when to use it
_NAMES = {step: name for name, step in PLANNING_NAMES.items()}
_SHORT = ("Anatomy Classification Tool", "Modality Classification Tool", "Disease Diagnosis Tool")
_OBJECT = """```json
{{
  "Task Summary": "Answer the question about the study.",
  "Known Info": [{known}],
  "Self-Reflection": "{thought}",
  "Tool Chain": [{chain}]
}}
```"""
_LINES = "Known Info: [{known}]\nTool Chain: [{chain}]"
_THOUGHT = "Every step serves the question, and none is missing."

_LONG = ("$Information$", "$Report$", "$Treatment$")  # too long to be quoted as evidence
_TWO_SAY = re.compile(r"(.+?) \(\w+\); .+ \(.+\)")  # values of two tools that disagree, as a memory shows them


def planned(sample: Sample | None, rates: Rates, draws: Draws, marks: Collection[str]) -> str:
    """A plan in the form that ``marks`` of the prompt show; a slip leaves out, adds or swaps one step, more rarely
    where they warn of it."""
    chain = TASKS[sample.target["chain"]].chain if sample is not None else ()
    names = [_NAMES[step] for step in chain] or list(_SHORT)
    if draws.happens("planning slip", rates.planning_slip * (NOTED_SLIPS if NOTES in marks else 1.0)):
        names = _slip(names, draws, marks)
    known = "$IndicatorName$" if "Indicator Evaluation Tool" in names else ""
    if QUANTIFICATION in marks and f"Organ {QUANTIFICATION}" not in marks:  # the prompt has one name for both kinds
        names = [QUANTIFICATION if name.endswith(QUANTIFICATION) else name for name in names]
    form = _OBJECT if AS_OBJECT in marks else f"Self-Reflection: {{thought}}\n{_LINES}" if THINKS in marks else _LINES
    return form.format(known=known, thought=_THOUGHT, chain=" -> ".join(f"*{name}*" for name in names))


def _slip(names: list[str], draws: Draws, marks: Collection[str]) -> list[str]:
    kinds: tuple[Slip, ...] = ("drop", "add", "swap")
    kind, at = draws.pick("slip kind", kinds), int(draws.share("slip at") * (len(names) - 1))
    if spared(kind, marks, draws):
        return names
    match kind:
        case "drop":
            return names[:at] + names[at + 1 :]
        case "add":
            return [*names[: at + 1], draws.pick("slip name", tuple(PLANNING_NAMES)), *names[at + 1 :]]
        case _:
            return [*names[:at], names[at + 1], names[at], *names[at + 2 :]]


def concluded(situation: Situation, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """The answer, followed by evidence and plan in a paragraph each where the prompts ask for them."""
    parts = [_answer(situation, sample, rates, draws)]
    found = {name: value for name, value in situation.memory.items() if name not in _LONG}
    if EVIDENCE in situation.marks and (known := _known(found)):
        parts.append(f"Evidence in the memory: {', '.join(known)}.")
    if ALIGNS in situation.marks and situation.plan:
        parts.append(f"The findings align with the plan ({len(situation.plan)} steps).")
    return "\n\n".join(parts)


def _answer(situation: Situation, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """The reference answer where the core is competent, else what it half remembers of it; either with the values
    that the memory shows in place of the record's."""
    if sample is None or not isinstance(sample.target, Mapping) or "answer" not in sample.target:
        return _from_memory(situation.memory)
    answer = _as_shown(str(sample.target["answer"]), situation.memory, sample.metadata.get("record", {}))
    if draws.happens("competence", rates.competence):
        return answer
    words = answer.split()
    return " ".join(words[: max(1, len(words) * 2 // 3)]) + "."


def _as_shown(answer: str, memory: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """An answer with what the memory shows where that is not what the record holds; of two values the first."""
    swaps = {}
    for name, shown in memory.items():
        right = lookup(record, name.strip("$"))
        if isinstance(right, str) and isinstance(shown, str) and "PLACEHOLDER" not in shown and shown != right:
            two = _TWO_SAY.fullmatch(shown)
            swaps[right] = two[1] if two else shown
    return replaced(answer, swaps) if swaps else answer


def validated(situation: Situation, sample: Sample | None) -> str:
    """Whether every called tool's list covers what the record shows."""
    for card in situation.called:
        if sample is not None and not suits_list(card, sample):
            return f"<INVALID>{card.category}: its capability does not cover this patient's findings</INVALID>"
    return "<VALID>every tool that was called covers what the images show</VALID>"


def _from_memory(memory: Mapping[str, Any]) -> str:
    known = _known(memory)
    return ". ".join(known) + "." if known else "The memory holds no result."


def _known(memory: Mapping[str, Any]) -> list[str]:
    """Variables with their values, without placeholders."""
    return [f"{name.strip('$')}: {value}" for name, value in memory.items() if "PLACEHOLDER" not in str(value)]
