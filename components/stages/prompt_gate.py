"""The gate of a refinement: a new prompt set is kept where a paired test says that it is better.

Each round tests on the same validation records again, so each gets an equal share of ``alpha`` (Bonferroni): where no
set that is tried is better than the first, the chance that any is kept is at most ``alpha``, however many rounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.core.errors import ConfigError
from components.core.learning import StageContext
from components.stages.prompt_history import number
from components.stages.prompt_trials import Tried

_OPEN = "there is no gate"


@dataclass(frozen=True)
class Gate:
    """``alpha`` None: open. ``rounds``: those that ``alpha`` is shared among."""

    metric: str
    alpha: float | None
    rounds: int

    @property
    def level(self) -> float | None:
        """The largest p with which a round's set is kept."""
        return None if self.alpha is None else self.alpha / self.rounds

    def check(self, records: int) -> None:
        """Whether so many validation records can pass it at all. Raises ConfigError."""
        if self.level is None:
            return
        if not records:
            raise ConfigError(
                "validation_records=0 leaves nothing to test on; give some, or alpha=null to keep each set"
            )
        least = 0.5 ** (records - 1)  # all records better, of 2^n signs
        if least > self.level:
            enough = 1 + math.ceil(-math.log2(self.level))
            raise ConfigError(
                f"validation_records={records}: a paired test on so few has no p below {number(least)}, and a round is"
                f" kept up to {self.said}; give {enough} or more, or alpha=null to keep each set"
            )

    @property
    def said(self) -> str:
        """The largest p in words."""
        shared = f" ({self.alpha} over {self.rounds} rounds)" if self.rounds > 1 else ""
        return f"{number(self.level)}{shared}"

    def decision(self, bench: StageContext, before: Tried | None, after: Tried | None) -> dict[str, Any]:
        """Whether the new set is kept, by which numbers, and why."""
        if before is None or after is None:
            return {"kept": True, "why": _OPEN}
        gain = dict(bench.gain(after.records, before.records, self.metric))
        reached = after.mean(self.metric) if after.count(self.metric) else None  # a set may break all there is
        scores = {"before": before.mean(self.metric), "after": reached, "gain": gain}
        if self.level is None:
            return {**scores, "kept": True, "why": _OPEN}
        lost = before.count(self.metric) - after.count(self.metric)
        better, p = (gain["gain"] or 0.0) > 0, gain["p"]
        kept = lost <= 0 and better and p is not None and p <= self.level
        return {**scores, "level": self.level, "kept": kept, "why": self._why(gain, lost, kept)}

    def _why(self, gain: Mapping[str, Any], lost: int, kept: bool) -> str:
        """Why a new set is kept or not."""
        test = f"{gain['test']} p {number(gain['p'])}"
        what = f"gain in {gain['metric']} {number(gain['gain'])} over {gain['pairs']} pairs, {test}"
        if lost > 0:
            return f"{what}, but {lost} episodes fewer have that score"
        if kept:
            return f"{what} <= {self.said}"
        if (gain["gain"] or 0.0) <= 0:
            return f"{what}: no gain"
        return f"{what}: not below {self.said}"
