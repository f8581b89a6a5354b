"""Rows of tables: runs of the same settings on different parts of a benchmark, labelled by what they differ in; and the
metrics of runs with the scores to show first, read once for all sections."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest
from textwrap import shorten

from runner.results import kinds
from runner.results.intervals import MetricJSON
from runner.results.kinds import Better, group_by
from runner.results.runs import Run
from runner.results.sheets import ARROWS, Column, Value
from runner.results.table import OVERFLOWS, Table
from runner.storage.manifest import is_one_of
from runner.storage.schema import Manifest

_TOTALS = ("stop", "errors", "cost", "tokens", "calls", "time")
_FIRST = ("total", "completion", "score", "execution", "refusal", "response", "planning")
_HEADLINES = 5
_LONGEST = 60  # characters of a label


@dataclass(frozen=True, eq=False)
class Row:
    """Runs of the same settings on different parts, and a label that no other row has."""

    runs: Sequence[Run]
    label: str

    @cached_property
    def table(self) -> Table:
        """The episodes of all of them."""
        return Table.join([run.table for run in self.runs])

    @property
    def first(self) -> Run:
        """A run with the settings of all."""
        return self.runs[0]


def rows_of(runs: Sequence[Run], *, by_dataset: bool = False) -> list[Row]:
    """Put runs together; one that repeats a part which a row has begins a new row. Parts are the groups of the scores'
    levels, or ``by_dataset`` whole datasets; then jobs of a sweep are alike where they differ in nothing else that it
    varies."""
    groups: list[list[Run]] = []
    for run in runs:
        fitting = next((group for group in groups if all(_fits(run, other, by_dataset) for other in group)), [])
        groups += [] if fitting else [fitting]
        fitting.append(run)
    labels = labels_of([group[0] for group in groups])
    return [Row(group, label) for group, label in zip(groups, labels, strict=True)]


def _fits(run: Run, other: Run, by_dataset: bool) -> bool:
    """Whether two runs are of one row: alike, and without a part in common unless they are shards."""
    alike = by_dataset and run.method is not None and run.method == other.method
    if not alike and run.same != other.same:
        return False
    parts = (lambda one: {one.data}) if by_dataset else _groups
    shards = run.manifest.get("shard"), other.manifest.get("shard")
    return parts(run).isdisjoint(parts(other)) or (None not in shards and shards[0] != shards[1])


def _groups(run: Run) -> set[tuple[str, ...]]:
    """The parts that a run is of, by the levels of its scores; its dataset's name where there are none."""
    levels = {tuple(levels) for levels in run.levels.values()}
    found = {tuple(str(strata.get(level, "")) for level in names) for names in levels for strata in run.table.kinds}
    return found or {(run.dataset,)}


def labels_of(runs: Sequence[Run]) -> list[str]:
    """The settings in which rows differ; of one sweep only what it varies, where that is enough. Equal ones get what
    differs between their runs, which is all where there are no others. Imported runs have settings of other names: next
    to others they get the name of their tool, and what they differ in among themselves."""
    if 0 < len(theirs := [run for run in runs if "imported" in run.manifest]) < len(runs):
        ours = [run for run in runs if run not in theirs]
        named = dict(zip([*ours, *theirs], [*labels_of(ours), *labels_of(theirs)], strict=True))
        return [f"{run.manifest['imported']['tool']} {named[run]}" if run in theirs else named[run] for run in runs]
    swept = {name for run in runs for name in run.manifest.get("swept") or ()}
    if swept and len({run.manifest.get("sweep") for run in runs}) == 1:
        short = [_label(run, runs, swept) for run in runs]
        if len(set(short)) == len(short):
            return short
    labels = [_label(run, runs) for run in runs]
    for label, equal in group_by(range(len(runs)), labels.__getitem__).items():
        if len(equal) > 1:
            for n, name in zip(equal, _distinct_names([runs[n] for n in equal]), strict=True):
                labels[n] = name if len(equal) == len(runs) else f"{label} {name}"
    return labels


