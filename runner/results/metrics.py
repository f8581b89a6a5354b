"""Metrics: a pure function of the records, with 95 % intervals, the same per stratum, means of means; and what a
question costs, in total and by purpose of the calls."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from components.core.types import CONTEXT_LENGTH
from runner.results.intervals import Mean, Metric, MetricJSON, number_clusters, resample_intervals, unfinished_mean
from runner.results.kinds import Kinds, Scale, kind_of
from runner.results.levels import Levels, nested_metrics
from runner.results.sheets import USD, columns
from runner.storage.schema import Record

OVERFLOWS = "errors/context_length"
APART = "judge"  # the purpose of calls that ask about the agent; they are in no total
COLUMNS = columns(("calls", "calls"), ("tokens in", "tokens"), ("tokens out", "tokens"), ("USD", USD))
TOTALS = ("calls/total", "tokens/input", "tokens/output", "cost/usd")
_OF_A_PURPOSE: Mapping[str, Literal["calls", "input_tokens", "output_tokens", "cost_usd"]] = {
    "calls/{}": "calls", "tokens/{}/input": "input_tokens", "tokens/{}/output": "output_tokens", "cost/{}": "cost_usd",
}  # fmt: skip


class Summary(TypedDict):
    """The content of ``metrics.json``: metric -> value, and stratum -> value of it -> metric -> value."""

    metrics: dict[str, MetricJSON]
    strata: dict[str, dict[str, dict[str, MetricJSON]]]


def summarise(
    records: Sequence[Record], levels: Levels | None = None, by: Levels | None = None, kinds: Kinds | None = None
) -> Summary:
    """Everything for ``metrics.json``. ``levels``: the scores of which means of means are requested, ``by``: those
    requested per value of a stratum too (see ``runner.results.levels``), ``kinds``: what their values can be (see
    ``runner.results.kinds``). A part has every score of the whole; one without a scored sample has the value None."""
    records = sorted(records, key=lambda one: (one["sample_id"], one["epoch"]))  # the order of finishing says nothing
    levels, by, kinds = levels or {}, by or {}, kinds or {}
    table = _Table(records, kinds)
    scores, endings = table.scores(), _endings(records, table)
    rows: dict[str, dict[str, list[int]]] = {}  # stratum -> value -> the numbers of its records
    for number, record in enumerate(records):
        for stratum, value in record["strata"].items():
            rows.setdefault(stratum, {}).setdefault(value, []).append(number)
    parts = {name: {value: table.scores(of) for value, of in sorted(rows[name].items())} for name in sorted(rows)}
    every = [scores, endings, *(part for of in parts.values() for part in of.values())]
    resample_intervals(one for part in every for one in part.values())
    nested = nested_metrics(records, {name: strata for name, strata in levels.items() if name in scores}, kinds)
    grouped = {
        f"{stratum}/{value}/{name}": part[name].metric
        for stratum in dict.fromkeys(stratum for of in by.values() for stratum in of)
        for name, score in scores.items()
        if stratum in by.get(name, ()) and score.metric.value is not None  # what is not defined is so in every part
        for value, part in parts.get(stratum, {}).items()
        if len(parts[stratum]) > 1
    }
    found = _metrics(scores) | nested | grouped | _metrics(endings) | _totals(records)
    strata = {name: {value: as_dicts(_metrics(part)) for value, part in of.items()} for name, of in parts.items()}
    return {"metrics": as_dicts(found), "strata": strata}


def as_json(summary: Summary) -> str:
    """The text of ``metrics.json``."""
    import orjson  # its thousands of numbers in a tenth of the time

    return orjson.dumps(summary, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode()


def metrics(records: Sequence[Record], kinds: Kinds) -> dict[str, Metric]:
    """Scores first, in the scorers' order, then how episodes ended, errors, cost, tokens, calls and time."""
    table = _Table(records, kinds)
    means = table.scores() | _endings(records, table)
    resample_intervals(means.values())
    return _metrics(means) | _totals(records)


def _metrics(means: Mapping[str, Mean]) -> dict[str, Metric]:
    return {name: one.metric for name, one in means.items()}


def as_dicts(metrics: Mapping[str, Metric]) -> dict[str, MetricJSON]:
    """JSON-ready."""
    return {name: one.as_dict() for name, one in metrics.items()}


