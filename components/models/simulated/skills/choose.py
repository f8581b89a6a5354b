"""Skill: answering multiple-choice and yes/no/maybe questions."""

from __future__ import annotations

from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.types import Sample

_DECISIONS = ("yes", "no", "maybe")


def choose(sample: Sample | None, reasons: bool, rates: Rates, draws: Draws) -> str:
    """``Answer: X`` on the last line, with a line of reasoning before it where the prompt asks for one."""
    if sample is None:
        return "Answer: not known"
    options = tuple(sample.problem.choices) or _DECISIONS
    right = str(sample.target)
    letter = right
    if not draws.happens("competence", rates.competence):
        others = [option for option in options if option.lower() != right.lower()]
        letter = draws.pick("wrong option", others) if others else right
    text = sample.problem.choices.get(letter, letter)
    lead = f"The findings that the question describes fit {text} best.\n" if reasons else ""
    return f"{lead}Answer: {letter}"
