"""Pairs of episodes: the same sample and epoch, scored on both sides; what has no partner is counted and named."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runner.results.directions import improved
from runner.results.endings import OVERFLOWS, overflowed
from runner.results.intervals import numbered
from runner.results.kinds import Scale
from runner.results.page.parts import Better

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Record = Mapping[str, Any]
_USAGE = {"cost/usd": "cost_usd", "tokens/input": "input_tokens", "tokens/output": "output_tokens",
          "calls/per_sample": "calls"}  # fmt: skip
_SECONDS, _DIGITS = "time/seconds", 12
OWN = ("stop/answered", "stop/refused", "stop/limit", "stop/failed", OVERFLOWS, *_USAGE, _SECONDS)  # beside the scores


def value_of(record: Record, metric: str) -> float | None:
    """A score of an episode, or what it cost; None is unscored, as everything is of one that ended in an error."""
    if record["stop"] == "error":
        return None
    if metric == OVERFLOWS:
        return overflowed(record)
    if metric.startswith("stop/"):
        return float(record["stop"] == metric.partition("/")[2])
    found = record["usage"][_USAGE[metric]] if metric in _USAGE else record["scores"].get(metric)
    found = record["seconds"] if metric == _SECONDS else found
    return None if found is None else float(found)


def cluster_of(record: Record) -> str:
    """The patient, or where there is none the sample."""
    return str(record["cluster"] or record["sample_id"])


@dataclass(frozen=True)
class Pairs:
    """``records``: mine, with the gain over the other side as their only score; ``lost``: reason -> episodes without
    a partner; ``scale``: what the gains can be."""

    metric: str
    records: Sequence[Record]
    lost: Mapping[str, Sequence[str]]
    scale: Scale

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The gains."""
        import numpy as np

        return np.array([record["scores"][self.metric] for record in self.records], dtype=float)

    @cached_property
    def clusters(self) -> NDArray[np.intp]:
        """The number of each pair's cluster, from 0."""
        return numbered(self.records)

    @property
    def n_lost(self) -> int:
        """How many episodes of either side have no partner."""
        return sum(map(len, self.lost.values()))


def pairs_of(
    mine: Sequence[Record], theirs: Sequence[Record], metric: str, scale: Scale, direction: Better = "higher"
) -> Pairs:
    """Pair the episodes of two methods; a gain is positive where mine is better. ``scale`` of the metric itself."""
    left, right = _by_key(mine), _by_key(theirs)
    records: list[Record] = []
    lost: dict[str, list[str]] = {}
    for key in sorted(left.keys() | right.keys(), key=str):
        reason = _why_lost(left.get(key), right.get(key), metric)
        if reason:
            lost.setdefault(reason, []).append(f"{key[0]} (epoch {key[1]})" if key[1] else key[0])
            continue
        value, other = value_of(left[key], metric), value_of(right[key], metric)
        assert value is not None and other is not None, "both are scored"
        records.append({**left[key], "scores": {metric: improved(_less(value, other), direction)}})
    return Pairs(metric, records, lost, replace(scale, difference=True))


def _less(value: float, other: float) -> float:
    """A difference to as many digits as both numbers tell: 0.3 less 0.2 is 0.4 less 0.3."""
    size = max(abs(value), abs(other))
    return round(value - other, _DIGITS - math.ceil(math.log10(size))) if size else 0.0


def _by_key(records: Sequence[Record]) -> dict[tuple[str, int], Record]:
    return {(str(record["sample_id"]), int(record["epoch"])): record for record in records}


def _why_lost(mine: Record | None, theirs: Record | None, metric: str) -> str:
    """Why two episodes make no pair; empty where they do."""
    if mine is None or theirs is None:
        return "played on one side only"
    if "error" in (mine["stop"], theirs["stop"]):
        return "ended in an error"
    return "" if None not in (value_of(mine, metric), value_of(theirs, metric)) else "unscored"
