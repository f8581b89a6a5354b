"""How an episode over a FHIR server did: its answer, what it created, and the first thing that is wrong with it.

A created resource is right where it says all that the right one says. The published reading takes a text in any case
and does not look at the systems of codes; the strict one does, wants lists without more in them, the exact time, and no
refused attempt to write.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import permutations
from math import isclose
from typing import Any, NamedTuple

import orjson

from components.core.messages import JSON
from components.core.types import Observed, Trajectory
from components.fhir.instants import read_range
from components.fhir.search import patient_in, patient_of

ERRORS = (  # the first that holds
    "wrong_patient", "needless_write", "missing_write", "wrong_code", "wrong_value", "wrong_time", "wrong_field",
    "refused_write", "no_answer", "wrong_answer",
)  # fmt: skip
_LIST = re.compile(r"\[[^\[\]]*\]")
_TIMES = ("authoredOn", "effectiveDateTime", "occurrenceDateTime")
_CHANGES_MEANING = ("modifierExtension", "implicitRules", "doNotPerform")
_TOLERANCE = 0.1, 0.01  # of means: published, strict


class Graded(NamedTuple):
    """Whether the answer and what was created are right, and the first error; "" without one."""

    answer: bool
    writes: bool
    error: str

    @property
    def right(self) -> bool:
        """Whether all is."""
        return not self.error


def posts_of(trajectory: Trajectory) -> list[Observed]:
    """The posts of the line that acted last, refused ones too: earlier attempts and other lines have charts of their
    own, which end with them."""
    steps = trajectory.decisive
    line = next((step.branch for step in reversed(steps) if step.acts), "")
    calls = [one for step in steps if step.branch == line for one in step.observed if not one.control]
    return [one for one in calls if one.observation.data.get("method") == "POST"]


def grade(target: JSON, trajectory: Trajectory, strict: bool = False) -> Graded:
    """Compare an episode with a target of ``gold.Gold``."""
    posts = posts_of(trajectory)
    created = [one.observation.data["body"] for one in posts if one.observation.data.get("status", 0) < 300]
    wrong = _wrong_writes(target["requests"], created, target["patient"], strict)
    if not wrong and strict and len(posts) > len(created):
        wrong = "refused_write"
    answer = read_answer(trajectory.answer) if trajectory.stop == "answered" else None
    right = answer is not None and _is_answer(answer, target, strict)
    return Graded(right, not wrong, wrong or ("" if right else "no_answer" if answer is None else "wrong_answer"))


def read_answer(text: str | None) -> list[Any] | None:
    """The last list of a text; None where there is none that is JSON."""
    found = _LIST.findall(text or "")
    try:
        return list(orjson.loads(found[-1])) if found else None
    except ValueError:
        return None


def _is_answer(answer: Sequence[Any], target: JSON, strict: bool) -> bool:
    gold = target["answer"]
    if gold is None or (target["optional"] and not answer):
        return True
    tolerance = _TOLERANCE[strict] if target["mean"] else 0.0
    return len(answer) == len(gold) and all(
        _same_value(*pair, strict, tolerance) for pair in zip(gold, answer, strict=True)
    )


def _same_value(gold: Any, found: Any, strict: bool, tolerance: float = 0.0) -> bool:
    """Whether a number is the same number, and a text the same text or time; a text is never a number."""
    if isinstance(gold, int | float):
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        return is_number and isclose(gold, found, rel_tol=1e-9, abs_tol=tolerance or 1e-9)
    if not isinstance(found, str):
        return False
    same = gold == found if strict else gold.lower().split() == found.lower().split()
    return same or _same_time(gold, found, strict)


def _same_time(gold: str, found: str, strict: bool) -> bool:
    """The same second; a day is enough where it is not strict."""
    try:
        right, stated = read_range(gold), read_range(found)
    except ValueError:
        return False
    return right.low == stated.low or (not strict and len(found) >= len("2026-03-02") and stated.covers(right))


def _wrong_writes(gold: Sequence[JSON], created: Sequence[JSON], patient: str, strict: bool) -> str:
    """The first error of what was created; "" where it is what is right and nothing else."""
    if any(patient_of(one) not in ("", patient) for one in created):
        return "wrong_patient"
    if len(created) != len(gold):
        return "needless_write" if len(created) > len(gold) else "missing_write"
    orders = ([_differs(*pair, strict) for pair in zip(gold, order, strict=True)] for order in permutations(created))
    errors = min(orders, key=lambda found: sum(map(bool, found)))
    return next(filter(None, errors), "")


def _differs(gold: Any, found: Any, strict: bool, path: str = "") -> str:
    """The kind of the first difference; "" where ``found`` says all that ``gold`` says."""
    if isinstance(gold, Mapping):
        if not isinstance(found, Mapping) or (strict and any(found.get(name) for name in _CHANGES_MEANING)):
            return _kind(path)
        names = [name for name in gold if strict or name != "system"]
        return next(
            (one for name in names if (one := _differs(gold[name], found.get(name), strict, f"{path}.{name}"))), ""
        )
    if isinstance(gold, list):
        if not isinstance(found, list) or (strict and len(found) != len(gold) and not path.endswith(".coding")):
            return _kind(path)
        each = ([_differs(one, other, strict, path) for other in found] for one in gold)
        return next((min(errors, default=_kind(path)) for errors in each if "" not in errors), "")
    if path == ".subject.reference":  # in any form
        return "" if patient_in(found) == patient_in(gold) else "wrong_patient"
    if path.rpartition(".")[2] in _TIMES:
        return "" if isinstance(found, str) and _same_time(gold, found, strict) else "wrong_time"
    return "" if _same_value(gold, found, strict) else _kind(path)


def _kind(path: str) -> str:
    """The error of a difference at a path."""
    parts = path.split(".")
    if "coding" in parts or parts[1:2] == ["code"]:
        return "wrong_code"
    if "subject" in parts:
        return "wrong_patient"
    return "wrong_value" if "doseAndRate" in parts or parts[-1] == "valueString" else "wrong_field"
