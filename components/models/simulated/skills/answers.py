"""Skill: the text of an answer to a task of ClinicalAgent Bench, right or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from components.cab.tasks import TASKS
from components.core.types import Sample
from components.models.simulated.draws import Draws

_WRONG_WORDS = ("blurred", "the other side", "several", "unclear")  # none holds yes, no or a digit


def is_clinical(sample: Sample | None) -> TypeGuard[Sample]:
    """Whether the answer key's sample is of such a task."""
    return sample is not None and str(sample.metadata.get("task")) in TASKS


def answer_text(sample: Sample, right: bool, draws: Draws, besides: str = "") -> str:
    """The answer in the form that the task's scorer reads; a wrong option or decision is another than ``besides``."""
    target, choices = sample.target, sample.problem.choices
    if choices and isinstance(target, str):
        others = [letter for letter in choices if letter not in (target, besides)]
        letter = target if right or not others else draws.pick("wrong option", others)
        return f"{letter}. {choices[letter]}" if letter in choices else letter
    if isinstance(target, str):
        decisions = [word for word in sample.metadata.get("decisions", ()) if word not in (target, besides)]
        return target if right or not decisions else draws.pick("wrong option", decisions)
    form = TASKS[sample.metadata["task"]].form
    if not isinstance(target, Mapping):
        return str(target) if right else "not known"
    if form == "no_result":
        return "No result" if right else _wrong_count("", draws)
    if "accepted" in target:
        return str(_first(target["accepted"])) if right else draws.pick("wrong words", _WRONG_WORDS)
    return _keyed(form, target.get("answer", ""), right, draws)


def _keyed(form: str, answer: Any, right: bool, draws: Draws) -> str:
    """An answer by the key of its record."""
    if form == "medcalc":
        return str(answer) if right else _off(str(answer))
    if form == "entities":
        names = _names(answer)
        return f"[{', '.join(names if right else names[: max(1, len(names) // 3)])}]"
    if form == "rouge1_recall":
        words = _first(answer).split()
        return " ".join(words if right else words[: len(words) // 3])
    if form == "contains":
        return str(answer) if right else draws.pick("wrong words", _WRONG_WORDS)
    return str(answer) if right else _wrong_count(str(answer), draws)


def _wrong_count(answer: str, draws: Draws) -> str:
    """A number that does not stand in the answer."""
    count = 1 + int(draws.share("wrong count") * 40)
    return str(count if str(count) not in answer else count + 50)


def _off(number: str) -> str:
    """Another number; a date or a duration is not known."""
    try:
        return f"{float(number) * 1.37 + 1:.2f}"
    except ValueError:
        return "not known"


def _first(answer: Any) -> str:
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return str(answer[0]) if answer else ""
    return str(answer)


def _names(answer: Any) -> list[str]:
    """The names of a list of entities."""
    listed = answer if isinstance(answer, Sequence) and not isinstance(answer, str) else ()
    return [str(one["entity_name"]) for one in listed if isinstance(one, Mapping) and "entity_name" in one]


def is_right(sample: Sample, text: str) -> bool:
    """Whether an answer is the key's, as the core sees it."""
    target, said = sample.target, text.strip().strip('".').casefold()
    if isinstance(target, str):
        return said.removeprefix("answer:").strip().split(".")[0] == target.casefold()
    if not isinstance(target, Mapping):
        return said == str(target).casefold()
    form = TASKS[sample.metadata["task"]].form
    gold = target.get("answer", target.get("accepted", "No result"))
    if form == "entities":
        return all(name.casefold() in said for name in _names(gold))
    if form in ("medcalc", "no_result"):
        return said == _first(gold).casefold()
    return _first(gold).casefold() in said
