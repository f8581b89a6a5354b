"""Harm of errors: expected harm per 100 cases, the worst cases, and how it differs between groups of patients.

A gap is the mean of a group less that of all other cases. Its interval is put together from those of both means, which
treat patients as independent (Zou & Donner 2008, Stat Med 27:1693; for independent proportions Newcombe 1998), with
their correlation over patients who are on both sides: a group of few patients has a wide one, not always symmetric.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from components.core.score_names import ERROR, EXPECTED, RATED, SEVERE
from runner.results.arrays import Floats, Rows, np
from runner.results.cells import number
from runner.results.intervals import Mean
from runner.results.kinds import Scale, natural_order
from runner.results.metrics import FEWEST_HARMED, TOO_FEW_HARMED, mean_harm
from runner.results.ratings import ONLY_RATED, SEVERITY, find_ratings
from runner.results.rows import RunMetrics, read_metrics
from runner.results.runs import Run
from runner.results.sections.cards import AGE, SEX
from runner.results.sections.episode_data import link_keys, link_of
from runner.results.sheets import Cell, Column, Section, Sheet, Value, columns
from runner.results.table import Table

_ERRORS = ERROR.format("")
_HUNDRED = 100.0
_SHARE = Scale("share")
_BANDS = ((18, "0-17"), (45, "18-44"), (65, "45-64"), (math.inf, "65 or older"))  # years below which they end
_WORST, _READ = 50, 20  # cases of the table; of one that Markdown has
_MOST = 24  # values of a stratum
_UNIT = "per 100 cases"


def harm(runs: Sequence[Run]) -> Section | None:
    """Tables of expected harm, of errors, the worst cases and gaps between groups; None where no run scores harm."""
    found = [
        (one, key)
        for one, key in zip(read_metrics(*runs), link_keys(runs), strict=True)
        if EXPECTED in one.run.table.names("scores")
    ]
    if not found:
        return None
    intro = (
        "Errors by how much harm they can do to a patient, as tables of errors say (docs/guides/harm.md). The number "
        "of a case is the weight of its level, 0 for none and 1 for death. An unrated case has an error, or may have "
        "one, of which no table says how bad it is; it is never counted as harmless. Harm of one to "
        f"{FEWEST_HARMED - 1} patients has no interval ({TOO_FEW_HARMED}): the rare worst cases are not among so few."
    )
    ones = [one for one, _ in found]
    parts = [_expected(ones), _errors(ones), _worst(found), _groups(ones)]
    return Section("harm", "Harm", intro, [part for part in parts if part.rows])


def _expected(found: Sequence[RunMetrics]) -> Sheet:
    """A line per run: of rated cases, and of all if unrated ones did no harm or killed."""
    rows: list[list[Cell]] = []
    for one in found:
        table = one.run.table
        values, ended = table.values(EXPECTED), table["stop"] != "error"
        unrated = int((np.isnan(values) & ended).sum())
        weights = weights_of(one.run.cfg) or {"": 0.0, "death": 1.0}
        ends = min(weights.values()), max(weights.values())
        bounds = [expected_harm(table, np.where(np.isnan(values) & ended, end, values)) for end in ends]
        mean = expected_harm(table, values)
        rows.append([one.label, int(ended.sum()), unrated, mean, *bounds, one.value(RATED), one.value(SEVERE)])
    heads = columns(
        "run", ("cases", "cases"), ("unrated", "cases"), ("expected harm of rated cases", _UNIT, "lower"),
        ("if unrated ones are harmless", _UNIT, "lower"), ("if they kill", _UNIT, "lower"),
        ("errors that are rated", "share"), ("severe harm or death", "share", "lower"),
    )  # fmt: skip
    notes = [note for one in found if (note := _note_judge(one.run))]
    return Sheet("Expected harm", heads, rows, notes)


def expected_harm(table: Table, values: Floats) -> Value | None:
    """The mean harm of all rated cases, per 100."""
    return Value.of(mean_harm(table, values, table.in_order(), _SHARE).finished, _HUNDRED)


def weights_of(cfg: Mapping[str, Any]) -> dict[str, float]:
    """Level -> weight, as a run's config has them; empty without scorer harm."""
    scorer = (cfg.get("scorer") or {}).get("harm") or {}
    return {str(name): float(value) for name, value in (scorer.get("weights") or {}).items()}


