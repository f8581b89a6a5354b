"""Runs as grids. Methods by datasets: what every row of runs scored on every dataset, and the mean over the datasets.

Fields by their levels: main effects and two-way interactions of what a sweep varied, where every combination was run.
An effect is a contrast of cells on the same sample: a level less the first one, averaged over all other fields; an
interaction is by how much that changes with a level of another field. It is tested as every paired difference. Estimate
and, but for the small-sample factor, standard error are those of a linear model with covariance clustered by patient.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

from runner.results.intervals import Metric
from runner.results.kinds import NUMBER, Better, Scale, grouped, improved
from runner.results.levels import average, levelled_mean
from runner.results.pairs import Difference, Pairs, adjusted, difference_of, value_of
from runner.results.rows import Row, is_named, rows_of
from runner.results.runs import Run, leaves
from runner.storage.schema import Record

MEAN = "mean"
Combination = tuple[str, ...]  # a level of each field
_APART = ("dataset", "name", "limit")
_NAMED = 8  # missing cells that are named


@dataclass(frozen=True)
class DatasetColumn:
    """A dataset, its headline score, that score's levels, direction and ``scale``; ``data``: that of its runs."""

    label: str
    score: str | None
    levels: Sequence[str] = ()
    direction: Better = "higher"
    scale: Scale = NUMBER
    data: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Grid:
    """``cells``: (row, column) -> the records of that method on that dataset, where it was run."""

    rows: Sequence[Row]
    columns: Sequence[DatasetColumn]
    cells: Mapping[tuple[str, str], Sequence[Record]]

    @property
    def several(self) -> bool:
        """Whether there is something to compare: two methods or two datasets."""
        return len(self.rows) > 1 or len(self.columns) > 1

    @property
    def averages(self) -> bool:
        """Whether a mean over the columns says something: several, and all of the same score."""
        return len(self.columns) > 1 and len({column.score for column in self.columns}) == 1

    @cached_property
    def metrics(self) -> dict[str, dict[str, Metric]]:
        """Row -> column -> headline as the run's own metrics have it; ``mean`` for rows that have all columns."""
        found = {}
        for row in self.rows:
            means = {
                one.label: levelled_mean(records, one.score or "", one.levels, one.scale)
                for one in self.columns
                if (records := self.cells.get((row.label, one.label))) is not None
            }
            if (
                self.averages
                and len(means) == len(self.columns)
                and all(one.value is not None for one in means.values())
            ):
                means[MEAN] = average(list(means.values()))
            found[row.label] = {label: one.finished for label, one in means.items()}
        return found


def grid_of(runs: Sequence[Run]) -> Grid:
    """Put runs into rows by what varies apart from the dataset, and into columns by dataset."""
    rows, by_data = rows_of(runs, by_dataset=True), grouped(runs, lambda run: run.data)
    columns, cells = [], {}
    for (key, of), label in zip(by_data.items(), _labels(list(by_data), runs), strict=True):
        score = next((run.headline for run in of if run.headline), None)
        if not any(score and one["scores"].get(score) is not None for run in of for one in run.records):
            # as of tasks that cannot be done, which have no completion: the first score that one has values of
            score = next((other for run in of if (other := deciding_score(run)) != score), score)
        levels = next((run.levels[score] for run in of if score in run.levels), ()) if score else ()
        direction = of[0].better(score) if score else "higher"
        columns.append(DatasetColumn(label, score, levels, direction, of[0].scale(score or ""), key))
        for row in rows:
            if mine := [run for run in row.runs if run.data == key]:
                cells[row.label, label] = [record for run in mine for record in run.records]
    return Grid(rows, columns, cells)


def deciding_score(run: Run) -> str | None:
    """The score by which an episode counts as solved: the headline where it has values, else the first that has any."""
    valued = dict.fromkeys(name for one in run.records for name, value in one["scores"].items() if value is not None)
    return run.headline if run.headline in valued else next(iter(valued), run.headline)


