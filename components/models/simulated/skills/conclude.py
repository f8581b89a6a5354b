"""Skill: final answers in words, from the answer key or, without one, from the memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.reading import Situation
from components.models.simulated.skills.act import suits_list
from components.types import Sample


def conclude(situation: Situation, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """The reference answer where the core is competent, else what it half remembers of it."""
    if sample is None or not isinstance(sample.target, Mapping) or "answer" not in sample.target:
        return _from_memory(situation.memory)
    answer = str(sample.target["answer"])
    if draws.happens("competence", rates.competence):
        return answer
    words = answer.split()
    return " ".join(words[: max(1, len(words) * 2 // 3)]) + "."


def validate(situation: Situation, sample: Sample | None) -> str:
    """Whether every called tool's list covers what the record shows."""
    for card in situation.called:
        if sample is not None and not suits_list(card, sample):
            return f"<INVALID>{card.category}: its capability does not cover this patient's findings</INVALID>"
    return "<VALID>every tool that was called covers what the images show</VALID>"


def _from_memory(memory: Mapping[str, Any]) -> str:
    known = [f"{name.strip('$')}: {value}" for name, value in memory.items() if "PLACEHOLDER" not in str(value)]
    return ". ".join(known) + "." if known else "The memory holds no result."
