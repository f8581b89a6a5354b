"""The answer that most draws of an agent give: what self-consistency and panels settle by.

Source: Wang et al. 2023, ICLR, arXiv 2203.11171.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Majority:
    """``winner`` is None where no draw could be read. ``tie``: others have as many of the ``votes``."""

    winner: str | None
    tie: bool
    votes: Mapping[str, int]


def majority(samples: Sequence[str | None]) -> Majority:
    """Count what was read of each draw, in the order of drawing; None is a draw that could not be read."""
    votes = Counter(sample for sample in samples if sample is not None)
    if not votes:
        return Majority(None, False, {})
    most = max(votes.values())
    best = [sample for sample, n in votes.items() if n == most]  # in order of appearance
    return Majority(best[0], len(best) > 1, dict(votes))
