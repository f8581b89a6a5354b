"""The invented hospital: patients and what happened in their stays, drawn from ``hospital.yaml`` and a seed.

One neutral course of events serves all databases; ``hospital_tables.py`` writes it down in their columns.
Times lie between admission and discharge (or the clock, for a stay that goes on), stays of one patient never
overlap, costs and volumes are multiples of 0.25, so that sums are exact.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

FORMAT = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Event:
    """Something that happened: what (a key of the tables), when, and what else belongs to it."""

    key: str
    time: datetime
    value: float | None = None
    end: datetime | None = None
    found: str | None = None


@dataclass(frozen=True)
class Person:
    """A patient: a number from 0, the sex, birth and death."""

    number: int
    sex: str
    birth: datetime
    death: datetime | None
    allergy: str | None


@dataclass(frozen=True)
class Stay:
    """One hospital stay. ``end`` None: it goes on. ``events``: kind -> events in the order of time."""

    person: Person
    start: datetime
    end: datetime | None
    traits: Mapping[str, str | None]
    unit: str
    unit_start: datetime | None
    unit_end: datetime | None
    events: Mapping[str, Sequence[Event]] = field(default_factory=dict)

    @property
    def age(self) -> int:
        """Years at admission."""
        before = (self.start.month, self.start.day) < (self.person.birth.month, self.person.birth.day)
        return self.start.year - self.person.birth.year - before


@dataclass(frozen=True)
class Hospital:
    """Draws the stays of ``n_patients``; ``always_unit``: every stay has intensive care (eICU)."""

    tables: Mapping[str, Any]
    seed: str
    clock: datetime
    n_patients: int
    days: int
    always_unit: bool = False

    def stays(self) -> list[Stay]:
        """All stays, by patient and time."""
        return [stay for number in range(self.n_patients) for stay in self._of_patient(number)]

    def _of_patient(self, number: int) -> list[Stay]:
        rng = random.Random(f"{self.seed}-{number}")
        n_stays, goes_on = rng.choice((1, 1, 2)), number % 10 == 4
        window = self.days // n_stays
        spans: list[tuple[datetime, datetime | None]] = []
        for index in range(n_stays):
            first = self.clock - timedelta(days=self.days - index * window)
            start = minutes_later(first, rng.uniform(0, window - 40) * 1440)
            spans.append((start, minutes_later(start, rng.uniform(2, 14) * 1440)))
        if goes_on:
            spans[-1] = (minutes_later(self.clock, -rng.uniform(2, 7) * 1440), None)
        last, death = spans[-1][1], None
        if number % 7 == 3 and last is not None:
            death = min(minutes_later(last, rng.uniform(1, 25) * 1440), self.clock)
        birth = datetime(self.clock.year - rng.randint(24, 88), rng.randint(1, 12), rng.randint(1, 28))
        allergy = rng.choice((*self.tables["allergies"], None, None))
        person = Person(number, rng.choice("mf"), birth, death, allergy)
        profile = self.tables["profiles"][number % len(self.tables["profiles"])]
        return [self._stay(rng, person, profile, *span) for span in spans]

    def _stay(
        self, rng: random.Random, person: Person, profile: Mapping[str, Any], start: datetime, end: datetime | None
    ) -> Stay:
        names = ("admission_type", "admission_location", "discharge_location", "insurance", "language")
        traits = {name: rng.choice(self.tables[name]) for name in (*names, "marital_status", "ethnicity")}
        unit_start = unit_end = None
        until = end or self.clock
        if self.always_unit or rng.random() < 0.7:
            unit_start = minutes_later(start, rng.uniform(30, 600))
            unit_end = None if end is None else between(rng, unit_start + (until - unit_start) / 2, until)
        events = self._course(rng, profile, start, until)
        if unit_start:
            events |= self._unit_course(rng, unit_start, unit_end or until)
        return Stay(person, start, end, traits, profile["unit"], unit_start, unit_end, events)

    def _course(
        self, rng: random.Random, profile: Mapping[str, Any], start: datetime, until: datetime
    ) -> dict[str, list[Event]]:
        made: dict[str, list[Event]] = {"diagnoses": [], "procedures": [], "labs": [], "drugs": [], "cultures": []}
        for key in rng.sample(profile["diagnoses"], rng.randint(2, 3)):
            made["diagnoses"].append(Event(key, between(rng, start, start + timedelta(hours=12))))
        for key in rng.sample(profile["procedures"], rng.randint(0, len(profile["procedures"]))):
            made["procedures"].append(Event(key, between(rng, start, until)))
        for key in profile["labs"]:
            low, high, digits = self.tables["labs"][key][2:5]
            for _ in range(rng.randint(1, 3)):
                made["labs"].append(Event(key, between(rng, start, until), number_in(rng, low, high, digits)))
        for key in rng.sample(profile["drugs"], rng.randint(2, 4)):
            given = between(rng, start, until)
            made["drugs"].append(Event(key, given, end=between(rng, given, until)))
        for key in rng.sample(profile["cultures"], rng.randint(0, len(profile["cultures"]))):
            found = rng.choice(self.tables["cultures"][key][1])
            made["cultures"].append(Event(key, between(rng, start, until), found=found))
        return {kind: sorted(events, key=lambda event: event.time) for kind, events in made.items()}

    def _unit_course(self, rng: random.Random, start: datetime, until: datetime) -> dict[str, list[Event]]:
        made: dict[str, list[Event]] = {"vitals": [], "inputs": [], "outputs": []}
        for time in sorted(between(rng, start, until) for _ in range(rng.randint(2, 3))):
            values: list[float] = []
            for key, (_, _, _, low, high, digits, _) in self.tables["vitals"].items():
                drawn = mean_pressure(*values[-2:]) if low is None else number_in(rng, low, high, digits)
                values.append(drawn)
                made["vitals"].append(Event(key, time, drawn))
        for kind, most in (("inputs", 3), ("outputs", 4)):
            times = sorted(between(rng, start, until) for _ in range(rng.randint(1, most)))
            keys = [rng.choice(list(self.tables[kind])) for _ in times]
            made[kind] = [Event(key, time, rng.randint(40, 2000) / 4) for key, time in zip(keys, times, strict=True)]
        return made


def mean_pressure(systolic: float, diastolic: float) -> float:
    """Mean arterial pressure in whole mmHg, from the two others."""
    return float(round(diastolic + (systolic - diastolic) / 3))


def number_in(rng: random.Random, low: float, high: float, digits: int) -> float:
    """A value of the range with so many decimals."""
    return round(rng.uniform(low, high), digits)


def minutes_later(time: datetime, minutes: float) -> datetime:
    """A time that many minutes later, on a whole minute."""
    return (time + timedelta(minutes=int(minutes))).replace(second=0)


def between(rng: random.Random, start: datetime, end: datetime) -> datetime:
    """A whole minute of the span."""
    return minutes_later(start, rng.uniform(0, (end - start).total_seconds() // 60))


def text(time: datetime | None) -> str | None:
    """A time as the databases write it."""
    return time.strftime(FORMAT) if time else None
