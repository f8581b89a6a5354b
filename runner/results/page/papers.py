"""Runs next to published values, for every publication in ``conf/papers`` that has a row for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runner.config.roots import CONF
from runner.results.deviations import deviations, remarks
from runner.results.intervals import Metric
from runner.results.page.parts import Cell, Column, Section, Sheet, Value
from runner.results.page.run_metrics import rows
from runner.results.page.shell import PERCENT
from runner.results.paper import Paper, load
from runner.results.published import TOTAL, Published
from runner.results.published_comparison import PublishedComparison
from runner.results.rows import Row, rows_of
from runner.results.runs import Run

_HUNDRED = 100.0


def section(runs: Sequence[Run]) -> Section | None:
    """A table over all rows and one of their parts for every publication that has values for them; else None."""
    known = [load(CONF, str(path)) for path in sorted((CONF / "papers").glob("*.yaml"))]
    sheets = [sheet for paper in known for sheet in sheets_of(paper, runs)]
    if not sheets:
        return None
    intro = (
        "Published means and totals are worked out from the values per task. Lines below a table list the deviations "
        "from the published setting."
    )
    return Section("papers", "Next to published values", intro, sheets)


def sheets_of(paper: Paper, runs: Sequence[Run]) -> list[Sheet]:
    """The tables of a publication; none where it has nothing to compare with these runs."""
    there = [run for run in runs if paper.line(run) is not None and paper.metric in run.scores]
    if not there:
        return []
    found = [one for one in (PublishedComparison.of(paper, row) for row in _rows(paper, there, runs)) if _meets(one)]
    overview = [_overview(found)] if len(found) > 1 and not paper.single else []
    return [*overview, _parts(found)] if found else []


def _rows(paper: Paper, there: Sequence[Run], runs: Sequence[Run]) -> Sequence[Row]:
    """The rows that these runs are in, called as everywhere on the page where that can be."""
    if paper.by_dataset:
        return rows_of(there, by_dataset=True)
    return [row for row in rows(runs) if any(run in there for run in row.runs)]


def _meets(one: PublishedComparison) -> bool:
    """Whether a row and its published ones have a part in common."""
    known = {path for other in one.published for path, value in other.values.items() if value is not None}
    return any(path in known and part.value is not None for path, part in one.leaves.items())


def _parts(found: Sequence[PublishedComparison]) -> Sheet:
    """Every row and its published ones, part by part, with the deviations below."""
    paper, unit = found[0].paper, _unit(found[0].paper)
    backbones = list(dict.fromkeys(one.backbone for compared in found for one in compared.published))
    body: list[list[Cell]] = [line for compared in found for line in _lines(compared, backbones)]
    columns = [Column("run"), Column("part"), Column("this run", unit, "higher"), Column("samples")]
    columns += [Column(f"{name}, published", unit, "higher") for name in backbones]
    methods = ", ".join(dict.fromkeys(f"{one.row.label}: {one.published[0].method}" for one in found))
    below = [f"Published: {paper.citation.strip()}; score {paper.metric}. Compared with: {methods}."]
    below += _of_all("Deviation", {one.row.label: deviations(one) for one in found})
    below += _of_all("Of the published values", {one.row.label: remarks(one) for one in found})
    return Sheet(f"{paper.title}: part by part", columns, body, below)


def _of_all(title: str, lines: Mapping[str, Sequence[str]]) -> list[str]:
    """Lines that rows share said once, with the rows where not all have it."""
    whose: dict[str, list[str]] = {}
    for label, of in lines.items():
        for line in of:
            whose.setdefault(line, []).append(label)
    names = {line: "" if len(of) == len(lines) else f" ({', '.join(of)})" for line, of in whose.items()}
    return [f"{title}{name}: {line}" for line, name in names.items()]


def _lines(compared: PublishedComparison, backbones: Sequence[str]) -> Iterator[list[Cell]]:
    """A row's parts, means of them where they are grouped, and the total over what it and its published ones share."""
    paper, label = compared.paper, compared.row.label
    printed = [next((one for one in compared.published if one.backbone == name), None) for name in backbones]
    for group in dict.fromkeys(path[0] for path in compared.paths):
        paths = [path for path in compared.paths if path[0] == group]
        for path in paths:
            values = [None if one is None else one.values.get((path[0], path[-1])) for one in printed]
            name = path[-1] if paper.flat else "/".join(path)
            yield [
                label,
                name,
                _ours(compared.measured(path), paper),
                compared.count(path).replace("- of", "0 of"),
                *values,
            ]
        if not paper.flat:
            means = [one.outer[group].value if one and group in one.outer else None for one in printed]
            yield [label, f"{group}, mean", _ours(compared.measured((group,)), paper), f"{len(paths)} tasks", *means]
    if paper.single:
        return
    groups = compared.common
    totals = [None if one is None else one.total(groups).value for one in printed]
    name = f"{TOTAL} of what all columns share"
    yield [label, name, _ours(compared.over(groups), paper), f"{len(groups)} parts", *totals]


def _overview(found: Sequence[PublishedComparison]) -> Sheet:
    """All rows and all that they are compared with: means per group, and the total of each over what it has."""
    paper = found[0].paper
    printed = {one.label: one for compared in found for one in compared.published}
    known = {group for compared in found for group in compared.outer} | {
        g for one in printed.values() for g in one.outer
    }
    groups = list(dict.fromkeys(path[0] for compared in found for path in compared.paths if path[0] in known))
    body: list[list[Cell]] = [
        [one.row.label, "ours", *(_ours(one.measured(path), paper) for path in [*((group,) for group in groups), ()])]
        for one in found
    ]
    body += [[label, "published", *_printed(one, groups)] for label, one in printed.items()]
    unit = _unit(paper)
    columns = [Column("row"), Column("whose"), *(Column(group, unit, "higher") for group in (*groups, TOTAL))]
    below = [f"Published: {paper.citation.strip()}; score {paper.metric}."]
    return Sheet(f"{paper.title}: all rows", columns, body, below)


def _printed(one: Published, groups: Sequence[str]) -> list[Cell]:
    return [*(one.outer[group].value if group in one.outer else None for group in groups), one.total().value]


def _unit(paper: Paper) -> str:
    return PERCENT if paper.scale == _HUNDRED else ""


def _ours(metric: Metric, paper: Paper) -> Value | None:
    """A mean with its interval in the publication's unit."""
    if metric.value is None:
        return None
    low, high = (None if end is None else end * paper.scale for end in (metric.ci_low, metric.ci_high))
    return Value(metric.value * paper.scale, low, high, metric.n, metric.no_interval or "")
