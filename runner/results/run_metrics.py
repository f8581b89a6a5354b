"""The metrics of runs, read once for all sections: labels of the runs, the scores to show first, their directions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from runner.results import directions
from runner.results.intervals import MetricJSON
from runner.results.metrics import OVERFLOWS, Summary
from runner.results.rows import Row, rows_of
from runner.results.runs import Run
from runner.results.sheets import ARROWS, Better, Column, Value

METRICS = "metrics.json"
_TOTALS = ("stop", "errors", "cost", "tokens", "calls", "time")
_FIRST = ("total", "completion", "score", "execution", "refusal", "response", "planning")
_HEADLINES = 5


@dataclass(frozen=True)
class RunMetrics:
    """A run, a label that no other one has, and its ``metrics.json``. ``strata``: stratum -> value -> metrics."""

    run: Run
    label: str
    metrics: Mapping[str, MetricJSON]
    strata: Mapping[str, Mapping[str, Mapping[str, MetricJSON]]]

    @property
    def dataset(self) -> str:
        """The name of its dataset."""
        return str((self.run.notes.get("dataset") or {}).get("name", ""))

    def value(self, name: str) -> Value | None:
        """A metric with its interval; None where the run has none of this name."""
        return Value.stored(self.metrics.get(name))


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
    """The metrics of these runs, in their order. The newest result is kept: every section needs it."""
    return _read_metrics(_Runs(runs))


def rows(runs: Sequence[Run]) -> Sequence[Row]:
    """These runs as rows, those of one method on several datasets as one; the newest result is kept."""
    return _rows(_Runs(runs))


@lru_cache(maxsize=1)
def _rows(given: _Runs) -> Sequence[Row]:
    return rows_of(given.runs, by_dataset=len({run.data for run in given.runs}) > 1)


@lru_cache(maxsize=1)
def _read_metrics(given: _Runs) -> Sequence[RunMetrics]:
    names = dict(_labels(given.runs))
    found = [(run, _metrics(run)) for run in given.runs]
    return [RunMetrics(run, names[id(run)], one.get("metrics", {}), one.get("strata", {})) for run, one in found]


def _labels(runs: Sequence[Run]) -> Iterator[tuple[int, str]]:
    """Identity of a run -> its row's label; those that share a row get the names of their datasets, or folders."""
    for row in rows(runs):
        data = [str((run.notes.get("dataset") or {}).get("name", "")) for run in row.runs]
        apart = data if len(set(data)) == len(data) else [run.folder.name for run in row.runs]
        for run, name in zip(row.runs, apart, strict=True):
            yield id(run), row.label if len(row.runs) == 1 else f"{row.label} {name}"


def _metrics(run: Run) -> Summary:
    """The metrics of a folder and those per stratum; empty for a run that ended before it had any."""
    path = run.folder / METRICS
    found: Summary = orjson.loads(path.read_bytes()) if path.is_file() else {"metrics": {}, "strata": {}}
    return found


def headline(
    jobs: Sequence[Mapping[str, MetricJSON]],
    room: int,
    manifests: Sequence[Mapping[str, Any]] = (),
    named: Iterable[str] = (),
) -> list[str]:
    """The metrics to show next to each other: those that are ``named``, then those of which the manifests of the jobs
    give a better direction, the first of each group before the second of any; all with a value somewhere."""
    names = [n for n in dict.fromkeys(n for job in jobs for n in job) if directions.better(n, manifests)]
    there = [n for n in names if any(_has(job, n) for job in jobs)]
    there = [n for n in there if "/".join(n.split("/")[2:]) not in there]  # the means of single parts of a score
    late = [n for n in ("errors/rate", OVERFLOWS, "cost/usd", "time/seconds_p50") if n in there]
    groups: dict[str, list[str]] = {}
    for name in there:
        if (group := name.partition("/")[0]) not in _TOTALS:
            groups.setdefault(group, []).append(name)
    order = sorted(groups, key=lambda group: _FIRST.index(group) if group in _FIRST else len(_FIRST))
    longest = max(map(len, groups.values()), default=0)
    rounds = [groups[group][n] for n in range(longest) for group in order if n < len(groups[group])]
    rounds = [*dict.fromkeys([*(name for name in named if any(_has(job, name) for job in jobs)), *rounds])]
    return [*rounds[: max(1, room - len(late))], *late][:room]


def _has(job: Mapping[str, MetricJSON], name: str) -> bool:
    return name in job and job[name].get("value") is not None


def headlines(found: Sequence[RunMetrics], room: int = _HEADLINES) -> list[str]:
    """The scores to show first, the one that decides before all."""
    scores = [{name: of for name, of in one.metrics.items() if name.partition("/")[0] not in _TOTALS} for one in found]
    named = dict.fromkeys(name for one in found for name in one.run.shown)
    names = headline(scores, room, [one.run.notes for one in found], named)
    decides = [name for name in dict.fromkeys(one.run.headline for one in found) if name is not None]
    there = [name for name in decides if any(one.value(name) is not None for one in found)]
    return list(dict.fromkeys([*there, *names]))[:room]


def better(found: Sequence[RunMetrics], name: str) -> Better:
    """In which direction a metric improves. In runs whose manifests do not declare it, scores of which a perfect agent
    reaches 0 are better low."""
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
    direction = f" ({ARROWS[way]} {way} is better)" if way else ""
    return f"{name}{f' [{unit}]' if unit else ''}{direction}"


def _unit(found: Sequence[RunMetrics], name: str) -> str:
    return directions.unit(name, [one.run.notes for one in found])
