"""Metrics: a pure function of the records, with 95 % intervals and the same per stratum.

Intervals: Wilson for a proportion whose samples are independent, otherwise a percentile bootstrap over
clusters (patients), 1,000 resamples with a fixed seed. Where a proportion is 0 or 1 throughout, resampling
has nothing to vary: Wilson over the number of clusters. Source: Wilson 1927; Efron & Tibshirani 1993, ch. 13.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 1000
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
    strata: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for record in records:
        for stratum, value in record["strata"].items():
            strata.setdefault(stratum, {}).setdefault(value, []).append(record)
    return {
        "metrics": {name: m.as_dict() for name, m in metrics(records).items()},
        "strata": {
            stratum: {
                value: {name: m.as_dict() for name, m in scores(rows).items()} for value, rows in sorted(values.items())
            }
            for stratum, values in sorted(strata.items())
        },
    }


def metrics(records: Sequence[Mapping[str, Any]]) -> dict[str, Metric]:
    """Scores first, in the scorers' order, then how episodes ended, errors, cost, tokens, calls and time."""
    return {**scores(records), **_endings(records), **_totals(records)}


def scores(records: Sequence[Mapping[str, Any]]) -> dict[str, Metric]:
    """Mean of every score over the records; what is unscored is left out and counted."""
    names = dict.fromkeys(name for record in records for name in record["scores"])
    codes = _codes(records)
    out: dict[str, Metric] = {}
    for name in names:
        values = [record["scores"].get(name) for record in records]
        ceilings = [c for record in records if (c := record["ceilings"].get(name)) is not None]
        out[name] = mean(values, codes, math.fsum(ceilings) / len(ceilings) if ceilings else None)
    return out


def _codes(records: Sequence[Mapping[str, Any]]) -> list[int]:
    """The cluster of every record as a number; a record without one is a cluster of its own sample."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(record["cluster"] or record["sample_id"], len(numbers)) for record in records]


def mean(values: Sequence[float | None], clusters: Sequence[int], ceiling: float | None = None) -> Metric:
    """Mean of the values that are there, with its interval; ``clusters`` are numbers from 0."""
    import numpy as np

    array = np.array(values, dtype=float)
    there = ~np.isnan(array)
    scored, codes = array[there], np.asarray(clusters)[there]
    n = len(scored)
    if n == 0:
        return Metric(None, unscored=len(values), ceiling=ceiling)
    total = math.fsum(scored)
    counts = np.bincount(codes)
    n_clusters, binary = int((counts > 0).sum()), bool(np.isin(scored, (0.0, 1.0)).all())
    if binary and (n_clusters == n or total in (0.0, n)):
        interval: tuple[float | None, float | None] = wilson(total / n * n_clusters, n_clusters)
    else:
        sums = np.bincount(codes, weights=scored).astype(np.float64)
        interval = bootstrap(sums[counts > 0], counts[counts > 0])
    return Metric(total / n, *interval, n, len(values) - n, ceiling)


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion, in [0, 1]."""
    p, z2 = successes / n, _Z * _Z
    centre, half = p + z2 / (2 * n), _Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def bootstrap(sums: NDArray[np.float64], counts: NDArray[np.intp]) -> tuple[float | None, float | None]:
    """Percentile interval of the mean when whole clusters, given by sum and size, are drawn again.

    (None, None) for fewer than two clusters.
    """
    import numpy as np

    if len(sums) < 2:
        return None, None
    drawn = _weights(len(sums))
    low, high = np.percentile((drawn @ sums) / (drawn @ counts), [2.5, 97.5])
    return float(low), float(high)


@lru_cache(maxsize=8)
def _weights(n: int) -> NDArray[np.float64]:
    """How often each of n clusters is drawn in each resample: (RESAMPLES, n)."""
    import numpy as np

    return np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)


def _endings(records: Sequence[Mapping[str, Any]]) -> dict[str, Metric]:
    """Shares of how episodes ended; errors among all, the others among those without error."""
    clusters = _codes(records)
    out: dict[str, Metric] = {}
    if not records:
        return out
    for stop in ("answered", "refused", "limit", "failed"):
        values = [None if r["stop"] == "error" else float(r["stop"] == stop) for r in records]
        out[f"stop/{stop}"] = mean(values, clusters)
    out["errors/rate"] = mean([float(r["stop"] == "error") for r in records], clusters)
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
