"""The right answer and the right requests of a task of MedAgentBench, from the task's text and the server's content.

Source: Jiang et al. 2025, NEJM AI, arXiv 2501.14654, and the texts of its tasks, which state codes, doses and times.
The authors hand out their reference solutions apart: these rules are written from the categories as the article and the
tasks describe them, and may differ in details that those leave open (docs/papers/medagentbench.md lists them).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from math import isfinite
from statistics import fmean
from typing import Any, NamedTuple

from components.arithmetic.units import convert
from components.core.errors import ConfigError, ToolError
from components.core.messages import JSON
from components.fhir.instants import read_range
from components.fhir.search import values_at
from components.fhir.world import World

QUERIES = ("find_patient", "age", "recent_magnesium", "mean_glucose", "latest_glucose")
ACTIONS = ("record_vitals", "replace_magnesium", "refer", "replace_potassium", "repeat_hba1c")
NUMBERED = (  # the categories 1 to 10
    "find_patient", "age", "record_vitals", "recent_magnesium", "replace_magnesium", "mean_glucose", "latest_glucose",
    "refer", "replace_potassium", "repeat_hba1c",
)  # fmt: skip
NDC, LOINC, SNOMED = "http://hl7.org/fhir/sid/ndc", "http://loinc.org", "http://snomed.info/sct"
GOAL, LOW_MAGNESIUM = 3.5, 1.9  # mmol/L of potassium; mg/dL of magnesium up to which it is low
_DOSES = ((1.0, 4), (1.5, 2), (LOW_MAGNESIUM + 1e-9, 1))  # magnesium below -> g, over as many hours
_DAY, _NOW = timedelta(days=1), re.compile(r"\d{4}-\d\d-\d\dT[\d:]+(?:[+-]\d\d:\d\d|Z)?")
_QUOTED, _CODE = re.compile(r'"([^"]+)"'), re.compile(r'code for \w+(?: \(\w+\))? is "(\w+)"')
_FLOWSHEET, _NDC = re.compile(r"flowsheet ID for [\w ]+ is (\w+)"), re.compile(r"NDC for [\w ]+ is (\d[\d-]+\d)")
_LOINC, _SNOMED = re.compile(r"LOINC code for [\w ]+ is:? (\d+-\d)"), re.compile(r"SNOMED code for [\w ]+ is (\d+)")


class Gold(NamedTuple):
    """``answer``: the right list; None: any. ``optional``: an empty list is right too, since the task asks for what is
    done and not for an answer. ``mean``: the answer may be rounded. ``requests``: the resources to create, without what
    may differ."""

    answer: Sequence[Any] | None
    requests: Sequence[JSON] = ()
    optional: bool = False
    mean: bool = False


class Task(NamedTuple):
    """A task's texts, the ``patient``'s id, the server's content (None: not known) and its place in messages."""

    instruction: str
    context: str
    patient: str
    world: World | None
    place: str

    def find(self, pattern: re.Pattern[str], text: str | None = None) -> str:
        """What a pattern first finds in the context, or another text. Raises ConfigError."""
        found = pattern.findall(self.context if text is None else text)
        if not found:
            raise ConfigError(f"{self.place}: found no {pattern.pattern!r} in {(text or self.context)!r:.200}")
        return str(found[0])

    @property
    def now(self) -> datetime:
        """The time of the task. Raises ConfigError."""
        try:
            return read_range(self.find(_NOW)).low
        except ValueError as error:
            raise ConfigError(f"{self.place}: {error}") from None

    def results(
        self, unit: str = "", substance: str = "", within: timedelta | None = None
    ) -> list[tuple[datetime, float, str]]:
        """Time, value and time as written of the patient's results of the task's test, the newest last. Raises
        ConfigError for one in a unit that cannot be converted."""
        code, found = self.find(_CODE), []
        for one in self.world.find("Observation", self.patient, code) if self.world else ():
            if code not in values_at(one, "code.coding.code") or not isinstance(one.get("effectiveDateTime"), str):
                continue
            written, quantity = one["effectiveDateTime"], one.get("valueQuantity")
            quantity = quantity if isinstance(quantity, dict) else {}
            value = quantity.get("value")
            if not isinstance(value, int | float) or isinstance(value, bool):
                continue
            try:
                time, own = read_range(written).low, str(quantity.get("unit", unit))
                number = convert(value, own, unit, substance) if substance and own != unit else float(value)
                if not isfinite(number):
                    raise ValueError(f"the value {value!r} {own} is too large")
            except (ValueError, ToolError) as error:
                raise ConfigError(f"{self.place}: Observation/{one.get('id')}: {error}") from None
            if within is None or time >= self.now - within:
                found.append((time, number, written))
        return sorted(found)


def gold_of(category: str, task: Task) -> Gold | None:
    """What is right; None where the server's content is needed and not known. Raises ConfigError."""
    if task.world is None and category in _NEEDS_WORLD:
        return None
    try:
        return _RULES[category](task)
    except OverflowError:
        raise ConfigError(f"{task.place}: the time {task.now} is too early or too late") from None


