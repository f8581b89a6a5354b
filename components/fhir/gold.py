"""The right answer and the right requests of a task of MedAgentBench, from the task's text and the server's content.

Source: Jiang et al. 2025, NEJM AI, arXiv 2501.14654; the texts of its tasks, which state codes, doses and times; the
rules of its reference solutions (docs/papers/medagentbench.md). Requests have the form that those want: the route of a
drug is a text and a note is an object, where the standard has an object and a list.
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

NUMBERED = (  # the categories 1 to 10
    "find_patient", "age", "record_vitals", "recent_magnesium", "replace_magnesium", "mean_glucose", "latest_glucose",
    "refer", "replace_potassium", "repeat_hba1c",
)  # fmt: skip
QUERIES = ("find_patient", "age", "recent_magnesium", "mean_glucose", "latest_glucose")  # the others are actions
NDC, LOINC, SNOMED = "http://hl7.org/fhir/sid/ndc", "http://loinc.org", "http://snomed.info/sct"
_VITALS = {"system": "http://hl7.org/fhir/observation-category", "code": "vital-signs", "display": "Vital Signs"}
GOAL, LOW_MAGNESIUM = 3.5, 1.9  # mmol/L of potassium; mg/dL of magnesium up to which it is low
_UNITS = {  # of results, and the substance, by which units are converted
    **dict.fromkeys(("recent_magnesium", "replace_magnesium"), ("mg/dL", "magnesium")),
    **dict.fromkeys(("mean_glucose", "latest_glucose"), ("mg/dL", "glucose")),
    "replace_potassium": ("mmol/L", "potassium"),
}
_DOSES = ((1.0, 4), (1.5, 2), (LOW_MAGNESIUM + 1e-9, 1))  # magnesium below -> g, over as many hours
_DAY, _NOW = timedelta(days=1), re.compile(r"\d{4}-\d\d-\d\dT[\d:]+(?:[+-]\d\d:\d\d|Z)?")
_QUOTED, _CODE = re.compile(r'"([^"]+)"'), re.compile(r'code for \w+(?: \(\w+\))? is "(\w+)"')
_FLOWSHEET, _NDC = re.compile(r"flowsheet ID for [\w ]+ is (\w+)"), re.compile(r"NDC for [\w ]+ is (\d[\d-]+\d)")
_LOINC, _SNOMED = re.compile(r"LOINC code for [\w ]+ is:? (\d+-\d)"), re.compile(r"SNOMED code for [\w ]+ is (\d+)")


class Gold(NamedTuple):
    """``answer``: the right list; None: any. ``requests``: the resources to create, in order."""

    answer: Sequence[Any] | None
    requests: Sequence[JSON] = ()


class Result(NamedTuple):
    """A laboratory result: its time, its value, and the time as the server writes it."""

    time: datetime
    value: float
    written: str


class Task(NamedTuple):
    """A task's texts, the ``patient``'s id, the server's content (None: not known) and its place in messages;
    ``unit`` of its results and their substance."""

    instruction: str
    context: str
    patient: str
    world: World | None
    place: str
    unit: tuple[str, str] = "", ""

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

    def results(self, within: timedelta | None = None) -> list[Result]:
        """The patient's results of the task's test. Raises ConfigError for one in a unit that cannot be converted."""
        code, found = self.find(_CODE), list[Result]()
        unit, substance = self.unit
        for one in self.world.find("Observation", [self.patient], code) if self.world else ():
            quantity, written = one.get("valueQuantity"), one.get("effectiveDateTime")
            quantity = quantity if isinstance(quantity, dict) else {}
            value = quantity.get("value")
            if code not in values_at(one, "code.coding.code") or isinstance(value, bool):
                continue
            if not isinstance(value, int | float) or not isinstance(written, str):
                continue
            try:
                time, own = read_range(written).low, str(quantity.get("unit", unit))
                number = convert(value, own, unit, substance) if unit not in ("", own) else float(value)
                if not isfinite(number):
                    raise ValueError(f"the value {value!r} {own} is too large")
            except (ValueError, ToolError) as error:
                raise ConfigError(f"{self.place}: Observation/{one.get('id')}: {error}") from None
            if within is None or time >= self.now - within:
                found.append(Result(time, number, written))
        return found

    def latest(self, within: timedelta | None = None) -> Result | None:
        """The newest result, of several at that time the first. Raises ConfigError."""
        return max(self.results(within), key=lambda one: one.time, default=None)

    def order(self, resource: str, **elements: Any) -> JSON:
        """An order for the patient, at the time of the task."""
        subject = {"reference": f"Patient/{self.patient}"}
        common = {"resourceType": resource, "status": "active", "intent": "order", "authoredOn": self.now.isoformat()}
        return {**common, **elements, "subject": subject}

    def medication(self, unit: str, dose: float, route: str, **rate: JSON) -> JSON:
        """An order of the task's drug."""
        drug = {"coding": [{"system": NDC, "code": self.find(_NDC)}]}
        dosage = {"route": route, "doseAndRate": [{"doseQuantity": {"value": dose, "unit": unit}, **rate}]}
        return self.order("MedicationRequest", medicationCodeableConcept=drug, dosageInstruction=[dosage])

    def service(self, system: str, code: str, **elements: Any) -> JSON:
        """An order of a test or a referral."""
        coding = {"coding": [{"system": system, "code": code}]}
        return self.order("ServiceRequest", priority="stat", code=coding, **elements)


