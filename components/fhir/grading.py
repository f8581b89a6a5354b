"""How an episode over a FHIR server did: its answer, what it created, and the first thing that is wrong with it.

The published reading is that of the benchmark's reference solutions (docs/papers/medagentbench.md): most elements must
be equal as JSON, in the order of the requests; others are not looked at. The strict one is ours: a created resource
says all that the right one says, in any form of the standard; nothing changes its meaning, no attempt to write failed,
and an answer is given where the task asks for one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from math import isclose
from operator import eq
from typing import Any, NamedTuple

import orjson

from components.core.messages import JSON
from components.core.types import Observed, Trajectory
from components.fhir.instants import read_range
from components.fhir.search import patient_in, patient_of
from components.fhir.validation import standard_form

ERRORS = (  # the first that holds
    "wrong_patient", "needless_write", "missing_write", "wrong_code", "wrong_value", "wrong_time", "wrong_field",
    "refused_write", "no_answer", "wrong_answer",
)  # fmt: skip
_LIST = re.compile(r"\[[^\[\]]*\]")
_TIMES = ("authoredOn", "effectiveDateTime", "occurrenceDateTime")
_CHANGES_MEANING = ("modifierExtension", "implicitRules", "doNotPerform")
_KINDS = {  # element -> the error of a difference in it
    **dict.fromkeys(("code", "category", "medicationCodeableConcept"), "wrong_code"), "subject": "wrong_patient",
    **dict.fromkeys(("doseAndRate", "doseQuantity", "rateQuantity", "valueString"), "wrong_value"),
    **dict.fromkeys(_TIMES, "wrong_time"),
}  # fmt: skip
_MAY_BE_EMPTY = ("replace_magnesium", "replace_potassium")  # answers: only an order is asked for


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
    """The posts, refused ones too, to a server that all share and of the line that acted last: earlier attempts and
    other lines have charts of their own, which end with them."""
    steps = trajectory.decisive
    line = next((step.branch for step in reversed(steps) if step.acts), "")
    own = {id(step) for step in steps if step.branch == line}
    calls = ((one, one.observation.data, id(step) in own) for step in trajectory.steps for one in step.observed)
    return [
        one
        for one, data, is_own in calls
        if not one.control and data.get("method") == "POST" and (is_own or data.get("shared"))
    ]


def grade(target: JSON, trajectory: Trajectory, strict: bool = False) -> Graded:
    """Compare an episode with a target: ``category``, ``patient``, and what ``gold.Gold`` has."""
    posts = [one.observation.data for one in posts_of(trajectory)]
    created = [one for one in posts if 200 <= one.get("status", 0) < 300]
    wrong = (_wrong_strictly if strict else _wrong_as_published)(target, created)
    if not wrong and len(posts) > len(created):
        wrong = "refused_write" if strict else "" if target["requests"] else "needless_write"
    answer = read_answer(trajectory.answer) if trajectory.stop == "answered" else None
    right = trajectory.stop == "answered" and _is_answer(target, answer, strict)
    return Graded(right, not wrong, wrong or ("" if right else "no_answer" if answer is None else "wrong_answer"))


def read_answer(text: str | None) -> list[Any] | None:
    """The last list of a text; None where there is none that is JSON."""
    found = _LIST.findall(text or "")
    try:
        return list(orjson.loads(found[-1])) if found else None
    except ValueError:
        return None


def _is_answer(target: JSON, answer: list[Any] | None, strict: bool) -> bool:
    gold, category = target["answer"], target["category"]
    if not strict and (gold is None or (category == "replace_magnesium" and gold == [-1])):
        return True  # whatever the text is
    if gold is None or answer is None:
        return answer is not None
    if answer == [] and category in (_MAY_BE_EMPTY if strict else (*_MAY_BE_EMPTY, "repeat_hba1c")):
        return True
    if category == "mean_glucose" and len(answer) == 1 and isinstance(answer[0], int | float):
        return bool(abs(answer[0] - gold[0]) < (0.01 if strict else 0.1))
    return len(answer) == len(gold) and all(map(_is_same if strict else eq, gold, answer))


def _is_same(gold: Any, found: Any) -> bool:
    """Whether a number is the same number, and a text the same text or time; a text is never a number."""
    if isinstance(gold, int | float):
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        return is_number and isclose(gold, found, rel_tol=1e-9, abs_tol=1e-9)
    try:
        return isinstance(found, str) and (gold == found or read_range(gold).low == read_range(found).low)
    except ValueError:
        return False


def _wrong_at_all(target: JSON, created: Sequence[JSON]) -> str:
    """The error of resources of other patients, too many, too few or of other types than asked; "" without one."""
    if any(patient_of(one["body"]) not in ("", target["patient"]) for one in created):
        return "wrong_patient"
    more = len(created) - len(target["requests"])
    if more:
        return "needless_write" if more > 0 else "missing_write"
    return "wrong_field" if any(one["resource"] != one["body"].get("resourceType") for one in created) else ""


def _wrong_strictly(target: JSON, created: Sequence[JSON]) -> str:
    """The first error of what was created; "" where it is what is right and nothing else."""
    if wrong := _wrong_at_all(target, created):
        return wrong
    gold, bodies = ([standard_form(one) for one in many] for many in (target["requests"], [o["body"] for o in created]))
    orders = ([_differs(*pair) for pair in zip(gold, order, strict=True)] for order in permutations(bodies))
    return next(filter(None, min(orders, key=lambda found: sum(map(bool, found)))), "")


def _differs(gold: Any, found: Any, path: str = "") -> str:
    """The kind of the first difference; "" where ``found`` says all that ``gold`` says."""
    kind = next((_KINDS[name] for name in path.split(".") if name in _KINDS), "wrong_field")
    if isinstance(gold, Mapping):
        if not isinstance(found, Mapping) or any(found.get(name) for name in _CHANGES_MEANING):
            return kind
        return next((one for name in gold if (one := _differs(gold[name], found.get(name), f"{path}.{name}"))), "")
    if isinstance(gold, list):
        if not isinstance(found, list) or (len(found) != len(gold) and not path.endswith(".coding")):
            return kind
        each = ([_differs(one, other, path) for other in found] for one in gold)
        return next((min(errors, default=kind) for errors in each if "" not in errors), "")
    if path == ".subject.reference":  # in any form
        return "" if patient_in(found) == patient_in(gold) else kind
    return "" if _is_same(gold, found) else kind


def _wrong_as_published(target: JSON, created: Sequence[JSON]) -> str:
    """The first error of what was created by the published rules; "" without one."""
    if wrong := _wrong_at_all(target, created):
        return wrong
    for gold, one in zip(target["requests"], created, strict=True):
        right = _elements(gold)
        try:
            found = _elements(one["body"])
        except (KeyError, IndexError, TypeError):  # no dose
            return "wrong_value"
        for name in right:
            if not _is_right(f"{gold['resourceType']}.{name}", target["category"], right[name], found.get(name)):
                is_patient = name == "subject" and patient_of(one["body"]) == target["patient"]  # in another form
                return "wrong_field" if is_patient else _KINDS.get(name.removeprefix("dosage."), "wrong_field")
    return ""


def _elements(body: JSON) -> dict[str, Any]:
    """The elements of a resource; in place of its dosages, the elements of the first one."""
    if "dosageInstruction" not in body:
        return dict(body)
    dosage = body["dosageInstruction"][0]
    first = {"route": dosage["route"], **dosage["doseAndRate"][0]}
    return {**body, "dosageInstruction": None, **{f"dosage.{name}": value for name, value in first.items()}}


def _is_right(name: str, category: str, gold: Any, found: Any) -> bool:
    compare = _COMPARED.get(f"{category}.{name.partition('.')[2]}", _COMPARED.get(name))
    try:
        return bool(gold == found if compare is None else compare(gold, found))
    except (KeyError, IndexError, TypeError, AttributeError):  # of another form
        return False


def _has_first_code(gold: Any, found: Any) -> bool:
    right, first = gold["coding"][0], found["coding"][0]
    return all(first[name] == right[name] for name in ("system", "code"))


def _is_in_note(gold: Any, found: Any) -> bool:
    return _is_in_note(gold[0], found[0]) if isinstance(gold, list) else gold["text"] in found["text"]


_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {  # elements that need not be equal
    "Observation.category": lambda gold, found: len(found) == 1 and found[0]["coding"] == gold[0]["coding"],
    "MedicationRequest.medicationCodeableConcept": _has_first_code,
    "MedicationRequest.authoredOn": lambda gold, found: gold[:16] in found,  # to the minute
    "ServiceRequest.code": _has_first_code,
    "ServiceRequest.note": _is_in_note,
    "ServiceRequest.occurrenceDateTime": lambda gold, found: gold[:14] in found,  # to the hour
    "replace_potassium.dosage.doseQuantity": lambda gold, found: (
        abs(found["value"] - gold["value"]) <= 0.1 and found["unit"] == gold["unit"]
    ),
    "replace_potassium.dosage.route": lambda gold, found: (
        gold == (found.lower().strip() if isinstance(gold, str) else found)
    ),
}