class _Table:
    """The scores of records as one matrix, of which strata are rows."""

    def __init__(self, records: Sequence[Record], kinds: Kinds) -> None:
        import numpy as np

        self._kinds = kinds
        self.clusters = number_clusters(records)
        self._columns = list(dict.fromkeys(name for record in records for name in record["scores"]))
        self._values = np.array([[one["scores"].get(name) for one in records] for name in self._columns], dtype=float)
        ceilings = [[one.get("ceilings", {}).get(name) for one in records] for name in self._columns]
        self._ceilings = np.array(ceilings, dtype=float)

    def scores(self, rows: Sequence[int] | None = None) -> dict[str, Mean]:
        """Mean of every score over these records, or all; what is unscored is left out and counted."""
        import numpy as np

        at: Any = slice(None) if rows is None else np.array(rows)
        clusters, means = self.clusters[at], {}
        for number, name in enumerate(self._columns):
            ceilings = self._ceilings[number, at]
            known = ceilings[~np.isnan(ceilings)].tolist()
            ceiling = math.fsum(known) / len(known) if known else None
            scale = Scale(kind_of(name, self._kinds))
            means[name] = unfinished_mean(self._values[number, at], clusters, scale, ceiling)
        return means


def _endings(records: Sequence[Record], table: _Table) -> dict[str, Mean]:
    """Shares of how episodes ended; errors among all, the others among those without error. ``errors/context_length``
    is a part of ``stop/failed``: failures of the model's window, which are scored."""
    if not records:
        return {}
    stops = [record["stop"] for record in records]
    values: dict[str, list[float | None]] = {
        f"stop/{name}": [None if stop == "error" else float(stop == name) for stop in stops]
        for name in ("answered", "refused", "limit", "failed")
    }
    values["errors/rate"] = [float(stop == "error") for stop in stops]
    values[OVERFLOWS] = [did_overflow(record) for record in records]
    return {name: unfinished_mean(of, table.clusters, Scale("proportion")) for name, of in values.items()}


def _totals(records: Sequence[Record]) -> dict[str, Metric]:
    """Cost, tokens, calls and time; where a call did not report them, a sum is unknown, not zero."""
    n = len(records)
    if not n:
        return {}
    usage = [record["usage"] for record in records]
    seconds = sorted(record["seconds"] for record in records)
    calls = sum(one["calls"] for one in usage)
    return {
        "cost/usd": total([one["cost_usd"] for one in usage]),
        "tokens/input": total([one["input_tokens"] for one in usage]),
        "tokens/output": total([one["output_tokens"] for one in usage]),
        "calls/total": Metric(calls, n=n),
        "calls/per_sample": Metric(calls / n, n=n),
        "time/seconds_p50": Metric(seconds[int(0.5 * n)], n=n),
        "time/seconds_p95": Metric(seconds[int(0.95 * n)], n=n),
        **by_purpose(records),
    }


def did_overflow(record: Record) -> float | None:
    """1 where an episode failed because a request was longer than the model takes, else 0; None after an error."""
    if record["stop"] == "error":
        return None
    return float(record["stop"] == "failed" and record.get("failure") == CONTEXT_LENGTH)


def overflow_line(metrics: Mapping[str, MetricJSON]) -> str | None:
    """How many episodes failed so, in words; None where none did."""
    if (share := metrics.get(OVERFLOWS)) is None or not share["value"]:
        return None
    failed = f"{round(share['value'] * share['n'])} of {share['n']} episodes failed"
    return f"context:    {failed}: longer than the model's context window"


def by_purpose(records: Sequence[Record]) -> dict[str, Metric]:
    """``calls/<purpose>``, ``tokens/<purpose>/input`` and ``/output``, ``cost/<purpose>``: totals over ``n`` episodes.
    A call whose price or tokens are not known makes that sum of its purpose None, never 0."""
    used = [record["usage"]["purposes"] for record in records]
    return {
        name.format(purpose): total([of[purpose][key] for of in used if purpose in of], len(records))
        for purpose in dict.fromkeys(purpose for purposes in used for purpose in purposes)
        for name, key in _OF_A_PURPOSE.items()
    }


def total(values: Sequence[float | None], n: int | None = None) -> Metric:
    """The sum over ``n`` episodes, by default as many as there are values; None where one of them is."""
    known = [value for value in values if value is not None]
    unknown, whole = len(values) - len(known), all(isinstance(value, int) for value in known)
    found = None if unknown else sum(known) if whole else math.fsum(known)
    return Metric(found, n=(len(values) if n is None else n) - unknown, unscored=unknown)


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
    """Totals per question; None for what is not known."""
    return [None if value is None else value / n for value in values]


def per_question(records: Sequence[Record]) -> dict[str, float | None]:
    """Calls, tokens and US dollars per episode; None for what is not known of a call."""
    sums = [total([record["usage"][key] for record in records]).value for key in _OF_A_PURPOSE.values()]
    return dict(zip((column.name for column in COLUMNS), divide(sums, len(records)), strict=True))
