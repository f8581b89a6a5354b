"""Metrics: a pure function of the records, with 95 % intervals and the same per stratum.

Intervals: Wilson for a proportion whose samples are independent, otherwise a percentile bootstrap over
clusters (patients), 1,000 resamples with a fixed seed. Where a proportion is 0 or 1 throughout, resampling
has nothing to vary: Wilson over the number of clusters. Source: Wilson 1927; Efron & Tibshirani 1993, ch. 13.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 1000
_BLOCK = 100_000  # weights held at a time
_Z = 1.959963984540054


@dataclass(frozen=True)
class Metric:
    """One number over many samples. ``n`` scored samples, ``unscored`` the others; the interval is None
    where it cannot be told (no or one cluster, or a total). ``ceiling``: what a perfect agent would reach.
    """

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    unscored: int = 0
    ceiling: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; without a ceiling when there is none."""
        return {name: value for name, value in asdict(self).items() if name != "ceiling" or value is not None}


def summarise(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Everything for ``metrics.json``: {"metrics": {name: ...}, "strata": {stratum: {value: {name: ...}}}}."""
    records = sorted(records, key=lambda r: (r["sample_id"], r["epoch"]))  # the order of finishing says nothing
    table, rows = _Table(records), _rows(records)
    whole = table.scores() | _endings(records, table)
    parts = {
        (stratum, value): table.scores(rows[stratum][value])
        for stratum in sorted(rows)
        for value in sorted(rows[stratum])
    }
    settle([one for part in (whole, *parts.values()) for one in part.values()])
    strata: dict[str, dict[str, Any]] = {}
    for (stratum, value), part in parts.items():
        strata.setdefault(stratum, {})[value] = {name: one.metric.as_dict() for name, one in part.items()}
    told = {name: one.metric for name, one in whole.items()} | _totals(records)
    return {"metrics": {name: metric.as_dict() for name, metric in told.items()}, "strata": strata}


def _rows(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[int]]]:
    """The numbers of the records in every value of every stratum."""
    rows: dict[str, dict[str, list[int]]] = {}
    for number, record in enumerate(records):
        for stratum, value in record["strata"].items():
            rows.setdefault(stratum, {}).setdefault(value, []).append(number)
    return rows


def metrics(records: Sequence[Mapping[str, Any]]) -> dict[str, Metric]:
    """Scores first, in the scorers' order, then how episodes ended, errors, cost, tokens, calls and time."""
    table = _Table(records)
    found = table.scores() | _endings(records, table)
    settle(list(found.values()))
    return {name: one.metric for name, one in found.items()} | _totals(records)


@dataclass
class Mean:
    """A metric on its way: without an interval yet where clusters have to be drawn for it.

    ``spread`` and ``sizes`` say of each scored cluster the sum of the deviations from the mean and the number.
    """

    metric: Metric
    spread: NDArray[np.float64] | None = None
    sizes: NDArray[np.intp] | None = None


class _Table:
    """The scores of records as one matrix, which strata are rows of."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        import numpy as np

        numbers: dict[str, int] = {}  # a record without a cluster is a cluster of its own sample
        clusters = [numbers.setdefault(record["cluster"] or record["sample_id"], len(numbers)) for record in records]
        self.clusters = np.array(clusters, dtype=np.intp)
        self._shapes = [tuple(record["scores"]) for record in records]
        self._columns = {name: n for n, name in enumerate(_names(self._shapes))}
        self._values, self._ceilings = (
            np.array([[record[kind].get(name) for record in records] for name in self._columns], dtype=float)
            for kind in ("scores", "ceilings")
        )

    def scores(self, rows: Sequence[int] | None = None) -> dict[str, Mean]:
        """Mean of every score over these records, or all; what is unscored is left out and counted."""
        import numpy as np

        at: Any = slice(None) if rows is None else np.array(rows)
        names = _names(self._shapes if rows is None else [self._shapes[n] for n in rows])
        clusters, out = self.clusters[at], {}
        for name in names:
            ceilings = self._ceilings[self._columns[name], at]
            known = ceilings[~np.isnan(ceilings)].tolist()
            ceiling = math.fsum(known) / len(known) if known else None
            out[name] = unsettled(self._values[self._columns[name], at], clusters, ceiling)
        return out


def _names(shapes: Iterable[tuple[str, ...]]) -> dict[str, None]:
    """Names of scores, in the scorers' order, given each record's."""
    return dict.fromkeys(name for shape in dict.fromkeys(shapes) for name in shape)


def mean(values: Sequence[float | None], clusters: Sequence[int], ceiling: float | None = None) -> Metric:
    """Mean of the values that are there, with its interval; ``clusters`` are numbers from 0."""
    import numpy as np

    found = unsettled(np.array(values, dtype=float), np.array(clusters, dtype=np.intp), ceiling)
    settle([found])
    return found.metric


def unsettled(values: NDArray[np.float64], clusters: NDArray[np.intp], ceiling: float | None = None) -> Mean:
    """Mean of the values that are no NaN, and what ``settle`` needs for an interval that has to be drawn."""
    import numpy as np

    there = ~np.isnan(values)
    scored = values[there]
    n, missing = len(scored), len(values) - len(scored)
    if n == 0:
        return Mean(Metric(None, unscored=missing, ceiling=ceiling))
    total = math.fsum(scored.tolist())
    sizes = np.bincount(clusters[there])
    drawable = sizes > 0
    n_clusters, binary = int(drawable.sum()), bool(((scored == 0.0) | (scored == 1.0)).all())
    metric = Metric(total / n, None, None, n, missing, ceiling)
    if binary and (n_clusters == n or total in (0.0, n)):
        low, high = wilson(total / n * n_clusters, n_clusters)
        return Mean(replace(metric, ci_low=low, ci_high=high))
    if n_clusters < 2:
        return Mean(metric)
    spread: NDArray[np.float64] = np.bincount(clusters[there], weights=scored - total / n).astype(np.float64)
    return Mean(metric, spread[drawable], sizes[drawable])


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion, in [0, 1]."""
    p, z2 = successes / n, _Z * _Z
    centre, half = p + z2 / (2 * n), _Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def settle(means: Sequence[Mean]) -> None:
    """Give the means their percentile intervals, whole clusters drawn again: one draw per number of clusters."""
    import numpy as np

    alike: dict[int, list[Mean]] = {}
    for one in means:
        if one.sizes is not None:
            alike.setdefault(len(one.sizes), []).append(one)
    for n, group in alike.items():
        columns = [column for one in group for column in (one.spread, one.sizes) if column is not None]
        matrix = np.stack(columns, axis=1).astype(np.float32)
        sums = np.concatenate([drawn @ matrix for drawn in _draws(n)]).astype(np.float64)
        low, high = np.percentile(sums[:, 0::2] / sums[:, 1::2], [2.5, 97.5], axis=0)
        for number, one in enumerate(group):
            value = one.metric.value or 0.0
            one.metric = replace(one.metric, ci_low=value + float(low[number]), ci_high=value + float(high[number]))


def _draws(n: int) -> Iterator[NDArray[np.float32]]:
    """How often each of n clusters is drawn in each resample, in blocks of resamples of about 1 MB."""
    import numpy as np

    rng, block = np.random.default_rng(0), max(1, _BLOCK // n)
    for start in range(0, RESAMPLES, block):
        k = min(block, RESAMPLES - start)
        drawn = rng.integers(0, n, (k, n)) + (np.arange(k) * n)[:, None]  # six times as fast as multinomial
        yield np.bincount(drawn.ravel(), minlength=k * n).reshape(k, n).astype(np.float32)


def _endings(records: Sequence[Mapping[str, Any]], table: _Table) -> dict[str, Mean]:
    """Shares of how episodes ended; errors among all, the others among those without error."""
    import numpy as np

    if not records:
        return {}
    stops = [record["stop"] for record in records]
    out: dict[str, Mean] = {}
    for stop in ("answered", "refused", "limit", "failed"):
        values = np.array([None if found == "error" else found == stop for found in stops], dtype=float)
        out[f"stop/{stop}"] = unsettled(values, table.clusters)
    out["errors/rate"] = unsettled(np.array([found == "error" for found in stops], dtype=float), table.clusters)
    return out


def _totals(records: Sequence[Mapping[str, Any]]) -> dict[str, Metric]:
    """Cost, tokens, calls and time; an unknown price makes the cost unknown, not zero."""
    n = len(records)
    if not n:
        return {}
    usage = [record["usage"] for record in records]
    costs = [u["cost_usd"] for u in usage if u["cost_usd"] is not None]
    seconds = sorted(record["seconds"] for record in records)
    out = {
        "cost/usd": Metric(math.fsum(costs) if len(costs) == n else None, n=len(costs), unscored=n - len(costs)),
        "tokens/input": Metric(sum(u["input_tokens"] for u in usage), n=n),
        "tokens/output": Metric(sum(u["output_tokens"] for u in usage), n=n),
        "calls/total": Metric(sum(u["calls"] for u in usage), n=n),
        "calls/per_sample": Metric(sum(u["calls"] for u in usage) / n, n=n),
        "time/seconds_p50": Metric(_quantile(seconds, 0.5), n=n),
        "time/seconds_p95": Metric(_quantile(seconds, 0.95), n=n),
    }
    purposes = dict.fromkeys(p for u in usage for p in u["purposes"])
    for purpose in purposes:
        calls = sum(u["purposes"].get(purpose, {"calls": 0})["calls"] for u in usage)
        out[f"calls/{purpose}"] = Metric(calls, n=n)
    return out


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
