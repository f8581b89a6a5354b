"""Metrics: a pure function of the records, with 95 % intervals, the same per stratum, means of means; and what a
question costs, in total and by purpose of the calls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from components.core.score_names import EXPECTED, RATED
from runner.results.arrays import Floats, Rows, np
from runner.results.intervals import Mean, Metric, MetricJSON, mean_of, resample_intervals, sum_of, unfinished_mean
from runner.results.kinds import Kinds, Scale, kind_of
from runner.results.levels import Levels, nested_metrics, rows_by_path
from runner.results.ratings import ONLY_RATED
from runner.results.sheets import USD, columns
from runner.results.table import OVERFLOWS, Table, rated_harm
from runner.storage.schema import Record

APART = "judge"  # the purpose of calls that ask about the agent; they are in no total
FEWEST_HARMED = 5  # patients that show how much harm varies
TOO_FEW_HARMED = "too few harmed"
COLUMNS = columns(("calls", "calls"), ("tokens in", "tokens"), ("tokens out", "tokens"), ("USD", USD))
TOTALS = ("calls/total", "tokens/input", "tokens/output", "cost/usd")
_OF_A_PURPOSE = {
    "calls/{}": "calls", "tokens/{}/input": "input_tokens", "tokens/{}/output": "output_tokens", "cost/{}": "cost_usd",
}  # fmt: skip


class Summary(TypedDict):
    """The content of ``metrics.json``: metric -> value, and stratum -> value of it -> metric -> value."""

    metrics: dict[str, MetricJSON]
    strata: dict[str, dict[str, dict[str, MetricJSON]]]


def summarise(
    records: Table | Iterable[Record], levels: Levels | None = None, by: Levels | None = None,
    kinds: Kinds | None = None, *, rated: bool = False,
) -> Summary:  # fmt: skip
    """Everything for ``metrics.json``. ``levels``: the scores of which means of means are requested, ``by``: those
    requested per value of a stratum too (see ``runner.results.levels``), ``kinds``: what their values can be (see
    ``runner.results.kinds``). Severities by a model are left out unless clinicians ``rated`` cases that it graded. A
    part has every score of the whole; one without a scored sample has the value None."""
    table = Table.of(records)
    levels, by, kinds = levels or {}, by or {}, kinds or {}
    names = [name for name in table.names("scores", table.in_order()) if rated or not name.startswith(ONLY_RATED)]
    scores, endings = _scores(table, names, kinds), _endings(table)
    strata = sorted({name for of in table.kinds for name in of})
    parts = {
        name: {value: _scores(table, names, kinds, rows) for (value,), rows in rows_by_path(table, [name]).items()}
        for name in strata
    }
    every = [scores, endings, *(part for of in parts.values() for part in of.values())]
    resample_intervals(one for part in every for one in part.values())
    nested = nested_metrics(table, {name: strata for name, strata in levels.items() if name in scores}, kinds)
    grouped = {
        f"{stratum}/{value}/{name}": part[name].metric
        for stratum in dict.fromkeys(stratum for of in by.values() for stratum in of)
        for name, score in scores.items()
        if stratum in by.get(name, ()) and score.metric.value is not None  # what is not defined is so in every part
        for value, part in parts.get(stratum, {}).items()
        if len(parts[stratum]) > 1
    }
    found = _metrics(scores) | nested | grouped | _metrics(endings) | _totals(table)
    by_stratum = {name: {value: as_dicts(_metrics(part)) for value, part in of.items()} for name, of in parts.items()}
    return {"metrics": as_dicts(found), "strata": by_stratum}


def as_json(summary: Summary) -> str:
    """The text of ``metrics.json``."""
    import orjson  # its thousands of numbers in a tenth of the time

    return orjson.dumps(summary, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode()


def metrics(records: Table | Iterable[Record], kinds: Kinds) -> dict[str, Metric]:
    """Scores first, in the scorers' order, then how episodes ended, errors, cost, tokens, calls and time."""
    table = Table.of(records)
    means = _scores(table, table.names("scores", table.in_order()), kinds) | _endings(table)
    resample_intervals(means.values())
    return _metrics(means) | _totals(table)


def _metrics(means: Mapping[str, Mean]) -> dict[str, Metric]:
    return {name: one.metric for name, one in means.items()}


def as_dicts(metrics: Mapping[str, Metric]) -> dict[str, MetricJSON]:
    """JSON-ready."""
    return {name: one.as_dict() for name, one in metrics.items()}


def _scores(table: Table, names: Sequence[str], kinds: Kinds, rows: Rows | None = None) -> dict[str, Mean]:
    """Mean of every score over these rows, or all; what is unscored is left out and counted."""
    rows, means = table.in_order(rows), {}
    for name in names:
        values, scale = table[f"scores/{name}"], Scale(kind_of(name, kinds))
        if name == EXPECTED:
            means[name] = mean_harm(table, values, rows, scale)
            continue
        ceilings = table[f"ceilings/{name}"][rows]
        there = ceilings[~np.isnan(ceilings)]
        ceiling = sum_of(there) / len(there) if len(there) else None
        means[name] = unfinished_mean(values[rows], table["number"][rows], scale, ceiling)
    return means


