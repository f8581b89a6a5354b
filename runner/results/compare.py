"""What a sweep says of its methods: scores over datasets, what a question costs, differences to the best baseline."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from runner.results.grid import MEAN, Grid, grid_of
from runner.results.intervals import Metric
from runner.results.paired import Difference, Differences, differences, played
from runner.results.rows import Run
from runner.results.table import interval, number, show
from runner.results.usage import WHAT, per_question, said

FILE = "compare.json"
_HEAD = ("", "gain", "95 % interval", "pairs", "won:lost", "p", "Holm p")


def show_compare(runs: Sequence[Run], baselines: Sequence[str] | None = None, home: Path | None = None) -> None:
    """Print the tables where there are two methods or two datasets, and write them to ``home`` as compare.json.

    ``baselines`` None: those that the first run's config names.
    """
    grid = grid_of(runs)
    if not grid.several:
        return
    if baselines is None:
        baselines = ((runs[0].cfg.get("compare") or {}).get("baselines") if runs else None) or ()
    _scores(grid)
    used = {row.label: per_question(row.records) for row in grid.rows if row.records}
    show(("", *WHAT), [(label, *said(list(of.values()))) for label, of in used.items()], "per question, by method")
    found = differences(grid, baselines) if len(grid.rows) > 1 else {}
    if any(found.values()):
        _differences(grid, found, baselines)
    if home is not None:
        told = _told(grid, found) | {"baselines": played(grid, baselines), "per_question": used}
        (home / FILE).write_text(json.dumps(told, indent=1), encoding="utf-8")


def _scores(grid: Grid) -> None:
    """Rows are methods, columns datasets and their mean."""
    names = [*(column.label for column in grid.columns), *([MEAN] if grid.averages else [])]
    body = [(label, *(_cell(of.get(name)) for name in names)) for label, of in grid.metrics.items()]
    scores = list(dict.fromkeys(column.score or "no score" for column in grid.columns))
    show(("", *names), body, f"{scores[0] if len(scores) == 1 else 'headline scores'}, 95 % interval below")
    if len(scores) > 1:
        told = ", ".join(f"{column.label} {column.score or 'nothing'}" for column in grid.columns)
        print(f"scores, which are not averaged, as they differ: {told}")  # noqa: T201
    if lost := list(_unscored(grid)):
        print("unscored episodes, left out: " + ", ".join(lost))  # noqa: T201


def _cell(metric: Metric | None) -> str:
    """The value and its interval, one below the other."""
    if metric is None:
        return "-"
    return "\n".join(text for text in (number(metric.value), interval(metric.as_dict())) if text)


def _unscored(grid: Grid) -> Iterator[str]:
    for label, of in grid.metrics.items():
        for name, metric in of.items():
            if metric.unscored and name != MEAN:
                yield f"{label} {name} {metric.unscored:,}"


def _differences(grid: Grid, found: Differences, baselines: Sequence[str]) -> None:
    """A block per dataset: each method less what it is held against, which the block names where it is another.

    Where baselines are named, they are held against the best of them in the mean only; the file has all.
    """
    body: list[tuple[str, ...]] = []
    named = played(grid, baselines)
    below = {row.label for row in grid.rows if row.first.choices.get("agent") in named}
    for name, whole in found.items():
        short = MEAN in found and name != MEAN
        of = {label: one for label, one in whole.items() if not short or label not in below}
        if of:
            (usual, _), *_ = Counter(one.against for one in of.values()).most_common(1)
            body.append((f"{name}\nless {usual}", *[""] * (len(_HEAD) - 1)))
            body += [_line(label, one, usual) for label, one in of.items()]
    if baselines and not named:
        print(f"compare.baselines: no method here is {' or '.join(baselines)}")  # noqa: T201
    whom = f"the best of {', '.join(named)}" if named else "the best other method"
    show(_HEAD, body, f"paired differences to {whom}")
    print(_EXPLAINED)  # noqa: T201
    lost = [f"{label} {name} {one.unpaired:,}" for name, of in found.items() for label, one in of.items()
            if one.unpaired and name != MEAN]  # fmt: skip
    if lost:
        print("episodes without a scored partner, left out: " + ", ".join(lost))  # noqa: T201


_EXPLAINED = (
    "p: exact two-sided sign test on won and lost samples (McNemar's for scores of 0 and 1; a patient's\n"
    "samples, and a sample's epochs, count once), in the mean over all datasets' samples; Holm p:\n"
    "adjusted for all comparisons on the same data, those in compare.json too. The best is chosen on\n"
    "these same data, which favours it: true gains are, if anything, larger."
)


def _line(label: str, one: Difference, usual: str) -> tuple[str, ...]:
    value = "-" if one.metric.value is None else f"{round(one.metric.value, 4) + 0.0:+.4f}"
    p_values = ("-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}" for p in (one.p, one.p_holm))
    names = f"  {label}" + (f"\n  less {one.against}" if one.against != usual else "")
    return (
        names,
        value,
        interval(one.metric.as_dict()),
        f"{one.metric.n:,}",
        f"{one.wins:,}:{one.losses:,}",
        *p_values,
    )


def _told(grid: Grid, found: Differences) -> dict[str, Any]:
    """What the tables say, in numbers."""
    return {
        "scores": {column.label: column.score for column in grid.columns},
        "rows": {label: {name: one.as_dict() for name, one in of.items()} for label, of in grid.metrics.items()},
        "differences": {name: {label: one.as_dict() for label, one in of.items()} for name, of in found.items()},
    }
