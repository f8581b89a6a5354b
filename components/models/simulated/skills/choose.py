"""Skill: answering multiple-choice and yes/no/maybe questions."""

from __future__ import annotations

import re

from components.core.types import Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates

_DECISIONS = ("yes", "no", "maybe")
_NAMED = re.compile(r"^Answer: (.+)$", re.MULTILINE)


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


def extracted(text: str) -> str | None:
    """The answer that the reasoning before a final "Therefore, ... the answer is" names; None for another prompt."""
    reasoning, asks, rest = text.rpartition("\nTherefore, ")
    named = _NAMED.findall(reasoning) if asks and rest.endswith("the answer is") else []
    return f"The answer is {named[-1]}" if named else None