def _labels(data: Sequence[tuple[str, str]], runs: Sequence[Run]) -> list[str]:
    """The choices of the datasets, as short as they stay different, else with the settings or content that differ."""
    content = {run.data: str(run.content)[:8] for run in runs}
    nodes = {run.data: dict(leaves(run.cfg.get("dataset"), "dataset")) for run in runs}
    labels = []
    for choice, node in data:
        words, alike = [choice or "dataset"], [nodes[other] for other in data if other[0] == choice]
        for key, value in nodes[choice, node].items():
            words += [f"{key.rpartition('.')[2]}={value}"] if any(one.get(key) != value for one in alike) else []
        labels.append(" ".join(words))
    short = [label.rpartition("/")[2] if "=" not in label else label for label in labels]
    short = [short[n] if short.count(short[n]) == 1 and short[n] != MEAN else label for n, label in enumerate(labels)]
    return [
        label if short.count(label) == 1 else f"{label} {content[key]}" for key, label in zip(data, short, strict=True)
    ]


def present_among(grid: Grid, baselines: Collection[str]) -> list[str]:
    """The baselines that are among the rows."""
    return [name for name in baselines if any(is_named(row, [name]) for row in grid.rows)]


@dataclass(frozen=True)
class Factors:
    """The fields that runs on the same data vary, with their levels; ``cells``: levels -> records; ``twice``:
    those of two runs; ``notes``: what else differs between them."""

    dataset: str
    levels: Mapping[str, Sequence[str]]
    cells: Mapping[Combination, Sequence[Record]]
    first: Run
    twice: Sequence[Combination] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Effect:
    """``fields`` has one name for a main effect and two for an interaction; ``name`` says which levels."""

    fields: tuple[str, ...]
    name: str
    difference: Difference

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"fields": list(self.fields), "name": self.name, **self.difference.as_dict()}


@dataclass(frozen=True)
class Effects:
    """What a grid says of its fields by a metric; nothing, and why, where it has holes."""

    dataset: str
    metric: str
    direction: Better
    effects: Sequence[Effect]
    samples: int
    left_out: int
    notes: Sequence[str]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        facts = {"dataset": self.dataset, "metric": self.metric, "better": self.direction or "not said"}
        counts = {"samples": self.samples, "left_out": self.left_out, "notes": list(self.notes)}
        return {**facts, **counts, "effects": [one.as_dict() for one in self.effects]}


def factors_of(runs: Sequence[Run], dataset: str) -> Factors | None:
    """The grid of runs on one dataset; None where they do not vary two or more fields, all the same ones."""
    varied = [{key: str(value) for key, value in (run.manifest.get("varied") or {}).items()} for run in runs]
    swept = [set(run.manifest.get("swept") or ()) for run in runs]
    keys = dict.fromkeys(key for of in varied for key in of if key.partition(".")[0] not in _APART)
    levels = {key: list(dict.fromkeys(of.get(key, "") for of in varied)) for key in keys}
    levels = {key: of for key, of in levels.items() if len(of) > 1}
    if len(levels) < 2 or not all({key, short(key)} & names for key in levels for names in swept):
        return None
    pairs = grouped(zip(runs, varied, strict=True), lambda pair: tuple(pair[1][key] for key in levels))
    cells = {cell: [record for run, _ in of for record in run.records] for cell, of in pairs.items()}
    twice = [cell for cell, of in pairs.items() if len({str(run.manifest.get("shard")) for run, _ in of}) < len(of)]
    notes, groups = [], {key.partition(".")[0] for key in levels}
    if len({run.manifest.get("sweep") for run in runs}) > 1:  # one sweep varies its fields alone
        flat = [{key: value for group, of in run.flat.items() if group not in groups for key, value in of.items()}
                for run in runs]  # fmt: skip
        others = [
            key for key in dict.fromkeys(key for of in flat for key in of) if len({of.get(key) for of in flat}) > 1
        ]
        notes = [f"not the same in all cells, so that effects may be theirs: {', '.join(others)}"] if others else []
    return Factors(dataset, levels, cells, runs[0], twice, notes)