def medication(task: Task, unit: str, dose: float, route: str, hours: float | None = None) -> JSON:
    """An order of the task's drug."""
    rate = {} if hours is None else {"rateQuantity": {"value": hours, "unit": "h"}}
    return {
        "resourceType": "MedicationRequest", "status": "active", "intent": "order", "authoredOn": task.now.isoformat(),
        "medicationCodeableConcept": {"coding": [{"system": NDC, "code": task.find(_NDC)}]},
        "dosageInstruction": [
            {"route": {"text": route}, "doseAndRate": [{"doseQuantity": {"value": dose, "unit": unit}, **rate}]}
        ],
        "subject": {"reference": f"Patient/{task.patient}"},
    }  # fmt: skip


def service(task: Task, system: str, code: str, when: datetime | None = None, note: str = "") -> JSON:
    """An order of a test or a referral."""
    return {
        "resourceType": "ServiceRequest", "status": "active", "intent": "order", "priority": "stat",
        "code": {"coding": [{"system": system, "code": code}]}, "authoredOn": task.now.isoformat(),
        **({"occurrenceDateTime": when.isoformat()} if when else {}), **({"note": [{"text": note}]} if note else {}),
        "subject": {"reference": f"Patient/{task.patient}"},
    }  # fmt: skip


def _age(task: Task) -> Gold:
    patient = task.world.patient(task.patient) if task.world else None
    try:
        born = read_range(str((patient or {}).get("birthDate"))).low
    except ValueError as error:
        raise ConfigError(f"{task.place}: birthDate of Patient/{task.patient}: {error}") from None
    now = task.now
    return Gold([now.year - born.year - ((now.month, now.day) < (born.month, born.day))])


def _record_vitals(task: Task) -> Gold:
    vitals = {"coding": [{"code": "vital-signs"}]}  # the published card names a system that is not the standard's
    sent = {
        "resourceType": "Observation", "status": "final", "category": [vitals], "code": {"text": task.find(_FLOWSHEET)},
        "effectiveDateTime": task.now.isoformat(), "valueString": task.find(_QUOTED, task.instruction),
        "subject": {"reference": f"Patient/{task.patient}"},
    }  # fmt: skip
    return Gold(None, [sent])


def _recent_magnesium(task: Task) -> Gold:
    found = task.results("mg/dL", "magnesium", _DAY)
    return Gold([found[-1][1] if found else -1])


def _replace_magnesium(task: Task) -> Gold:
    value = _recent_magnesium(task).answer
    level = value[0] if value else -1
    dose = next((dose for below, dose in _DOSES if level < below), None) if level >= 0 else None
    return Gold([level], [medication(task, "g", dose, "IV", dose)] if dose else [], optional=True)


def _mean_glucose(task: Task) -> Gold:
    found = task.results("mg/dL", "glucose", _DAY)
    return Gold([fmean(value for _, value, _ in found) if found else -1], mean=bool(found))


def _latest_glucose(task: Task) -> Gold:
    found = task.results("mg/dL", "glucose")
    return Gold([found[-1][1] if found else -1])


def _refer(task: Task) -> Gold:
    return Gold(None, [service(task, SNOMED, task.find(_SNOMED), note=task.find(_QUOTED, task.instruction))])


def _replace_potassium(task: Task) -> Gold:
    found = task.results("mmol/L", "potassium")
    if not found or found[-1][1] >= GOAL:
        return Gold([found[-1][1] if found else -1], optional=True)
    dose = round((GOAL - found[-1][1]) * 100, 6)  # 10 mEq for every 0.1 below
    morning = (task.now + _DAY).replace(hour=8, minute=0, second=0)
    orders = [medication(task, "mEq", dose, "oral"), service(task, LOINC, task.find(_LOINC), morning)]
    return Gold([found[-1][1]], orders, optional=True)


def _repeat_hba1c(task: Task) -> Gold:
    found, now = task.results(), task.now
    year_ago = now.replace(year=now.year - 1, day=min(now.day, 28) if now.month == 2 else now.day)
    is_old = not found or found[-1][0] < year_ago
    orders = [service(task, LOINC, task.find(_LOINC))] if is_old else []
    return Gold([found[-1][1], found[-1][2]] if found else [-1], orders)


_RULES: Mapping[str, Callable[[Task], Gold]] = {
    "age": _age, "record_vitals": _record_vitals, "recent_magnesium": _recent_magnesium,
    "replace_magnesium": _replace_magnesium, "mean_glucose": _mean_glucose, "latest_glucose": _latest_glucose,
    "refer": _refer, "replace_potassium": _replace_potassium, "repeat_hba1c": _repeat_hba1c,
}  # fmt: skip
_NEEDS_WORLD = frozenset(_RULES) - {"record_vitals", "refer"}
