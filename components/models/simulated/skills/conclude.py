"""Skill: final answers in words, from the answer key or, without one, from the memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from components.core.types import Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.reading import ALIGNS, EVIDENCE, Situation
from components.models.simulated.skills.act import suits_list
from components.radiology.tasks import lookup
from components.text.words import replaced

_LONG = ("$Information$", "$Report$", "$Treatment$")  # too long to be quoted as evidence
_TWO_SAY = re.compile(r"(.+?) \(\w+\); .+ \(.+\)")  # values of two tools that disagree, as a memory shows them


def conclude(situation: Situation, sample: Sample | None, rates: Rates, draws: Draws) -> str:
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


def validate(situation: Situation, sample: Sample | None) -> str:
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
