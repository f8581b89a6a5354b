"""Tables of metrics: for the terminal and for Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runner.results import usage
from runner.results.directions import better
from runner.results.endings import OVERFLOWS

_TOTALS = ("cost", "tokens", "calls", "time")
_FIRST = ("total", "completion", "score", "execution", "refusal", "response", "planning")
_WIDE = 140  # where there is no terminal to ask
_GAP = 3  # characters between columns
HEAD = ("metric", "value", "95 % interval", "n", "ceiling")


def rows(metrics: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One row per metric that has a value somewhere to show."""
    return [
        (name, number(m["value"]), interval(m), count(m), number(m["ceiling"]) if "ceiling" in m else "")
        for name, m in metrics.items()
    ]


def present(title: str, metrics: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a run's metrics: those that have a value as a table, the undefined by name, totals in one line."""
    main = {n: m for n, m in metrics.items() if n.partition("/")[0] not in _TOTALS}
    there = {n: m for n, m in main.items() if m["value"] is not None}
    show(HEAD, rows(there), title)
    if undefined := [n for n in main if n not in there]:
        print(f"not defined here: {plain(', '.join(undefined))}")  # noqa: T201
    if metrics:
        print(totals(metrics))  # noqa: T201
    if used := usage.lines(metrics):
        show(usage.HEAD, used, usage.TITLE)


def headline(
    jobs: Sequence[Mapping[str, Mapping[str, Any]]],
    room: int,
    manifests: Sequence[Mapping[str, Any]] = (),
    named: Iterable[str] = (),
) -> list[str]:
    """The metrics to show beside each other: those that are ``named``, then those that are better one way, as the
    manifests of the jobs have it, the first of each group before the second of any; all with a value somewhere."""
    names = [n for n in dict.fromkeys(n for job in jobs for n in job) if better(n, manifests)]
    there = [n for n in names if any(_has(job, n) for job in jobs)]
    there = [n for n in there if "/".join(n.split("/")[2:]) not in there]  # the means of single parts of a score
    late = [n for n in ("errors/rate", OVERFLOWS, "cost/usd", "time/seconds_p50") if n in there]
    groups: dict[str, list[str]] = {}
    for name in there:
        if (group := name.partition("/")[0]) not in (*_TOTALS, "stop", "errors"):
            groups.setdefault(group, []).append(name)
    order = sorted(groups, key=lambda group: _FIRST.index(group) if group in _FIRST else len(_FIRST))
    longest = max(map(len, groups.values()), default=0)
    rounds = [groups[group][n] for n in range(longest) for group in order if n < len(groups[group])]
    rounds = [*dict.fromkeys([*(name for name in named if any(_has(job, name) for job in jobs)), *rounds])]
    return [*rounds[: max(1, room - len(late))], *late][:room]


def _has(job: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    return job.get(name, {}).get("value") is not None


def totals(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """Cost, tokens, calls and time of a run in one line."""
    value = {name: m["value"] for name, m in metrics.items()}
    cost = "cost not known" if value["cost/usd"] is None else f"${value['cost/usd']:.4f}"
    tokens = tokens_told(value["tokens/input"], value["tokens/output"])
    calls = f"{number(value['calls/total'])} calls ({value['calls/per_sample']:.1f} a sample)"
    return f"{calls}, {tokens}, {cost}, {value['time/seconds_p50']:.3f} s a sample (median)"


def tokens_told(asked: int | None, written: int | None) -> str:
    """Tokens in and out in words, also where a call did not report them."""
    if asked is None or written is None:
        return "tokens not known"
    return f"{number(asked)} tokens in, {number(written)} out"


def number(value: float | int | None) -> str:
    """Four significant places for shares and means, whole counts as they are, - for what is not known."""
    if value is None:
        return "-"
    if isinstance(value, int) or (value == int(value) and abs(value) >= 1000):
        return f"{int(value):,}"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def interval(metric: Mapping[str, Any]) -> str:
    """``low to high``, or why there is no interval; empty for a total."""
    if metric.get("ci_low") is None or metric.get("ci_high") is None:
        return metric.get("no_interval") or ""
    low, high = (round(metric[end], 3) + 0.0 for end in ("ci_low", "ci_high"))  # + 0.0: no minus zero
    return f"{low:.3f} to {high:.3f}"


def stacked(metric: Mapping[str, Any]) -> str:
    """The value and its interval, one below the other."""
    return "\n".join(filter(None, (number(metric["value"]), interval(metric))))


def count(metric: Mapping[str, Any]) -> str:
    """How many samples count, and how many were not scored."""
    return f"{metric['n']} (+{metric['unscored']} unscored)" if metric.get("unscored") else str(metric["n"])


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table; pipes in cells are escaped, control characters and line breaks are blanks."""
    lines = [[plain(cell) for cell in line] for line in (head, ["---"] * len(head), *body)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def plain(text: str) -> str:
    """A text of the data on one line, without characters that a terminal would obey."""
    shown = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())


def show(head: Sequence[str], body: Sequence[Sequence[str]], title: str, keys: int = 1) -> None:
    """Print a table on the terminal, as several where it is too wide, each with the first ``keys`` columns: nothing is
    cut. Names with a slash are set apart by the part before it."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDE
    with console.capture() as shown:  # rich takes a reader who leaves early for a failure
        if title:
            console.print(
                plain(title), style="italic", markup=False, highlight=False, soft_wrap=True
            )  # wider than its table
        for places in fitting(head, body, console.width, keys):
            table = Table(*(escape(_shown(head[place])) for place in places), box=box.SIMPLE_HEAD)
            for place, column, width in zip(places, table.columns, _widths(head, body, places), strict=True):
                most = _most(place, console.width, keys)
                column.overflow, column.no_wrap, column.max_width = "fold", width <= most, most
            for column in table.columns[keys:]:
                column.justify = "right"
            group = ""
            for row in body:
                if group and "/" in row[0] and row[0].partition("/")[0] != group:
                    table.add_section()
                group = row[0].partition("/")[0]
                table.add_row(*(escape(_shown(row[place])) for place in places))
            console.print(table)
    print(shown.get(), end="")  # noqa: T201


def _shown(cell: str) -> str:
    """A cell without characters that a terminal would obey; its line breaks stay."""
    return cell if cell.isprintable() else "\n".join(plain(line) for line in cell.split("\n"))


def fitting(head: Sequence[str], body: Sequence[Sequence[str]], room: int, keys: int = 1) -> list[list[int]]:
    """The columns of each table that a table has to be split into, the first ``keys`` in all; what is wider than half
    of the room, and of several keys what is wider than its share, is folded."""
    widths = _widths(head, body, range(len(head)))
    widths = [min(width, _most(place, room, keys)) + _GAP for place, width in enumerate(widths)]
    parts: list[list[int]] = []
    for place in range(keys, len(head)):
        if not parts or sum(widths[other] for other in (*parts[-1], place)) >= room:
            parts.append(list(range(keys)))
        parts[-1].append(place)
    return parts or [list(range(keys))]


def _most(place: int, room: int, keys: int) -> int:
    """How wide a column may be."""
    return room // (keys + 1) if place < keys else room // 2


def _widths(head: Sequence[str], body: Sequence[Sequence[str]], places: Sequence[int]) -> list[int]:
    """How wide columns are."""
    from rich.cells import cell_len

    return [max(cell_len(part) for row in (head, *body) for part in row[place].split("\n")) for place in places]


def times(n: int) -> str:
    """How often, in words."""
    return "once" if n == 1 else f"{n} times"
