"""What runs say, read once for all sections: what each is called, its metrics, in which direction they improve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from runner.results import directions
from runner.results.directions import ARROWS
from runner.results.page.parts import Better, Column, Value
from runner.results.rows import Row, rows_of
from runner.results.runs import Run
from runner.results.table import headline

METRICS = "metrics.json"
_TOTALS = ("stop", "errors", "cost", "tokens", "calls", "time")
_HEADLINES = 5


@dataclass(frozen=True)
class RunMetrics:
    """A run, what tells it from the others, and its ``metrics.json``. ``strata``: stratum -> value -> metrics."""

    run: Run
    label: str
    metrics: Mapping[str, Mapping[str, Any]]
    strata: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]

    @property
    def dataset(self) -> str:
        """The name of what it played."""
        return str((self.run.notes.get("dataset") or {}).get("name", ""))

    def value(self, name: str) -> Value | None:
        """A metric with its interval; None where the run has none of this name."""
        return value_of(self.metrics.get(name))


@dataclass(frozen=True, eq=False)
class _Runs:
    """Runs by identity: a configuration cannot be hashed."""

    runs: Sequence[Run]

    def __hash__(self) -> int:
        return hash(tuple(id(run) for run in self.runs))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Runs) or len(self.runs) != len(other.runs):
            return False
        return all(one is two for one, two in zip(self.runs, other.runs, strict=True))


def read_metrics(runs: Sequence[Run]) -> Sequence[RunMetrics]:
    """What these runs say, in their order. The newest answer is kept: every section asks for it."""
    return _read_metrics(_Runs(runs))


def rows(runs: Sequence[Run]) -> Sequence[Row]:
    """These runs as rows, those of one method on several datasets as one; the newest answer is kept."""
    return _rows(_Runs(runs))


@lru_cache(maxsize=1)
def _rows(given: _Runs) -> Sequence[Row]:
    return rows_of(given.runs, by_dataset=len({run.data for run in given.runs}) > 1)


@lru_cache(maxsize=1)
def _read_metrics(given: _Runs) -> Sequence[RunMetrics]:
    names = dict(_labels(given.runs))
    return [RunMetrics(run, names[id(run)], *_metrics(run)) for run in given.runs]


def _labels(runs: Sequence[Run]) -> Iterator[tuple[int, str]]:
    """Identity of a run -> its row's label; those that share a row are told apart by what they played."""
    for row in rows(runs):
        played = [str((run.notes.get("dataset") or {}).get("name", "")) for run in row.runs]
        apart = played if len(set(played)) == len(played) else [run.folder.name for run in row.runs]
        for run, name in zip(row.runs, apart, strict=True):
            yield id(run), row.label if len(row.runs) == 1 else f"{row.label} {name}"


def _metrics(run: Run) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The metrics of a folder and those per stratum; empty for a run that did not come so far."""
    path = run.folder / METRICS
    found = orjson.loads(path.read_bytes()) if path.is_file() else {}
    return found.get("metrics", {}), found.get("strata", {})


def value_of(metric: Mapping[str, Any] | None) -> Value | None:
    """A metric of ``metrics.json``; None for one without a value."""
    if metric is None or metric.get("value") is None:
        return None
    low, high, n = (metric.get(key) for key in ("ci_low", "ci_high", "n"))
    return Value(metric["value"], low, high, n, metric.get("no_interval") or "")


def headlines(found: Sequence[RunMetrics], room: int = _HEADLINES) -> list[str]:
    """The scores to show first, the one that decides before all."""
    scores = [{name: of for name, of in one.metrics.items() if name.partition("/")[0] not in _TOTALS} for one in found]
    named = dict.fromkeys(name for one in found for name in one.run.shown)
    names = headline(scores, room, [one.run.notes for one in found], named)
    decides = [name for name in dict.fromkeys(one.run.headline for one in found) if name is not None]
    there = [name for name in decides if any(one.value(name) is not None for one in found)]
    return list(dict.fromkeys([*there, *names]))[:room]


def better(found: Sequence[RunMetrics], name: str) -> Better:
    """In which direction a metric improves. Of runs that do not say which scores are better low, those are of which a
    perfect agent reaches 0."""
    notes = [one.run.notes for one in found]
    ceilings = {one.metrics.get(name, {}).get("ceiling") for one in found} - {None}
    if ceilings == {0} and any("lower" not in of for of in notes):
        return "lower"
    return directions.better(name, notes)


def named(found: Sequence[RunMetrics], name: str) -> str:
    """A metric's name with the sign of its direction."""
    return f"{name} {ARROWS[better(found, name)]}".strip()


def column(found: Sequence[RunMetrics], name: str) -> Column:
    """The column of a metric."""
    return Column(name, _unit(found, name), better(found, name))


def axis(found: Sequence[RunMetrics], name: str) -> str:
    """The title of a metric's axis: name, unit, direction."""
    way, unit = better(found, name), _unit(found, name)
    told_way = f" ({ARROWS[way]} {way} is better)" if way else ""
    return f"{name}{f' [{unit}]' if unit else ''}{told_way}"


def _unit(found: Sequence[RunMetrics], name: str) -> str:
    return directions.unit(name, [one.run.notes for one in found])
