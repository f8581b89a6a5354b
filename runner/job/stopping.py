"""When a run stops by itself: samples that error one after the other, and more of them than are permitted.

A sample that errors by itself stops nothing: the others are played, and it is run again on resume.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.core.errors import OVERFLOW

_FEW = 10
_OF_THE_ENDPOINT = frozenset({"auth", "connection", "quota", "rate_limit", "server", "timeout"})
_OF_THE_SAMPLE = OVERFLOW  # of a judge's request; it says nothing of the samples that follow


@dataclass
class ErrorStreak:
    """How many samples errored since one ended well; ``well``: whether any did. ``connections``: samples at once."""

    connections: int
    n: int = 0
    well: bool = False

    def add(self, errored: bool) -> None:
        """One sample has ended."""
        self.n, self.well = (self.n + 1, self.well) if errored else (0, True)

    @property
    def is_long(self) -> bool:
        """Whether that is no accident: the first few, or later twice as many as are in flight."""
        return self.n >= (max(_FEW, 2 * self.connections) if self.well else _FEW)


@dataclass
class StopRule:
    """Of one job. ``permitted``: samples that may error; ``silent``: the row of all jobs that ask the same model, of
    errors that are its endpoint's."""

    permitted: float
    silent: ErrorStreak
    _own: ErrorStreak = field(init=False)

    def __post_init__(self) -> None:
        self._own = ErrorStreak(self.silent.connections)

    def lost(self, record: Mapping[str, Any], errored: int) -> str | None:
        """Why to stop after a sample, with so many ``errored`` in all; None: go on."""
        failed, kind = record["stop"] == "error", str(record["error"]).partition(":")[0]
        if not failed or kind != _OF_THE_SAMPLE:
            self._own.add(failed)
        if not failed or kind in _OF_THE_ENDPOINT:
            self.silent.add(failed)
        long = [row.n for row in (self._own, self.silent) if row.is_long]
        if not long or errored <= self.permitted:
            return None
        return (
            f"{long[0]} samples errored one after the other, more than run.max_error_rate permits; the rest is left "
            "(run.max_error_rate=1 plays all)"
        )