def gold_of(category: str, task: Task) -> Gold | None:
    """What is right; None where the server's content is needed and not known. Raises ConfigError."""
    if task.world is None and category not in ("record_vitals", "refer"):
        return None
    try:
        return _RULES[category](task._replace(unit=_UNITS.get(category, ("", ""))))
    except OverflowError:
        raise ConfigError(f"{task.place}: the time {task.now} is too early or too late") from None


def _age(task: Task) -> Gold:
    patient = task.world.patient(task.patient) if task.world else None
    try:
        born, now = read_range(str((patient or {}).get("birthDate"))).low, task.now
    except ValueError as error:
        raise ConfigError(f"{task.place}: birthDate of Patient/{task.patient}: {error}") from None
    return Gold([now.year - born.year - ((now.month, now.day) < (born.month, born.day))])


def _value(result: Result | None) -> Gold:
    return Gold([result.value if result else -1])


def _record_vitals(task: Task) -> Gold:
    sent = {
        "resourceType": "Observation", "status": "final", "category": [{"coding": [_VITALS]}],
        "code": {"text": task.find(_FLOWSHEET)}, "effectiveDateTime": task.now.isoformat(),
        "valueString": task.find(_QUOTED, task.instruction), "subject": {"reference": f"Patient/{task.patient}"},
    }  # fmt: skip
    return Gold(None, [sent])


def _replace_magnesium(task: Task) -> Gold:
    result = task.latest(_DAY)
    dose = next((dose for below, dose in _DOSES if result and result.value < below), None)
    orders = [task.medication("g", dose, "IV", rateQuantity={"value": dose, "unit": "h"})] if dose else []
    return _value(result)._replace(requests=orders)


def _mean_glucose(task: Task) -> Gold:
    found = [one.value for one in task.results(_DAY)]
    return Gold([fmean(found) if found else -1])


def _refer(task: Task) -> Gold:
    note = {"text": task.find(_QUOTED, task.instruction)}
    return Gold(None, [task.service(SNOMED, task.find(_SNOMED), note=note)])


def _replace_potassium(task: Task) -> Gold:
    result, orders = task.latest(), list[JSON]()
    if result and result.value < GOAL:
        dose = round((GOAL - result.value) * 100, 6)  # 10 mEq for every 0.1 below
        morning = (task.now + _DAY).replace(hour=8, minute=0, second=0).isoformat()
        check = task.service(LOINC, task.find(_LOINC), occurrenceDateTime=morning)
        orders = [task.medication("mEq", dose, "oral"), check]
    return _value(result)._replace(requests=orders)


def _repeat_hba1c(task: Task) -> Gold:
    result, now = task.latest(), task.now
    year_ago = now.replace(year=now.year - 1, day=min(now.day, 28) if now.month == 2 else now.day)
    orders = [task.service(LOINC, task.find(_LOINC))] if result is None or result.time < year_ago else []
    return Gold([result.value, result.written] if result else [-1], orders)


_RULES: Mapping[str, Callable[[Task], Gold]] = {
    "age": _age, "record_vitals": _record_vitals, "recent_magnesium": lambda task: _value(task.latest(_DAY)),
    "replace_magnesium": _replace_magnesium, "mean_glucose": _mean_glucose, "refer": _refer,
    "latest_glucose": lambda task: _value(task.latest()), "replace_potassium": _replace_potassium,
    "repeat_hba1c": _repeat_hba1c,
}  # fmt: skip
