"""Skill: planning a radiology question in the format that the prompt asks for."""

from __future__ import annotations

from collections.abc import Collection

from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.advice import Slip, spared
from components.radiology.tasks import PLANNING_NAMES, TASKS
from components.types import Sample

_NAMES = {step: name for name, step in PLANNING_NAMES.items()}
_SHORT = ("Anatomy Classification Tool", "Modality Classification Tool", "Disease Diagnosis Tool")


def plan(sample: Sample | None, rates: Rates, draws: Draws, marks: Collection[str] = ()) -> str:
    """The two lines of a plan; a slip leaves out, adds or swaps one step, more rarely where ``marks`` of the
    instructions warn of it."""
    chain = TASKS[sample.target["chain"]].chain if sample is not None else ()
    names = [_NAMES[step] for step in chain] or list(_SHORT)
    if draws.happens("planning slip", rates.planning_slip):
        names = _slip(names, draws, marks)
    known = "$IndicatorName$" if "Indicator Evaluation Tool" in names else ""
    return f"Known Info: [{known}]\nTool Chain: [" + " -> ".join(f"*{name}*" for name in names) + "]"


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
