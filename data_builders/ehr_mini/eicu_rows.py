"""The rows of the eICU-style database: one row of ``patient`` for each unit stay."""

from collections.abc import Mapping
from datetime import timedelta
from random import Random
from typing import Any

from data_builders.ehr_mini.course import (
    Person,
    Span,
    Tables,
    between,
    common,
    maybe,
    measured,
    person,
    price,
    several,
    volume,
    within,
    written,
)
from data_builders.ehr_mini.schema import table_of

_TWO_UNITS_RATE = 0.35
_ALLERGY_RATE = 0.6
_DIED_RATE = 0.4
_PATH = "flowsheet|flowsheet cell labels|i&o|{kind} (ml)|{label}"
# Column -> lowest, highest, decimals; degrees Celsius, percent, per minute, mmHg.
_VITALS = {
    "temperature": (35.2, 40.1, 1), "sao2": (82, 100, 0), "heartrate": (44, 148, 0), "respiration": (8, 36, 0),
    "systemicsystolic": (78, 188, 0), "systemicdiastolic": (38, 102, 0), "systemicmean": (50, 128, 0),
}  # fmt: skip


class Eicu:
    """Writes persons, unit stays and events; ``seed`` and ``n_patients`` decide everything."""

    def __init__(self, seed: int, n_patients: int) -> None:
        self.seed, self.n_patients, self.tables = seed, n_patients, Tables()
        self.titles, self.drugs, self.items = map(table_of, ("diagnoses.yaml", "drugs.yaml", "items.yaml"))
        self.words = self.items["eicu"]

    def write(self) -> Tables:
        """All rows."""
        numbers = Random(f"{self.seed}/eicu")
        names = numbers.sample(range(100_000, 9_999_999), self.n_patients)
        hospital_stays = iter(numbers.sample(range(110_000, 990_000), 3 * self.n_patients))
        unit_stays = iter(numbers.sample(range(141_000, 999_000), 6 * self.n_patients))
        for number, name in enumerate(names):
            rng = Random(f"{self.seed}/eicu/{number}")
            who = person(rng, number)
            fixed = {
                "uniquepid": f"{name // 100_000:03d}-{name % 100_000:05d}",
                "gender": {"m": "male", "f": "female"}[who.sex],
                "ethnicity": maybe(rng, rng.choice(self.words["ethnicities"])),
                "hospitalid": rng.randint(56, 71),
                "admissionheight": maybe(rng, measured(rng, 148, 196, 0)),
            }
            for span in who.stays:
                self._hospital_stay(rng, who, span, {**fixed, "patienthealthsystemstayid": next(hospital_stays)},
                                    (next(unit_stays), next(unit_stays)))  # fmt: skip
        return self.tables

    def _hospital_stay(
        self, rng: Random, who: Person, span: Span, fixed: Mapping[str, Any], unit_stays: tuple[int, int]
    ) -> None:
        units = _units(rng, span)
        dies = span.end is not None and who.death is not None and span is who.stays[-1] and rng.random() < _DIED_RATE
        status = maybe(rng, self.words["statuses"][dies]) if span.end else None
        source = rng.choice(self.words["sources"])
        for number, unit in zip(unit_stays, units, strict=False):
            weight = measured(rng, 46, 128, 1)
            row = {
                **fixed, "patientunitstayid": number, "age": who.age(span.start),
                "wardid": rng.choice(range(81, 119, 3)),
                "admissionweight": maybe(rng, weight),
                "dischargeweight": maybe(rng, round(weight + rng.uniform(-4, 4), 1)) if unit.end else None,
                "hospitaladmittime": written(span.start), "hospitaladmitsource": source,
                "unitadmittime": written(unit.start), "unitdischargetime": written(unit.end),
                "hospitaldischargetime": written(span.end), "hospitaldischargestatus": status,
            }  # fmt: skip
            self.tables["patient"].append(row)
            self._unit_stay(rng, unit, row)

    def _unit_stay(self, rng: Random, unit: Span, stay: Mapping[str, Any]) -> None:
        for name, least, most, hours in (("diagnosis", 1, 3, 24), ("treatment", 0, 2, None)):
            titles = self.titles["diagnoses" if name == "diagnosis" else "procedures"]
            for code in several(rng, list(titles), least, most):
                _, long, system = titles[code]
                time, title = written(within(rng, unit, hours)), f"{system}|{long}"
                extra = {"icd9code": maybe(rng, code)} if name == "diagnosis" else {}
                self._charged(rng, name, stay, {f"{name}name": title, f"{name}time": time, **extra}, title, time)
        panel = several(rng, list(self.items["labs"]), 2, 4)
        for _ in range(rng.randint(3, 8)):
            label, time = rng.choice(panel), written(within(rng, unit))
            result = measured(rng, *self.items["labs"][label][3:6])
            self._charged(rng, "lab", stay, {"labname": label, "labresult": result, "labresulttime": time}, label, time)
        for drug in several(rng, list(self.drugs), 1, 4):
            doses, dose_unit, routes = self.drugs[drug]
            start = within(rng, unit)
            stop = written(within(rng, Span(start, unit.end))) if unit.end or rng.random() < 0.5 else None
            row = {"drugname": drug, "dosage": f"{rng.choice(doses)} {dose_unit}", "routeadmin": rng.choice(routes)}
            row |= {"drugstarttime": maybe(rng, written(start)), "drugstoptime": maybe(rng, stop)}
            self._charged(rng, "medication", stay, row, drug, written(start))
        self._unpaid(rng, unit, {"patientunitstayid": stay["patientunitstayid"]})

    def _charged(
        self, rng: Random, table: str, stay: Mapping[str, Any], row: dict[str, Any], key: str, time: str | None
    ) -> None:
        """Add a row, and what it costs."""
        number = self.tables.add(table, f"{table}id", {"patientunitstayid": stay["patientunitstayid"], **row})
        ids = {name: stay[name] for name in ("uniquepid", "patienthealthsystemstayid")}
        charge = {"eventtype": table, "eventid": number, "chargetime": time, "cost": price(rng, table, key)}
        self.tables.add("cost", "costid", {**ids, **charge})

    def _unpaid(self, rng: Random, unit: Span, ids: Mapping[str, int]) -> None:
        if rng.random() < _ALLERGY_RATE:
            for name in several(rng, self.items["allergies"], 1, 2):
                row = {**ids, "drugname": name if rng.random() < 0.5 else None, "allergyname": name}
                self.tables.add("allergy", "allergyid", {**row, "allergytime": written(unit.start)})
        for kind, labels in (("intake", self.items["inputs"]), ("output", self.items["outputs"])):
            chosen = several(rng, labels, 1, 3)
            for label in (*chosen, *rng.choices(chosen, k=rng.randint(0, 1))):
                row = {**ids, "cellpath": _PATH.format(kind=kind, label=label), "celllabel": label}
                row |= {"cellvaluenumeric": volume(rng), "intakeoutputtime": written(within(rng, unit))}
                self.tables.add("intakeoutput", "intakeoutputid", row)
        for site in several(rng, list(self.items["cultures"]), 0, 2):
            found = {"culturesite": site, "organism": common(rng, ["no growth", *self.items["cultures"][site]])}
            self.tables.add("microlab", "microlabid", {**ids, **found, "culturetakentime": written(within(rng, unit))})
        for _ in range(rng.randint(4, 10)):
            values = {name: maybe(rng, _vital(rng, *bounds)) for name, bounds in _VITALS.items()}
            row = {**ids, **values, "observationtime": written(within(rng, unit))}
            self.tables.add("vitalperiodic", "vitalperiodicid", row)


def _vital(rng: Random, low: float, high: float, digits: int) -> float:
    """A vital sign; whole numbers are integers."""
    return measured(rng, low, high, digits) if digits else rng.randint(int(low), int(high))


def _units(rng: Random, span: Span) -> list[Span]:
    """One or two unit stays of a hospital stay, one after the other."""
    start = span.start + timedelta(minutes=rng.randint(30, 600))
    if rng.random() >= _TWO_UNITS_RATE:
        end = None if span.end is None else between(rng, start + (span.end - start) / 2, span.end)
        return [Span(start, end)]
    middle = start + (span.until - start) / 2
    first = Span(start, between(rng, start + (middle - start) / 2, middle))
    second = between(rng, middle + timedelta(minutes=1), middle + (span.until - middle) / 2)
    end = None if span.end is None else between(rng, second + (span.end - second) / 2, span.end)
    return [first, Span(second, end)]
