"""Tables of runs next to published values: per task, per dimension, in total, and over all rows."""

from __future__ import annotations

from collections.abc import Sequence

from runner.results.beside import Beside, common
from runner.results.deviations import deviations, remarks
from runner.results.intervals import Metric
from runner.results.levels import Part
from runner.results.paper import Paper
from runner.results.published import TOTAL, Published, two
from runner.results.rows import Run, rows_of
from runner.results.table import show

_ROOM = 70  # characters for published columns beside a run's
_FEWER = "*"
_SHARED = f"{TOTAL}, shared"


def show_paper(paper: Paper, runs: Sequence[Run]) -> None:
    """Print a table for every row with its deviations from the published setting below it, then one over all rows."""
    found = [Beside.of(paper, row) for row in rows_of(runs, by_dataset=paper.by_dataset)]
    if paper.single:
        found = [one for one in found if one.published] or found
    for one in found:
        _show(one)
    if len(found) > 1 and not paper.single:
        _overview(found)
    print(f"published: {paper.citation}; means and totals are worked out from its values per task")  # noqa: T201


def _show(beside: Beside) -> None:
    """One row beside its counterparts, in as many tables as they need."""
    columns = list(beside.published)
    method = columns[0].method if columns else "no published counterpart"
    title = f"{beside.paper.title}\n{beside.row.label}: {beside.paper.metric} in percent ({method})"
    for part in _fitting(columns):
        head = ("", "this run", "95 % interval", "n of N", *([one.backbone for one in part] or ["published"]))
        show(head, _body(beside, part), title)
    if any(_FEWER in cell for line in _body(beside, columns) for cell in line):
        print(f"{_FEWER} a mean of fewer parts than there are")  # noqa: T201
    if len(groups := beside.common) < len({path[0] for path in beside.paths}) and groups:
        print(f"shared by all columns: {', '.join(groups)}")  # noqa: T201
    told = ("deviations from the published setting:", deviations(beside)), ("of the published values:", remarks(beside))
    for title, lines in told:
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


def _body(beside: Beside, published: Sequence[Published]) -> list[tuple[str, ...]]:
    """Tasks, the mean below them, and at the end the totals."""
    body: list[tuple[str, ...]] = []
    scale, paths = beside.paper.scale, beside.paths
    groups = list(dict.fromkeys(path[0] for path in paths))
    for group in groups:
        tasks = [path[-1] for path in paths if path[0] == group]
        for task in tasks:
            mine = beside.measured((group, task))
            cells = [_plain(one.values.get((group, task))) for one in published] or ["-"]
            name = task if beside.paper.flat else f"{group}/{task}"
            body.append((name, *_ours(mine, scale), beside.count((group, task)), *cells))
        if beside.paper.flat:
            continue
        mine = beside.measured((group,))
        n = sum(beside.leaves.get((group, task), Part(None)).value is not None for task in tasks)
        means = [_mean(one, group, len(tasks)) for one in published] or ["-"]
        body.append((f"{group}/mean", *_ours(mine, scale, n < len(tasks)), f"{n} of {len(tasks)}", *means))
    if beside.paper.single:
        return body
    n = len(_there(beside))
    totals = [_plain(one.total().value, len(_there(one)) < len(groups)) for one in published] or ["-"]
    body.append((TOTAL, *_ours(beside.measured(()), scale, n < len(groups)), f"{n} of {len(groups)}", *totals))
    columns: list[Beside | Published] = [beside, *beside.published]
    if beside.common and any(len(_there(one)) > len(beside.common) for one in columns):
        totals = [_plain(one.total(beside.common).value) for one in published] or ["-"]
        mine = beside.over(beside.common)
        body.append((_SHARED, *_ours(mine, scale), f"{len(beside.common)} of {len(groups)}", *totals))
    return body


def _overview(found: Sequence[Beside]) -> None:
    """All rows and all published ones that they are compared with and share a part with: means, total, total over what
    all share."""
    printed = {
        one.label: one for beside in found for one in beside.published if not beside.outer.keys().isdisjoint(one.outer)
    }
    lines: list[Beside | Published] = [*found, *printed.values()]
    known = {group for one in lines for group in one.outer}
    groups = list(dict.fromkeys(path[0] for beside in found for path in beside.paths if path[0] in known))
    shared = common([one.outer for one in lines if _there(one)])
    fewer = bool(shared) and len(shared) < len(groups)
    body = []
    for beside in found:
        means = [*(beside.measured((group,)) for group in groups), beside.over()]
        means += [beside.over(shared)] if fewer else []
        body.append((beside.row.label, *(_ours(mean, beside.paper.scale)[0] for mean in means)))
    for label, one in printed.items():
        parts = [*(one.outer.get(group, Part(None)) for group in groups), one.total()]
        parts += [one.total(shared)] if fewer else []
        body.append((f"published: {label}", *(_plain(part.value) for part in parts)))
    head = ("", *groups, TOTAL, *([_SHARED] if fewer else []))
    show(head, body, "all rows, in percent")
    if fewer:
        print(f"shared by all rows: {', '.join(shared)}")  # noqa: T201


def _there(one: Beside | Published) -> list[str]:
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
