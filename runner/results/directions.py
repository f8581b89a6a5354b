"""In which direction a metric improves, and what it counts: scorers say it of their scores, the runner of its own.

A scorer names in ``lower`` what is better low, in ``neither`` what is no better either way (how many tools it took),
and in ``units`` what its counts count (score -> ``steps``). What values can be is in ``runner.results.kinds``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from runner.results.sheets import Better

Notes = Mapping[str, Any]
_LOW = ("errors/", "cost/", "tokens/", "calls/", "time/", "stop/failed", "stop/limit")
_NEITHER = ("stop/",)  # to answer or to refuse is not good in itself
_UNITS = {"cost": "USD", "tokens": "tokens", "calls": "calls", "time": "s", "stop": "share", "errors": "share"}


def better(metric: str, manifests: Iterable[Notes] = ()) -> Better:
    """The direction of a metric, of a score or of its mean over some part (``task/x/<score>``), as the manifests of
    runs have it; empty where neither way is better."""
    notes = list(manifests)
    for way, own in (("lower", _LOW), ("neither", _NEITHER)):
        if metric.startswith(own) or any(_is_of(metric, name) for one in notes for name in one.get(way) or ()):
            return "lower" if way == "lower" else ""
    return "higher"


def units_of(notes: Notes) -> Mapping[str, str]:
    """Score -> unit, of a run's scores that are no proportions; older runs name these without their units."""
    found: Mapping[str, str] = notes.get("units") or dict.fromkeys(notes.get("count_scores") or (), "n")
    return found


def unit(metric: str, manifests: Iterable[Notes] = ()) -> str:
    """What the numbers of a metric count; empty for a score without a unit."""
    declared = (what for one in manifests for name, what in units_of(one).items() if _is_of(metric, name))
    return _UNITS.get(metric.partition("/")[0]) or next(declared, "")


def _is_of(metric: str, score: str) -> bool:
    return metric == score or metric.endswith(f"/{score}")


def improved(difference: float, direction: Better) -> float:
    """A difference (mine less another's) as a gain: positive is better, or higher where neither way is."""
    return -difference if direction == "lower" else difference