def _distinct_names(runs: Sequence[Run]) -> list[str]:
    """A name for each of these runs, which have the same settings: its limit where no two are equal, else the shortest
    end of its path that no other has."""
    paths = [run.folder.absolute().parts for run in runs]
    ends = (["/".join(path[-n:]) for path in paths] for n in range(1, max(map(len, paths)) + 1))
    limits = [f"limit={run.cfg.get('limit')}" for run in runs]
    return next((names for names in (limits, *ends) if len(set(names)) == len(names)), limits)


def _label(run: Run, others: Sequence[Run], only: Collection[str] = ()) -> str:
    """The settings in which a row differs from the others; its agent and model where there are none. ``only``: the last
    parts of the keys that count, all where it is empty."""
    words = []
    groups = [key for key in dict.fromkeys(["agent", "model", *run.same]) if key in run.same]
    for group in groups:
        if (not only or group in only) and len({other.choices.get(group) for other in others}) > 1:
            words.append(str(run.choices.get(group, f"no {group}")))
        same = [one for one in others if _have_same_choice(one, run, group)]
        within = [key for key in run.choices if key.startswith(f"{group}.")]  # of its parts: ``condition.then``
        words += [run.choices[key] for key in within if not all(_have_same_choice(one, run, key) for one in same)]
        alike = [one for one in same if all(_have_same_choice(one, run, key) for key in within)]
        for key, value in run.flat[group].items():
            if not key.endswith("_target_") and (not only or is_one_of(key, only)):
                words += setting_word(
                    run, [one for one in alike if one.flat.get(group, {}).get(key) != value], key, value
                )
    words = words or [str(run.choices[group]) for group in ("agent", "model") if group in run.choices]
    return shorten_label(words) or run.folder.name


def setting_word(run: Run, others: Sequence[Run], key: str, value: str) -> list[str]:
    """``name=value`` of a setting in which these others differ, nothing where there are none; but the choice of a group
    that has the same there (a profile's settings are in many groups) where they all chose differently."""
    name = key.rpartition(".")[2]
    for group, settings in run.flat.items() if others else ():
        within = group in run.choices and not any(_have_same_choice(one, run, group) for one in others)
        if within and any(value == one and name == other.rpartition(".")[2] for other, one in settings.items()):
            return [run.choices[group]]
    return [f"{name}={value}"] if others else []


def shorten_label(words: Iterable[str]) -> str:
    """Each word once, and no more of them than have room in a column."""
    return shorten(" ".join(dict.fromkeys(word[: _LONGEST - 4] for word in words)), _LONGEST, placeholder=" ...")


def _have_same_choice(one: Run, other: Run, group: str) -> bool:
    return one.choices.get(group) == other.choices.get(group)


def is_named(row: Row, names: Collection[str]) -> bool:
    """Whether a name is of this row: agent, label, folder, or a value that the sweep varied (``key=value`` too)."""
    pairs = {pair for run in row.runs for pair in run.swept}
    varied = {word for key, value in pairs for word in (value, f"{key}={value}")}
    own = {row.label, str(row.first.choices.get("agent")), *(run.folder.name for run in row.runs)}
    return not (own | varied).isdisjoint(names)


def nearest_rows(row: Row, named: Sequence[Row]) -> list[Row]:
    """Those that differ from a row in the fewest of the settings that were swept: all that are as near."""
    mine, *others = ((one.first.manifest.get("varied") or {}) | {"": one.first.model} for one in (row, *named))
    distances = [sum(mine.get(key) != theirs.get(key) for key in mine.keys() | theirs.keys()) for theirs in others]
    return [other for other, distance in zip(named, distances, strict=True) if distance == min(distances)]


@dataclass(frozen=True)
class RunMetrics:
    """The metrics of a run, and a label that no other one has."""

    run: Run
    label: str

    @property
    def metrics(self) -> Mapping[str, MetricJSON]:
        """Name -> value."""
        return self.run.summary["metrics"]

    def value(self, name: str) -> Value | None:
        """A metric with its interval; None where the run has none of this name."""
        return Value.from_json(self.metrics.get(name))