def mean_harm(table: Table, values: Floats, rows: Rows, scale: Scale) -> Mean:
    """The mean of expected harm over these rows, without an interval where one to four patients have harm: the rare
    worst cases are not among so few."""
    rows = table.in_order(rows)
    harms, clusters = rated_harm(values[rows], table.values(RATED)[rows]), table["number"][rows]
    found = unfinished_mean(harms, clusters, scale)
    if 0 < len(np.unique(clusters[harms > 0])) < FEWEST_HARMED:
        metric = replace(found.metric, ci_low=None, ci_high=None, no_interval=TOO_FEW_HARMED)
        return replace(found, metric=metric, resampled=None)
    return found


def _endings(table: Table) -> dict[str, Mean]:
    """Shares of how episodes ended; errors among all, the others among those without error. ``errors/context_length``
    is a part of ``stop/failed``: failures of the model's window, which are scored."""
    if not len(table):
        return {}
    values = {name: table.values(name) for name in ("stop/answered", "stop/refused", "stop/limit", "stop/failed")}
    values |= {"errors/rate": (table["stop"] == "error").astype(float), OVERFLOWS: table.values(OVERFLOWS)}
    return {name: mean_of(table, of, Scale("proportion")) for name, of in values.items()}


def _totals(table: Table) -> dict[str, Metric]:
    """Cost, tokens, calls and time; where a call did not report them, a sum is unknown, not zero."""
    n = len(table)
    if not n:
        return {}
    seconds, calls = sorted(table["seconds"].tolist()), _sum(table, "calls").value or 0
    return {
        "cost/usd": _sum(table, "cost_usd"),
        "tokens/input": _sum(table, "input_tokens"),
        "tokens/output": _sum(table, "output_tokens"),
        "calls/total": Metric(calls, n=n),
        "calls/per_sample": Metric(calls / n, n=n),
        "time/seconds_p50": Metric(seconds[int(0.5 * n)], n=n),
        "time/seconds_p95": Metric(seconds[int(0.95 * n)], n=n),
        **by_purpose(table, table.in_order()),
    }


def overflow_line(metrics: Mapping[str, MetricJSON]) -> str | None:
    """How many episodes failed so, in words; None where none did."""
    if (share := metrics.get(OVERFLOWS)) is None or not share["value"]:
        return None
    failed = f"{round(share['value'] * share['n'])} of {share['n']} episodes failed"
    return f"context:    {failed}: longer than the model's context window"


def by_purpose(table: Table, rows: Rows | None = None) -> dict[str, Metric]:
    """``calls/<purpose>``, ``tokens/<purpose>/input`` and ``/output``, ``cost/<purpose>``: totals over all episodes, in
    the order in which ``rows`` have the purposes. A call whose price or tokens are not known makes that sum of its
    purpose None, never 0."""
    names = (name.partition("/") for name in table.names("usage", rows))
    return {
        title.format(purpose): _sum(table, f"{key}/{purpose}")
        for purpose in dict.fromkeys(purpose for _, apart, purpose in names if apart)
        for title, key in _OF_A_PURPOSE.items()
    }


def _sum(table: Table, name: str) -> Metric:
    """What all episodes used together; None where it is not known of one."""
    column = table[f"usage/{name}"]
    known = column[~np.isnan(column)].tolist()
    unknown = sum(n for form, n in table.usage_forms.items() if name in form) - len(known)
    found = None if unknown else math.fsum(known) if name.startswith("cost") else int(sum(known))
    return Metric(found, n=len(table) - unknown, unscored=unknown)


def purposes_of(metrics: Mapping[str, object]) -> list[str]:
    """The purposes that metrics have totals of."""
    names = (name.split("/") for name in metrics)
    return [parts[1] for parts in names if parts[0] == "tokens" and parts[2:] == ["input"]]


def per_purpose(values: Mapping[str, float | None], n: int) -> dict[str, list[float | None]]:
    """Purpose -> calls, tokens in and out, dollars per question, of totals over n; empty for one purpose only."""
    purposes = purposes_of(values)
    if len(purposes) < 2:
        return {}
    return {purpose: divide([values[name.format(purpose)] for name in _OF_A_PURPOSE], n) for purpose in purposes}


def divide(values: Sequence[float | None], n: int) -> list[float | None]:
    """Totals per question; None for unknown values."""
    return [None if value is None else value / n for value in values]


def per_question(table: Table) -> dict[str, float | None]:
    """Calls, tokens and US dollars per episode; None if they are unknown for a call."""
    sums = [_sum(table, key).value for key in _OF_A_PURPOSE.values()]
    return dict(zip((column.name for column in COLUMNS), divide(sums, len(table)), strict=True))
