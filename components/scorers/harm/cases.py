"""An episode as tables of errors look at it, and which error it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from components.core.types import Observed, Sample, Trajectory
from components.scorers.claims import factor, has_number, has_words, numbers_in, says
from components.scorers.harm.tables import ErrorType, Kind, Table


@dataclass(frozen=True)
class Case:
    """A finished episode of a sample that a table is for."""

    sample: Sample
    trajectory: Trajectory
    table: Table
    scores: Mapping[str, float | None]

    def error(self) -> str | None:
        """The name of the first error that holds; None where none does."""
        return next((name for name, one in self.table.errors.items() if self._holds(one)), None)

    @cached_property
    def answer(self) -> str | None:
        """The answer, of an option what it says; None without one."""
        text = self.trajectory.answer if self.trajectory.stop == "answered" else None
        return None if text is None else self.sample.problem.choices.get(text.strip(), text)

    @cached_property
    def gold(self) -> Sequence[str]:
        """The right answers as texts; empty where there is none, or the target is not a text."""
        target = self.sample.target
        if isinstance(target, Mapping):
            target = target.get("answer")
        found = [target] if isinstance(target, str | int | float) else target
        texts = [str(one) for one in found] if isinstance(found, list | tuple) else []
        return [self.sample.problem.choices.get(one, one) for one in texts]

    @property
    def can_be_checked(self) -> bool:
        """Whether the reference says anything that an answer can omit."""
        return any(self._stated(one.omits) for one in self.table.errors.values())

    def _holds(self, one: ErrorType) -> bool:
        question = self.sample.problem.question
        return (
            (not one.question or re.search(one.question, question, re.IGNORECASE) is not None)
            and (not one.tool or any(re.search(one.tool, call.call.name, re.IGNORECASE) for call in self._calls))
            and (not one.gold or _kind("; ".join(self.gold) if self.gold else None) in one.gold)
            and (not one.answer or _kind(self.answer) in one.answer)
            and (not one.omits or self._omits(one.omits))
            and (one.times is None or self._is_off(one.times))
            and (not one.other_patient or self._asks_elsewhere())
            and (not one.unsupported or self._is_unsupported())
            and (not one.score or self.scores.get(one.score) == 1.0)
        )

    @cached_property
    def _calls(self) -> Sequence[Observed]:
        return [one for step in self.trajectory.steps if step.committed for one in step.observed if not one.control]

    def _stated(self, paths: Sequence[str]) -> list[str]:
        """The values at these paths that the reference says."""
        reference, values = "\n".join(self.gold), (_at(self.sample, path) for path in paths)
        return [one for one in values if one and says(reference, one, self.table.tolerance)]

    def _omits(self, paths: Sequence[str]) -> bool:
        if self.answer is None:
            return False
        return any(not says(self.answer, one, self.table.tolerance) for one in self._stated(paths))

    def _is_off(self, times: float) -> bool:
        found, right = numbers_in(self.answer or ""), [number for one in self.gold for number in numbers_in(one)]
        return bool(found and right) and max(min(factor(one, other) for one in found) for other in right) >= times

    def _asks_elsewhere(self) -> bool:
        groups = re.finditer(self.table.patient, self.sample.problem.question, re.IGNORECASE)
        asked = {one for match in groups for one in match.groups() if one}
        written = [one.call.arguments for one in self._calls]
        written += [str(step.remarks["sql"]) for step in self.trajectory.steps if "sql" in step.remarks]
        texts = [
            re.sub(r"""['"]|(?:!=|<>)\s*['"]*[\w-]+""", " ", text) for text in written
        ]  # who is excluded is not asked
        named = (re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in asked for text in texts)
        return self.answer is not None and bool(asked and written) and not any(named)

    def _is_unsupported(self) -> bool:
        answer, tolerance = self.answer, self.table.tolerance
        if _kind(answer) not in ("number", "text") or answer is None:
            return False
        returned = "\n".join(one.observation.text for one in self._calls if one.error is None)
        numbers = numbers_in(returned)
        supported = any(has_number(one, numbers, tolerance) for one in numbers_in(answer))
        return not (supported or (has_words(answer) and says(returned, re.sub(r"[\d.]+", " ", answer), tolerance)))


def _kind(text: str | None) -> Kind:
    if text is None:
        return "missing"
    return "text" if has_words(text) else "number" if numbers_in(text) else "empty"


def _at(sample: Sample, path: str) -> str:
    """The text at a dotted path below the sample; empty where there is none."""
    value: Any = {"metadata": sample.metadata, "target": sample.target}
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""