@lru_cache(maxsize=1)
def read_metrics(*runs: Run) -> Sequence[RunMetrics]:
    """The metrics of these runs, in their order. The newest result is cached: every section needs it."""
    labels = {}
    for row in rows(*runs):  # runs that share a row have the names of their datasets too, or of their folders
        names = [run.dataset for run in row.runs]
        names = names if len(set(names)) == len(names) else _distinct_names(row.runs)
        for run, name in zip(row.runs, names, strict=True):
            labels[run] = row.label if len(row.runs) == 1 else f"{row.label} {name}"
    return [RunMetrics(run, labels[run]) for run in runs]


@lru_cache(maxsize=1)
def rows(*runs: Run) -> Sequence[Row]:
    """These runs as rows, those of one method on several datasets as one; the newest result is cached."""
    return rows_of(runs, by_dataset=len({run.data for run in runs}) > 1)


def headline(
    jobs: Sequence[Mapping[str, MetricJSON]], room: int, manifests: Sequence[Manifest] = (), named: Iterable[str] = ()
) -> list[str]:
    """The metrics to show next to each other: those that are ``named``, then those of which the manifests of the jobs
    give a better direction, the first of each group before the second of any; all with a value somewhere. Errors,
    cost and time come last, without what is 0 in all jobs."""
    valued = dict.fromkeys(name for job in jobs for name, metric in job.items() if metric.get("value") is not None)
    names = dict.fromkeys(name for job in jobs for name in job)
    there = [name for name in names if name in valued and kinds.better(name, manifests)]
    there = [n for n in there if "/".join(n.split("/")[2:]) not in there]  # the means of single parts of a score
    occurred = {name for job in jobs for name, metric in job.items() if metric.get("value")}
    late = [n for n in ("errors/rate", OVERFLOWS, "cost/usd", "time/seconds_p50") if n in there and n in occurred]
    groups = group_by(there, lambda name: name.partition("/")[0])
    scored = [group for group in groups if group not in _TOTALS]
    order = sorted(scored, key=lambda group: _FIRST.index(group) if group in _FIRST else len(_FIRST))
    rounds = [name for names in zip_longest(*(groups[group] for group in order)) for name in names if name]
    rounds = [*dict.fromkeys([*(name for name in named if name in valued), *rounds])]
    return [*rounds[: max(1, room - len(late))], *late][:room]


def headlines(found: Sequence[RunMetrics], room: int = _HEADLINES) -> list[str]:
    """The scores to show first, the one that decides before all."""
    scores = [{n: value for n, value in one.metrics.items() if n.partition("/")[0] not in _TOTALS} for one in found]
    named = dict.fromkeys(name for one in found for name in one.run.compare.get("scores") or ())
    names = headline(scores, room, [one.run.manifest for one in found], named)
    decides = [name for name in dict.fromkeys(one.run.headline for one in found) if name is not None]
    there = [name for name in decides if any(one.value(name) is not None for one in found)]
    return list(dict.fromkeys([*there, *names]))[:room]


def better(found: Sequence[RunMetrics], name: str) -> Better:
    """In which direction a metric improves; in older runs what a perfect agent reaches 0 of is better low."""
    notes = [one.run.manifest for one in found]
    ceilings = {one.metrics.get(name, {}).get("ceiling") for one in found} - {None}
    if ceilings == {0} and any("lower" not in manifest for manifest in notes):
        return "lower"
    return kinds.better(name, notes)


def name_with_arrow(found: Sequence[RunMetrics], name: str) -> str:
    """A metric's name with the sign of its direction."""
    return f"{name} {ARROWS[better(found, name)]}".strip()


def column(found: Sequence[RunMetrics], name: str) -> Column:
    """The column of a metric: name, unit, direction."""
    return Column(name, kinds.unit(name, [one.run.manifest for one in found]), better(found, name))


def axis(found: Sequence[RunMetrics], name: str) -> str:
    """The title of a metric's axis: name, unit, direction."""
    one = column(found, name)
    direction = f" ({ARROWS[one.better]} {one.better} is better)" if one.better else ""
    return f"{name}{f' [{one.unit}]' if one.unit else ''}{direction}"