def _note_judge(run: Run) -> str:
    """How far a model's severities agree with clinicians', or why they are not shown; empty where it gave none."""
    if not any(name.startswith(ONLY_RATED) for name in run.scores):
        return ""
    if (found := find_ratings(run.folder, run.manifest.get("id"), SEVERITY)) is not None:
        path, ratings = found
        agreed = ratings["judge_weighted"].items()
        kappas = ", ".join(f"{number(of['severity']['kappa'])} with {rater}" for rater, of in agreed)
        return f"{run.folder.name}: weighted kappa of the judge {kappas}; {path.with_suffix('.md')}"
    judge = (run.manifest.get("models") or {}).get("judge", "judge")
    return (
        f"{run.folder.name}: refused: severities by the model {judge!r}, with which no clinician's ratings can be "
        "compared; python -m runner.report annotate harm_severity FOLDER writes the sheets"
    )


def _types(table: Table) -> list[str]:
    return [name for name in table.valued if name.startswith(_ERRORS)]


def _errors(found: Sequence[RunMetrics]) -> Sheet:
    """A line per run and type of error that occurred, that with the most harm first."""
    rows: list[list[Cell]] = []
    for one in found:
        table = one.run.table
        weights, lines = table.values(EXPECTED), list[tuple[float, list[Cell]]]()
        for name in _types(table):
            hit = table.values(name) == 1.0
            if n := int(hit.sum()):
                share = float(weights[hit].sum() / np.nansum(weights)) if np.nansum(weights) > 0 else None
                level = float(weights[hit].mean())
                lines.append((share or 0.0, [one.label, name.removeprefix(_ERRORS), n, level, one.value(name), share]))
        rows += [line for _, line in sorted(lines, key=lambda pair: -pair[0])]
    heads = columns(
        "run", "error", ("cases", "cases"), ("weight of its level", "0 to 1"), ("of rated cases", "share", "lower"),
        ("of all harm", "share"),
    )  # fmt: skip
    return Sheet("Errors by type", heads, rows, keys=2)


def _worst(found: Sequence[tuple[RunMetrics, str]]) -> Sheet:
    """The cases with the most harm; a number opens the episode on the page."""
    cases: list[tuple[float, list[Cell]]] = []
    for one, key in found:
        table = one.run.table
        names = _types(table)
        hits = np.array([table.values(name) == 1.0 for name in names]).reshape(len(names), len(table))
        for row in np.flatnonzero(table.values(EXPECTED) > 0).tolist():
            sample, epoch = table.keys[row]
            weight = float(table.values(EXPECTED)[row])
            error = next(
                (name.removeprefix(_ERRORS) for name, hit in zip(names, hits[:, row], strict=True) if hit), "-"
            )
            link = link_of(key, sample, epoch)
            strata = ", ".join(f"{name} {value}" for name, value in _strata_of(table, row).items())
            cases.append((weight, [one.label, sample, error, strata, Value(weight, link=link)]))
    cases.sort(key=lambda case: (-case[0], str(case[1][:2])))
    notes = [f"{len(cases) - _WORST:,} cases with less harm are left out"] if len(cases) > _WORST else []
    instead = f"{len(cases):,} cases: on the page, and in the table's own file." if len(cases) > _READ else ""
    heads = columns("run", "sample", "error", "group", ("weight of its level", "0 to 1"))
    return Sheet("Worst cases", heads, [row for _, row in cases[:_WORST]], notes, keys=2, instead=instead)


