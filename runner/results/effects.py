"""Main effects and two-way interactions of the fields that a sweep varied, where every combination was run.

An effect is a contrast of cells on the same sample: a level less the first one, averaged over all other fields; an
interaction is by how much that changes with a level of another field. It is tested as every paired difference. Estimate
and, but for the small-sample factor, standard error are those of a linear model with covariance clustered by patient.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from runner.results.arrays import Floats, np
from runner.results.kinds import Better, Scale, as_gain, group_by
from runner.results.levels import used_levels
from runner.results.pairs import Difference, Pairs, adjust, difference_of
from runner.results.runs import Run
from runner.results.table import Table, align

Combination = tuple[str, ...]  # a level of each field
Levels = Mapping[str, Sequence[str]]
Values = Mapping[Combination, Floats]  # what the episodes of each cell scored
_APART = ("dataset", "name", "limit")
_NAMED = 8  # missing cells that are named


@dataclass(frozen=True)
class Factors:
    """The fields that runs on the same data vary, with their levels; ``cells``: levels -> episodes; ``twice``:
    those of two runs; ``notes``: what else differs between them."""

    dataset: str
    levels: Mapping[str, Sequence[str]]
    cells: Mapping[Combination, Table]
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
    levels: Sequence[str] = ()  # of which its values are means of means

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        facts = {"dataset": self.dataset, "metric": self.metric, "better": self.direction or "not said"}
        counts = {"samples": self.samples, "left_out": self.left_out, "notes": list(self.notes)}
        return {**facts, **counts, "effects": [one.as_dict() for one in self.effects]}


def factors_of(runs: Sequence[Run], dataset: str) -> Factors | None:
    """The grid of runs on one dataset; None where they do not vary two or more fields, all the same ones."""
    varied = [{key: str(value) for key, value in (run.manifest.get("varied") or {}).items()} for run in runs]
    levels = _levels(varied)
    swept = [set(run.manifest.get("swept") or ()) for run in runs]
    if len(levels) < 2 or not all({key, short(key)} & names for key in levels for names in swept):
        return None
    pairs = group_by(zip(runs, varied, strict=True), lambda pair: tuple(pair[1][key] for key in levels))
    runs_of = {cell: [run for run, _ in of] for cell, of in pairs.items()}
    cells = {cell: Table.join([run.table for run in of]) for cell, of in runs_of.items()}
    twice = [cell for cell, of in runs_of.items() if len({str(run.manifest.get("shard")) for run in of}) < len(of)]
    return Factors(dataset, levels, cells, runs[0], twice, _uneven_settings(runs, levels))


def _levels(varied: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Field -> its levels, of the fields that have several."""
    keys = dict.fromkeys(key for of in varied for key in of if key.partition(".")[0] not in _APART)
    levels = {key: list(dict.fromkeys(of.get(key, "") for of in varied)) for key in keys}
    return {key: of for key, of in levels.items() if len(of) > 1}


def _uneven_settings(runs: Sequence[Run], levels: Levels) -> list[str]:
    """A note on settings other than the fields in which runs of several sweeps differ; one sweep varies its fields
    alone."""
    if len({run.manifest.get("sweep") for run in runs}) < 2:
        return []
    groups = {key.partition(".")[0] for key in levels}
    flat = [
        {key: value for group, of in run.flat.items() if group not in groups for key, value in of.items()}
        for run in runs
    ]
    keys = dict.fromkeys(key for of in flat for key in of)
    differing = [key for key in keys if len({of.get(key) for of in flat}) > 1]
    return [f"other settings that differ between cells: {', '.join(differing)}"] if differing else []


