"""Tables of runs next to published values: per task, per dimension, in total, and over all rows."""

from __future__ import annotations

from collections.abc import Sequence

from runner.results.deviations import deviations, remarks
from runner.results.intervals import Metric
from runner.results.levels import Part
from runner.results.paper import Paper
from runner.results.published import TOTAL, Published, two
from runner.results.published_comparison import PublishedComparison, common
from runner.results.rows import rows_of
from runner.results.runs import Run
from runner.results.table import show

_ROOM = 70  # characters for published columns beside a run's
_FEWER = "*"
_SHARED = f"{TOTAL}, shared"


def show_paper(paper: Paper, runs: Sequence[Run]) -> None:
    """Print a table for every row with its deviations from the published setting below it, then one over all rows."""
    found = [PublishedComparison.of(paper, row) for row in rows_of(runs, by_dataset=paper.by_dataset)]
    if paper.single:
        found = [one for one in found if one.published] or found
    for one in found:
        _show(one)
    if len(found) > 1 and not paper.single:
        _overview(found)
    print(f"published: {paper.citation}; means and totals are worked out from its values per task")  # noqa: T201


def _show(compared: PublishedComparison) -> None:
    """One row beside its counterparts, in as many tables as they need."""
    columns = list(compared.published)
    method = columns[0].method if columns else "no published counterpart"
    title = f"{compared.paper.title}\n{compared.row.label}: {compared.paper.metric} in percent ({method})"
    for part in _fitting(columns):
        head = ("", "this run", "95 % interval", "n of N", *([one.backbone for one in part] or ["published"]))
        show(head, _body(compared, part), title)
    if any(_FEWER in cell for line in _body(compared, columns) for cell in line):
        print(f"{_FEWER} a mean of fewer parts than there are")  # noqa: T201
    if len(groups := compared.common) < len({path[0] for path in compared.paths}) and groups:
        print(f"shared by all columns: {', '.join(groups)}")  # noqa: T201
    notes = (
        ("deviations from the published setting:", deviations(compared)),
        ("of the published values:", remarks(compared)),
    )
    for title, lines in notes:
        if lines:
            print(title, *(f"- {line}" for line in lines), sep="\n")  # noqa: T201
    print()  # noqa: T201


def _fitting(columns: Sequence[Published]) -> list[list[Published]]:
    """The columns, as many to a table as fit."""
    parts: list[list[Published]] = [[]]
    for one in columns:
        if parts[-1] and sum(len(other.backbone) + 3 for other in (*parts[-1], one)) > _ROOM:
            parts.append([])
        parts[-1].append(one)
    return parts


def _body(compared: PublishedComparison, published: Sequence[Published]) -> list[tuple[str, ...]]:
    """Tasks, the mean below them, and at the end the totals."""
    body: list[tuple[str, ...]] = []
    scale, paths = compared.paper.scale, compared.paths
    groups = list(dict.fromkeys(path[0] for path in paths))
    for group in groups:
        tasks = [path[-1] for path in paths if path[0] == group]
        for task in tasks:
            mine = compared.measured((group, task))
            cells = [_plain(one.values.get((group, task))) for one in published] or ["-"]
            name = task if compared.paper.flat else f"{group}/{task}"
            body.append((name, *_ours(mine, scale), compared.count((group, task)), *cells))
        if compared.paper.flat:
            continue
        mine = compared.measured((group,))
        n = sum(compared.leaves.get((group, task), Part(None)).value is not None for task in tasks)
        means = [_mean(one, group, len(tasks)) for one in published] or ["-"]
        body.append((f"{group}/mean", *_ours(mine, scale, n < len(tasks)), f"{n} of {len(tasks)}", *means))
    if compared.paper.single:
        return body
    n = len(_there(compared))
    totals = [_plain(one.total().value, len(_there(one)) < len(groups)) for one in published] or ["-"]
    body.append((TOTAL, *_ours(compared.measured(()), scale, n < len(groups)), f"{n} of {len(groups)}", *totals))
    columns: list[PublishedComparison | Published] = [compared, *compared.published]
    if compared.common and any(len(_there(one)) > len(compared.common) for one in columns):
        totals = [_plain(one.total(compared.common).value) for one in published] or ["-"]
        mine = compared.over(compared.common)
        body.append((_SHARED, *_ours(mine, scale), f"{len(compared.common)} of {len(groups)}", *totals))
    return body


def _overview(found: Sequence[PublishedComparison]) -> None:
    """All rows and all published ones that they are compared with and share a part with: means, total, total over what
    all share."""
    printed = {
        one.label: one
        for compared in found
        for one in compared.published
        if not compared.outer.keys().isdisjoint(one.outer)
    }
    lines: list[PublishedComparison | Published] = [*found, *printed.values()]
    known = {group for one in lines for group in one.outer}
    groups = list(dict.fromkeys(path[0] for compared in found for path in compared.paths if path[0] in known))
    shared = common([one.outer for one in lines if _there(one)])
    fewer = bool(shared) and len(shared) < len(groups)
    body = []
    for compared in found:
        means = [*(compared.measured((group,)) for group in groups), compared.over()]
        means += [compared.over(shared)] if fewer else []
        body.append((compared.row.label, *(_ours(mean, compared.paper.scale)[0] for mean in means)))
    for label, one in printed.items():
        parts = [*(one.outer.get(group, Part(None)) for group in groups), one.total()]
        parts += [one.total(shared)] if fewer else []
        body.append((f"published: {label}", *(_plain(part.value) for part in parts)))
    head = ("", *groups, TOTAL, *([_SHARED] if fewer else []))
    show(head, body, "all rows, in percent")
    if fewer:
        print(f"shared by all rows: {', '.join(shared)}")  # noqa: T201


def _there(one: PublishedComparison | Published) -> list[str]:
    return [name for name, part in one.outer.items() if part.value is not None]


def _ours(metric: Metric, scale: float, fewer: bool = False) -> tuple[str, str]:
    """A mean and its interval in the paper's unit."""
    if metric.value is None:
        return "-", ""
    ends = [f"{end * scale:.1f}" for end in (metric.ci_low, metric.ci_high) if end is not None]
    return _plain(metric.value * scale, fewer), " to ".join(ends) or metric.no_interval or ""


def _mean(one: Published, group: str, n: int) -> str:
    part = one.outer.get(group, Part(None))
    return _plain(part.value, part.n < n)


def _plain(value: float | None, fewer: bool = False) -> str:
    return "-" if value is None else two(value) + _FEWER * fewer