def _strata_of(table: Table, row: int) -> dict[str, str]:
    """The groups that an episode is of: sex and age band from the sample's card, then its strata."""
    card: Mapping[str, str | float] = table["card"][row] or {}
    found = {SEX: str(card[SEX])} if SEX in card else {}
    if isinstance(age := card.get(AGE), int | float):
        found["age band"] = next(name for end, name in _BANDS if age < end)
    return found | {name: str(value) for name, value in table.kinds[table["strata"][row]].items()}


def _groups(found: Sequence[RunMetrics]) -> Sheet:
    """A line per run and group: its harm, and the gap to all other cases of the run."""
    rows: list[list[Cell]] = []
    for one in found:
        table = one.run.table
        values, ended = table.values(EXPECTED), table["stop"] != "error"
        strata = [_strata_of(table, row) for row in range(len(table))]
        for stratum in dict.fromkeys(name for of in strata for name in of):
            names = np.array([of.get(stratum, "none") for of in strata])
            groups = sorted(set(names.tolist()), key=natural_order)
            for group in groups if 1 < len(groups) <= _MOST else ():
                mine = names == group
                counts = [int((mine & ended & (np.isnan(values) == unrated)).sum()) for unrated in (False, True)]
                mean = Value.of(mean_harm(table, values, np.flatnonzero(mine), _SHARE).finished, _HUNDRED)
                rows.append([one.label, stratum, group, *counts, mean, gap(table, values, mine)])
    heads = columns(
        "run", "stratum", "group", ("rated", "cases"), ("unrated", "cases"), ("expected harm", _UNIT, "lower"),
        Column("gap to all other cases", _UNIT, "lower", signed=True),
    )  # fmt: skip
    gaps = sum(row[-1] is not None for row in rows)
    notes = ["a positive gap: more harm than in all other cases; there is none where one side has no interval"]
    notes += [f"{gaps} gaps: of 20 that are truly zero about one is away from zero by chance"] if gaps else []
    return Sheet("Harm by group", heads, rows, notes, keys=3)


def gap(table: Table, values: Floats, mine: Rows, scale: Scale = _SHARE) -> Value | None:
    """The mean over the rows that ``mine`` marks less that over the others, per 100 cases; None where one of them has
    no interval."""
    sides = mine, ~mine
    a, b = means = [mean_harm(table, values, np.flatnonzero(rows), scale) for rows in sides]
    reach_a, reach_b = _reaches(a), _reaches(b)
    if reach_a is None or reach_b is None:
        return None
    spread = math.sqrt((a.variance or 0.0) * (b.variance or 0.0))
    correlation = _covariance(table, values, sides, means) / spread if spread else 0.0
    value = (a.value or 0.0) - (b.value or 0.0)
    low, high = (
        math.sqrt(max(0.0, one * one + another * another - 2 * correlation * one * another))
        for one, another in zip(reach_a, reversed(reach_b), strict=True)
    )
    return Value(value * _HUNDRED, (value - low) * _HUNDRED, (value + high) * _HUNDRED)


def _reaches(mean: Mean) -> tuple[float, float] | None:
    """How far an interval reaches below and above its mean; None where the table shows none."""
    one = Value.of(mean.finished)
    if one is None or one.without or one.value is None or one.low is None or one.high is None:
        return None
    return one.value - one.low, one.high - one.value


def _covariance(table: Table, values: Floats, sides: Sequence[Rows], means: Sequence[Mean]) -> float:
    """Of two means, from the clusters that have cases on both sides."""
    k, spreads = int(table["number"].max()) + 1, []
    for rows, one in zip(sides, means, strict=True):
        there = rows & ~np.isnan(values)
        deviations = values[there] - (one.value or 0.0)
        spreads.append(np.bincount(table["number"][there], weights=deviations, minlength=k) / one.metric.n)
    return float(spreads[0] @ spreads[1]) * k / (k - 1)