def effects_of(factors: Factors, metric: str, strata: Sequence[str] = ()) -> Effects:
    """Main effects and interactions of a full grid. ``strata``: of a metric that is a mean of means."""
    direction, scale = factors.first.better(metric), factors.first.scale(metric)

    def none(why: str, *notes: str, left_out: int = 0) -> Effects:
        return Effects(factors.dataset, metric, direction, [], 0, left_out, [f"no effects: {why}", *notes])

    missing = [cell for cell in product(*factors.levels.values()) if cell not in factors.cells]
    for what, wrong in (("not run", missing), ("run twice", factors.twice)):
        if wrong:
            named = "; ".join(", ".join(cell) for cell in wrong[:_NAMED])
            more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
            return none(f"{what}: {named}{more}")
    values = {
        cell: {_key(one): value for one in records if (value := value_of(one, metric)) is not None}
        for cell, records in factors.cells.items()
    }
    scored = [cell for cell, of in values.items() if of]
    levels = {name: [one for one in of if any(cell[n] == one for cell in scored)]
              for n, (name, of) in enumerate(factors.levels.items())}  # fmt: skip
    unused = [f"{short(name)} {one}" for name, of in factors.levels.items() for one in of if one not in levels[name]]
    notes = [f"left out, without any {metric}: {', '.join(unused)}"] if unused and scored else []
    notes += factors.notes
    if sum(len(of) > 1 for of in levels.values()) < 2:
        return none("one field is left", *notes)
    values = {cell: values[cell] for cell in product(*levels.values())}
    keys = set.intersection(*(set(of) for of in values.values()))
    records = [record for record in factors.cells[next(iter(values))] if _key(record) in keys]
    left_out = len({_key(record) for of in factors.cells.values() for record in of}) - len(keys)
    if not records:
        return none("no sample is scored in every cell", *notes, left_out=left_out)
    effects = []
    for fields in [*((name,) for name in levels), *combinations(levels, 2)]:
        for chosen in product(*(levels[name][1:] for name in fields)):
            names = (f"{short(name)} {one} less {levels[name][0]}" for name, one in zip(fields, chosen, strict=True))
            pairs = _contrast(records, values, levels, dict(zip(fields, chosen, strict=True)), metric, direction, scale)
            effects.append(Effect(fields, " x ".join(names), difference_of(pairs, strata)))
    if all(one.difference.p is not None for one in effects):
        differences = adjusted(one.difference for one in effects)
        effects = [replace(one, difference=of) for one, of in zip(effects, differences, strict=True)]
    return Effects(factors.dataset, metric, direction, effects, len(records), left_out, notes)


def _contrast(
    records: Sequence[Record], values: Mapping[Combination, Mapping[tuple[str, int], float]],
    levels: Mapping[str, Sequence[str]], chosen: Mapping[str, str], metric: str, direction: Better, scale: Scale,
) -> Pairs:  # fmt: skip
    """The contrast of each sample: the cells of a chosen level count +, those of the first one -, multiplied over the
    fields; it is a mean over the other fields."""
    weights: dict[Combination, float] = {}
    for cell in values:
        weight = 1.0
        for (name, of), level in zip(levels.items(), cell, strict=True):
            weight = weight * ((level == chosen[name]) - (level == of[0])) if name in chosen else weight / len(of)
        weights |= {cell: weight} if weight else {}
    made: list[Record] = []
    for record in records:
        value = math.fsum(weight * values[cell][_key(record)] for cell, weight in weights.items())
        made.append({**record, "scores": {metric: improved(value, direction)}})
    reach = math.fsum(weight for weight in weights.values() if weight > 0)
    averaged = any(abs(weight) != 1 for weight in weights.values())
    kind = "share" if scale.kind == "proportion" and (averaged or reach > 1) else scale.kind
    return Pairs(metric, made, {}, Scale(kind, difference=True, reach=reach))


def _key(record: Record) -> tuple[str, int]:
    return str(record["sample_id"]), int(record["epoch"])


def short(field: str) -> str:
    """A dotted key's last part."""
    return field.rpartition(".")[2]
