"""In which direction a metric improves: scorers name in ``lower`` what is better low, the runner's own stand here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from runner.results.page.parts import Better

_LOW = ("errors/", "cost/", "tokens/", "calls/", "time/", "stop/failed", "stop/limit")
_NEITHER = ("stop/",)  # to answer or to refuse is not good in itself
ARROWS: dict[Better, str] = {"higher": "\N{UPWARDS ARROW}", "lower": "\N{DOWNWARDS ARROW}", "": ""}


def declared_lower(scorers: Mapping[str, Any]) -> list[str]:
    """The names of the scores that are better low, of all scorers that have any."""
    return [name for scorer in scorers.values() for name in getattr(scorer, "lower", ())]


def lower_of(manifests: Iterable[Mapping[str, Any]]) -> set[str]:
    """The scores that are better low, as the manifests of runs have them."""
    return {str(name) for notes in manifests for name in notes.get("lower") or ()}


def better(metric: str, lower: Collection[str] = ()) -> Better:
    """The direction of a metric, of a score or of its mean over some part (``task/x/<score>``); ``lower``: the scores
    that are better low, as the manifest has them."""
    if metric in lower or any(metric.endswith(f"/{name}") for name in lower):
        return "lower"
    if metric.startswith(_LOW):
        return "lower"
    return "" if metric.startswith(_NEITHER) else "higher"


def improved(difference: float, direction: Better) -> float:
    """A difference (mine less another's) as a gain: positive is better."""
    return -difference if direction == "lower" else difference
