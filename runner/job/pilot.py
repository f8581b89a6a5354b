"""What pilot samples tell of all samples: totals with their intervals, time, the longest conversation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist, fmean, stdev, variance
from typing import Any

from components.core.types import CONTEXT_LENGTH, Step, Trajectory
from components.core.usage import usage_of

COUNTED = ("calls", "input_tokens", "output_tokens", "cost_usd")


@dataclass
class Pilot:
    """A job's pilot samples. ``owed``: samples it has to play, ``per_minute``: its model's limits of requests and of
    tokens, ``lane``: what the jobs of its model have in common, ``taken``: per sample what is ``COUNTED``,
    ``longest``: tokens of the longest call and its reply, ``seconds`` per sample, ``asked``: seconds of every call that
    was sent, ``found``: how many were answered by the journal; ``errors``: kind -> number of samples that errored;
    ``overflows``: those that were longer than the window."""

    label: str
    owed: int
    connections: int
    window: int | None
    per_minute: tuple[int | None, int | None] = (None, None)
    lane: str = ""
    taken: list[Mapping[str, float | None]] = field(default_factory=list)
    longest: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    found: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    overflows: int = 0
    stopped: str = ""

    def add(self, trajectory: Trajectory, seconds: float) -> None:
        """Count a sample that was played."""
        if trajectory.stop == "error":
            kind = str(trajectory.error).partition(":")[0]
            self.errors[kind] = self.errors.get(kind, 0) + 1
            return
        steps = trajectory.steps
        purposes: list[Mapping[str, Any]] = [*usage_of(trajectory)["purposes"].values()]  # that of a judge is paid, too
        self.taken.append({name: _sum([of[name] for of in purposes]) for name in COUNTED})
        if trajectory.failure == CONTEXT_LENGTH:
            self.overflows += 1  # nobody knows how long its longest call was
        else:
            self.longest.append(max(map(_length, steps), default=0))
        self.seconds.append(seconds)
        self.asked += [step.seconds for step in steps if not step.replayed]
        self.found += sum(step.replayed for step in steps)

    def total(self, name: str) -> "Estimate | None":
        """What all owed samples take of something; None where a pilot sample does not tell."""
        values = [one[name] for one in self.taken]
        known = [float(value) for value in values if value is not None]
        return estimate(known, self.owed) if known and len(known) == len(values) else None

    @property
    def per_sample(self) -> float | None:
        """Seconds; what the journal answered at once is given the mean time of a call. None where nobody knows that."""
        if not self.seconds or (self.found and not self.asked):
            return None
        return fmean(self.seconds) + (self.found * fmean(self.asked) / len(self.seconds) if self.found else 0.0)

    @property
    def expected_longest(self) -> int:
        """Tokens of the longest call of all owed samples, if they are like a normal distribution's: at least that of
        the pilot."""
        seen = max(self.longest, default=0)
        if len(self.longest) < 2 or self.owed < 1:
            return seen
        reach = NormalDist().inv_cdf(1 - 1 / (self.owed + 1)) * stdev(self.longest)
        return max(seen, math.ceil(fmean(self.longest) + reach))


def wall(pilots: Sequence[Pilot]) -> float | None:
    """Seconds that jobs take which run at once, those of one model at its connections and its limits per minute."""
    lanes: dict[str, list[Pilot]] = {}
    for one in pilots:
        lanes.setdefault(one.lane, []).append(one)
    found = [_wall(lane) for lane in lanes.values()]
    known = [seconds for seconds in found if seconds is not None]
    return max(known) if known and len(known) == len(found) else None


def _wall(lane: Sequence[Pilot]) -> float | None:
    each = [one.per_sample for one in lane]
    known = [seconds for seconds in each if seconds is not None]
    if len(known) < len(each):
        return None
    played = sum(one.owed * seconds for one, seconds in zip(lane, known, strict=True))
    calls, tokens_in, tokens_out = (sum(_value(one, name) for one in lane) for name in COUNTED[:3])
    limits = zip((calls, tokens_in + tokens_out), lane[0].per_minute, strict=True)
    paced = [60 * amount / limit for amount, limit in limits if limit]
    return max(max(known), played / lane[0].connections, *paced)


def _length(step: Step) -> int:
    """Tokens of a call and its reply."""
    return (step.usage.input_tokens or 0) + (step.usage.output_tokens or 0)


def _value(pilot: Pilot, name: str) -> float:
    return found.value if (found := pilot.total(name)) else 0.0


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum; None where a value is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


@dataclass(frozen=True)
class Estimate:
    """A total with its variance; ``df`` 0 where one sample tells nothing of the spread."""

    value: float
    variance: float = 0.0
    df: int = 0

    @property
    def half(self) -> float | None:
        """Half of the 95 % interval (Student's t)."""
        if not self.df:
            return None
        from scipy.stats import t

        return float(t.ppf(0.975, self.df)) * math.sqrt(self.variance)


def estimate(values: Sequence[float], owed: int) -> Estimate:
    """The total of so many samples from some of them, drawn without replacement."""
    n = len(values)
    if n < 2:
        return Estimate(values[0] * owed)
    left = max(0.0, 1 - n / owed) if owed else 0.0
    return Estimate(fmean(values) * owed, owed**2 * left * variance(values) / n, n - 1)


def together(parts: Sequence[Estimate | None]) -> Estimate | None:
    """The sum of independent estimates; None where one is not known."""
    known = [one for one in parts if one is not None]
    if len(known) < len(parts) or not known:
        return None
    return Estimate(sum(one.value for one in known), sum(one.variance for one in known), sum(one.df for one in known))
