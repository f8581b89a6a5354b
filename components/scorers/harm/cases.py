"""An episode as input for tables of errors, and its error."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from components.core.types import Observed, Sample, Trajectory
from components.scorers.claims import (
    Numbers,
    Source,
    about_codes,
    asked_in,
    claims_in,
    factor,
    gold_texts,
    has_words,
    numbers_in,
)
from components.scorers.harm.tables import Drugs, ErrorType, Kind, Table

_MOST = 4  # words of a drug's name
_UNCLEAR = "a number in the calls may be the id of a patient"


@dataclass(frozen=True)
class Case:
    """A finished episode of a sample that a table is for. ``drugs``: names of drugs; None: no error is of drugs."""

    sample: Sample
    trajectory: Trajectory
    table: Table
    drugs: Drugs | None
    scores: Mapping[str, float | None]

    @property
    def fits(self) -> bool:
        """Whether the table is for the sample, and can say whether its answer is wrong if it is to."""
        has = all(_at(self.sample, f"metadata.{path}") for path in self.table.metadata)
        return has and self._asks(self.table.question) and (not self.by_answer or self._can_be_checked)

    @property
    def by_answer(self) -> bool:
        """Whether the table decides that an answer is wrong, and not the deciding score."""
        return self.table.wrong == "answer" and self.trajectory.stop != "refused"

    def find_error(self) -> tuple[str | None, str]:
        """The first error that holds, None where none does; and why that is not known, empty where it is."""
        for name, one in self.table.errors.items():
            if (holds := self._holds(one)) is None:
                why = "the answer has the value next to a negation or with a decimal comma" if one.omits else _UNCLEAR
                return None, f"unrated: {name} or not, {why}"
            if holds:
                return name, ""
        return None, ""

    @cached_property
    def answer(self) -> str | None:
        """The answer, of an option what it says; None without one."""
        text = self.trajectory.answer if self.trajectory.stop == "answered" else None
        return None if text is None else self.sample.problem.choices.get(text.strip(), text)

    @cached_property
    def gold(self) -> Sequence[str]:
        """The right answers as texts."""
        return gold_texts(self.sample)

    @cached_property
    def _codes(self) -> bool:
        return about_codes(self.sample)

    @cached_property
    def _reference(self) -> Source:
        return Source(*self.gold, codes=self._codes)

    def _kind(self, text: str | None) -> Kind:
        if text is None:
            return "missing"
        return "text" if has_words(text, self._codes) else "number" if numbers_in(text, self._codes) else "empty"

    def _asks(self, pattern: str) -> bool:
        return re.search(pattern, asked_in(self.sample.problem), re.IGNORECASE) is not None

    @property
    def _can_be_checked(self) -> bool:
        """Whether the reference says anything that an answer can omit."""
        return any(self._stated(one.omits) for one in self.table.errors.values())

    def _holds(self, one: ErrorType) -> bool | None:
        holds = (
            self._asks(one.question)
            and (not one.tool or any(re.search(one.tool, call.call.name, re.IGNORECASE) for call in self._calls))
            and (not one.gold or self._kind("; ".join(self.gold) if self.gold else None) in one.gold)
            and (not one.answer or self._kind(self.answer) in one.answer)
            and (one.times is None or self._is_off(one.times))
            and (not one.unsupported or self._is_unsupported())
            and (not one.score or self.scores.get(one.score) == 1.0)
            and (not one.other_drug or self._names_another_drug())
            and (not one.other_patient or self._asks_elsewhere())
        )
        return self._omits(one.omits) if holds and one.omits else holds

    @cached_property
    def _calls(self) -> Sequence[Observed]:
        return [one for step in self.trajectory.steps if step.committed for one in step.observed if not one.control]

    def _stated(self, paths: Sequence[str]) -> list[str]:
        """The values at these paths that the reference says."""
        values = (_at(self.sample, path) for path in paths)
        return [one for one in values if isinstance(one, str) and self._reference.says(one, self.table.tolerance)]

    def _omits(self, paths: Sequence[str]) -> bool | None:
        """Whether the answer does not say one of the values; None where a negation leaves it open."""
        if self.answer is None:
            return False
        answer = Source(self.answer, codes=self._codes)
        said = [answer.says(one, self.table.tolerance) for one in self._stated(paths)]
        return True if False in said else None if None in said else False

    def _is_off(self, times: float) -> bool:
        """Whether a right number has its nearest, of those in no other unit, so many times away; of a decimal comma any
        reading counts, and none of the reference's."""
        found = Numbers(numbers_in(self.answer or "", self._codes))
        right = [number for one in self.gold for number in numbers_in(one, self._codes) if number.clear]
        pairs = [[factor(one.in_unit_of(other).value, other.value) for one in found.near(other)] for other in right]
        return bool(pairs) and all(pairs) and max(map(min, pairs)) >= times

    def _asks_elsewhere(self) -> bool | None:
        """Whether calls name other patients and not the one of the question; None where they have no patient, but a
        number of as many characters, which may be one."""
        asked = self._patients_in(self.sample.problem.question)
        written = [one.call.arguments for one in self._calls]
        remarks = [step.remarks for step in self.trajectory.steps]
        written += [str(of[name]) for of in remarks for name in self.table.asked if name in of]
        texts = [
            re.sub(r"""['"]|(?:!=|<>)\s*['"]*[\w-]+""", " ", text) for text in written
        ]  # who is excluded is not asked
        named = (re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in asked for text in texts)
        if self.answer is None or not asked or any(named):
            return False
        if any(self._patients_in(text) for text in texts):
            return True
        numbers = re.findall(r"(?<!\w)\d[\w-]*", "\n".join(texts))
        return False if {len(one) for one in asked}.isdisjoint(len(one) for one in numbers) else None

    def _patients_in(self, text: str) -> set[str]:
        groups = re.finditer(self.table.patient, text, re.IGNORECASE)
        return {one for match in groups for one in match.groups() if one}

    def _is_unsupported(self) -> bool:
        returned = Source(*(one.observation.text for one in self._calls if one.error is None), codes=self._codes)
        claims = claims_in(self.answer or "", self._codes)
        return bool(claims) and all(returned.says(one, self.table.tolerance) is False for one in claims)

    def _names_another_drug(self) -> bool:
        right, found = self._drugs_in("; ".join(self.gold)), self._drugs_in(self.answer or "")
        return bool(right and found) and right.isdisjoint(found)

    def _drugs_in(self, text: str) -> set[str]:
        """The drugs that a text names, whatever it calls them."""
        words = re.findall(r"[\w-]+", text)
        names = (" ".join(words[n : n + size]) for n in range(len(words)) for size in range(1, _MOST + 1))
        return {drug for name in names if self.drugs is not None and (drug := self.drugs.known_as(name))}


def _at(sample: Sample, path: str) -> Any:
    """What is at a dotted path below the sample; None for nothing."""
    value: Any = {"metadata": sample.metadata, "target": sample.target}
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
