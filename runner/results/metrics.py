"""Metrics: a pure function of the records, with 95 % intervals, the same per stratum, and means of means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from components.core.types import CONTEXT_LENGTH
from runner.results.intervals import Mean, Metric, MetricJSON, numbered, settle, unsettled
from runner.results.kinds import Kinds, Scale, kind_of
from runner.results.levels import Levels, nested_metrics
from runner.results.usage import by_purpose, total

OVERFLOWS = "errors/context_length"


class Summary(TypedDict):
    """The content of ``metrics.json``: metric -> value, and stratum -> value of it -> metric -> value."""

    metrics: dict[str, MetricJSON]
    strata: dict[str, dict[str, dict[str, MetricJSON]]]


def summarise(
    records: Sequence[Mapping[str, Any]], levels: Levels | None = None, by: Levels | None = None,
    kinds: Kinds | None = None,
) -> Summary:  # fmt: skip
    """Everything for ``metrics.json``.

    ``levels``: the scores of which means of means are wanted, ``by``: those wanted per value of a stratum too (see
    ``runner.results.levels``), ``kinds``: what their values can be (see ``runner.results.kinds``). A part has every
    score of the whole; one without a scored sample has the value None.
    """
    records = sorted(records, key=lambda r: (r["sample_id"], r["epoch"]))  # the order of finishing says nothing
    table, rows = _Table(records, kinds or {}), _rows(records)
    scores, endings = table.scores(), _endings(records, table)
    whole = scores | endings
    parts = {
        (stratum, value): table.scores(rows[stratum][value])
        for stratum in sorted(rows)
        for value in sorted(rows[stratum])
    }
    settle([one for part in (whole, *parts.values()) for one in part.values()])
    strata: dict[str, dict[str, dict[str, MetricJSON]]] = {}
    for (stratum, value), part in parts.items():
        strata.setdefault(stratum, {})[value] = {name: one.metric.as_dict() for name, one in part.items()}
    nested = nested_metrics(
        records, {name: strata for name, strata in (levels or {}).items() if name in scores}, kinds or {}
    )
    grouped = {
        f"{stratum}/{value}/{name}": part[name].metric
        for stratum in dict.fromkeys(stratum for of in (by or {}).values() for stratum in of)
        for name in scores
        if stratum in (by or {}).get(name, ())
        and len(rows.get(stratum, ())) > 1
        and scores[name].metric.value is not None  # what is not defined is so in every part
        for (of, value), part in parts.items()
        if of == stratum
    }
    found = {name: one.metric for name, one in scores.items()} | nested | grouped
    found |= {name: one.metric for name, one in endings.items()} | _totals(records)
    return {"metrics": {name: metric.as_dict() for name, metric in found.items()}, "strata": strata}


def as_json(summary: Summary) -> str:
    """The text of ``metrics.json``."""
    import orjson  # its thousands of numbers in a tenth of the time

    return orjson.dumps(summary, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode()


def _rows(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[int]]]:
    """The numbers of the records in every value of every stratum."""
    rows: dict[str, dict[str, list[int]]] = {}
    for number, record in enumerate(records):
        for stratum, value in record["strata"].items():
            rows.setdefault(stratum, {}).setdefault(value, []).append(number)
    return rows


def metrics(records: Sequence[Mapping[str, Any]], kinds: Kinds) -> dict[str, Metric]:
    """Scores first, in the scorers' order, then how episodes ended, errors, cost, tokens, calls and time."""
    table = _Table(records, kinds)
    found = table.scores() | _endings(records, table)
    settle(list(found.values()))
    return {name: one.metric for name, one in found.items()} | _totals(records)


class _Table:
    """The scores of records as one matrix, which strata are rows of."""

    def __init__(self, records: Sequence[Mapping[str, Any]], kinds: Kinds) -> None:
        import numpy as np

        self._kinds = kinds
        self.clusters = numbered(records)
        shapes = dict.fromkeys(tuple(record["scores"]) for record in records)
        self._columns = {name: n for n, name in enumerate(dict.fromkeys(name for shape in shapes for name in shape))}
        self._values, self._ceilings = (
            np.array([[record[kind].get(name) for record in records] for name in self._columns], dtype=float)
            for kind in ("scores", "ceilings")
        )

    def scores(self, rows: Sequence[int] | None = None) -> dict[str, Mean]:
        """Mean of every score over these records, or all; what is unscored is left out and counted."""
        import numpy as np

        at: Any = slice(None) if rows is None else np.array(rows)
        clusters, out = self.clusters[at], {}
        for name, column in self._columns.items():
            ceilings = self._ceilings[column, at]
            known = ceilings[~np.isnan(ceilings)].tolist()
            ceiling = math.fsum(known) / len(known) if known else None
            out[name] = unsettled(self._values[column, at], clusters, Scale(kind_of(name, self._kinds)), ceiling)
        return out


def _endings(records: Sequence[Mapping[str, Any]], table: _Table) -> dict[str, Mean]:
    """Shares of how episodes ended; errors among all, the others among those without error.

    ``errors/context_length`` is a part of ``stop/failed``: failures of the model's window, which are scored.
    """
    import numpy as np

    if not records:
        return {}
    stops = [record["stop"] for record in records]
    out, share = dict[str, Mean](), Scale("proportion")
    for stop in ("answered", "refused", "limit", "failed"):
        values = np.array([None if found == "error" else found == stop for found in stops], dtype=float)
        out[f"stop/{stop}"] = unsettled(values, table.clusters, share)
    out["errors/rate"] = unsettled(np.array([found == "error" for found in stops], dtype=float), table.clusters, share)
    out[OVERFLOWS] = unsettled(np.array([overflowed(record) for record in records], dtype=float), table.clusters, share)
    return out


def _totals(records: Sequence[Mapping[str, Any]]) -> dict[str, Metric]:
    """Cost, tokens, calls and time; where a call did not tell, a sum is unknown, not zero."""
    n = len(records)
    if not n:
        return {}
    usage = [record["usage"] for record in records]
    seconds = sorted(record["seconds"] for record in records)
    return {
        "cost/usd": total([u["cost_usd"] for u in usage]),
        "tokens/input": total([u["input_tokens"] for u in usage]),
        "tokens/output": total([u["output_tokens"] for u in usage]),
        "calls/total": Metric(sum(u["calls"] for u in usage), n=n),
        "calls/per_sample": Metric(sum(u["calls"] for u in usage) / n, n=n),
        "time/seconds_p50": Metric(_quantile(seconds, 0.5), n=n),
        "time/seconds_p95": Metric(_quantile(seconds, 0.95), n=n),
        **by_purpose(records),
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def overflowed(record: Mapping[str, Any]) -> float | None:
    """1 where an episode failed because a request was longer than the model takes, else 0; None after an error."""
    if record["stop"] == "error":
        return None
    return float(record["stop"] == "failed" and record.get("failure") == CONTEXT_LENGTH)


def overflow_line(metrics: Mapping[str, MetricJSON]) -> str | None:
    """How many episodes failed so, in words; None where none did."""
    share = metrics.get(OVERFLOWS)
    if share is None or not share["value"]:
        return None
    n = share["n"]
    return f"context:    {round(share['value'] * n)} of {n} episodes failed: longer than the model's context window"