def effects_of(factors: Factors, metric: str, strata: Sequence[str] = ()) -> Effects:
    """Main effects and interactions of a full grid. ``strata``: of a metric that is a mean of means."""
    direction, scale = factors.first.better(metric), factors.first.scale(metric)

    def none(why: str, *notes: str, left_out: int = 0) -> Effects:
        return Effects(factors.dataset, metric, direction, [], 0, left_out, [f"no effects: {why}", *notes])

    if hole := _hole(factors):
        return none(hole)
    every, rows = align(*factors.cells.values())
    rows_of = dict(zip(factors.cells, rows, strict=True))
    values = {cell: table.values_of(metric, rows_of[cell]) for cell, table in factors.cells.items()}
    levels, notes = _scored_levels(factors.levels, values, metric)
    notes += factors.notes
    if sum(len(of) > 1 for of in levels.values()) < 2:
        return none("one field is left", *notes)
    values = {cell: values[cell] for cell in product(*levels.values())}
    scored = np.flatnonzero(~np.isnan(list(values.values())).any(axis=0))
    left_out, cell = len(every) - len(scored), next(iter(values))
    scored = scored[np.argsort(rows_of[cell][scored])]
    first = factors.cells[cell].take(rows_of[cell][scored])
    if not len(first):
        return none("no sample is scored in every cell", *notes, left_out=left_out)
    effects = []
    aligned = {cell: of[scored] for cell, of in values.items()}
    for fields, name, weights in _contrasts(levels):
        pairs = _pairs(first, aligned, weights, direction, scale)
        effects.append(Effect(fields, name, difference_of(pairs, strata)))
    if all(one.difference.p is not None for one in effects):
        differences = adjust(one.difference for one in effects)
        effects = [replace(one, difference=of) for one, of in zip(effects, differences, strict=True)]
    levels_used = used_levels(first, strata)
    return Effects(factors.dataset, metric, direction, effects, len(first), left_out, notes, levels_used)


def _hole(factors: Factors) -> str:
    """Which combinations were not run, or run twice; empty for a full grid."""
    missing = [cell for cell in product(*factors.levels.values()) if cell not in factors.cells]
    for what, wrong in (("not run", missing), ("run twice", factors.twice)):
        if wrong:
            named = "; ".join(", ".join(cell) for cell in wrong[:_NAMED])
            more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
            return f"{what}: {named}{more}"
    return ""


def _scored_levels(levels: Levels, values: Values, metric: str) -> tuple[dict[str, list[str]], list[str]]:
    """The levels at which something is scored, and a note on the others."""
    scored = [cell for cell, of in values.items() if not np.isnan(of).all()]
    used, unused = dict[str, list[str]](), list[str]()
    for n, (field, of) in enumerate(levels.items()):
        used[field] = [level for level in of if any(cell[n] == level for cell in scored)]
        unused += [f"{short(field)} {level}" for level in of if level not in used[field]]
    return used, [f"left out, without any {metric}: {', '.join(unused)}"] if unused and scored else []


def _contrasts(levels: Levels) -> Iterator[tuple[tuple[str, ...], str, dict[Combination, float]]]:
    """Fields, name, and the weight of each cell: of every level but the first, and of every two of them."""
    for fields in [*((name,) for name in levels), *combinations(levels, 2)]:
        for chosen in product(*(levels[name][1:] for name in fields)):
            level_of = dict(zip(fields, chosen, strict=True))
            names = (f"{short(name)} {level} less {levels[name][0]}" for name, level in level_of.items())
            yield fields, " x ".join(names), _weights(levels, level_of)


def _weights(levels: Levels, chosen: Mapping[str, str]) -> dict[Combination, float]:
    """Cells of a chosen level count +, those of the first one -, multiplied over the fields; it is a mean over the
    other fields. Cells that do not count are left out."""
    weights: dict[Combination, float] = {}
    for cell in product(*levels.values()):
        weight = 1.0
        for (name, of), level in zip(levels.items(), cell, strict=True):
            if name in chosen:
                weight *= (level == chosen[name]) - (level == of[0])
            else:
                weight /= len(of)
        if weight:
            weights[cell] = weight
    return weights


def _pairs(
    table: Table, values: Values, weights: Mapping[Combination, float], direction: Better,
    scale: Scale,
) -> Pairs:  # fmt: skip
    """The contrast of each sample, of the ``values`` of these rows in every cell."""
    scaled = [(weight * values[cell]).tolist() for cell, weight in weights.items()]
    contrasts = [as_gain(math.fsum(of), direction) for of in zip(*scaled, strict=True)]
    reach = math.fsum(weight for weight in weights.values() if weight > 0)
    averaged = any(abs(weight) != 1 for weight in weights.values())
    kind = "share" if scale.kind == "proportion" and (averaged or reach > 1) else scale.kind
    return Pairs(table, np.array(contrasts), {}, Scale(kind, difference=True, reach=reach))


def short(field: str) -> str:
    """A dotted key's last part."""
    return field.rpartition(".")[2]
