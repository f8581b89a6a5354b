"""Skill: planning a radiology question in the format that the prompt asks for."""

from __future__ import annotations

from collections.abc import Collection

from components.core.types import Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.reading import AS_OBJECT, NOTES, QUANTIFICATION, THINKS
from components.models.simulated.skills.advice import Slip, spared
from components.radiology.tasks import PLANNING_NAMES, TASKS

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


def plan(sample: Sample | None, rates: Rates, draws: Draws, marks: Collection[str] = ()) -> str:
    """A plan in the form that ``marks`` of the prompt tell of; a slip leaves out, adds or swaps one step, more rarely
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
