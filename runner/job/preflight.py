"""What a sweep will take, from a few of its samples: calls, tokens, money and time, before the rest is run.

The pilot's replies are in the journal, so that the sweep does not pay for them again.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from statistics import NormalDist, fmean, stdev, variance
from typing import TYPE_CHECKING, Any

from components.core.errors import ModelError, RunLimitReached
from components.core.types import CONTEXT_LENGTH, Step, Trajectory
from components.core.usage import usage_of
from runner.storage.records import read

if TYPE_CHECKING:
    from runner.episode.budget import Spent
    from runner.episode.door import Door
    from runner.experiment.experiment import Experiment
    from runner.job.prepare import Job
    from runner.job.shared_resources import Lease, SharedResources

_TIGHT = 0.8  # share of the window beyond which a conversation is said to be close to it


async def is_approved(jobs: Sequence[Job], spent: Spent) -> bool:
    """Run pilot samples of jobs, print the estimates, and ask whether to continue. Adds to ``spent``.

    Raises ConfigError.
    """
    from runner.job.shared_resources import SharedResources

    first = jobs[0].experiment
    k = first.cfg["run"]["pilot"]
    async with SharedResources(first.budget, len(jobs), len(jobs), spent) as resources:
        pilots = await asyncio.gather(*(_pilot(job, resources, k) for job in jobs))
    present(pilots, k)
    asked = time.monotonic()
    approved = ask_to_continue(highest_cost(pilots), first.cfg["budget"]["ask_above_usd"])
    spent.started += time.monotonic() - asked  # time at the question does not count for budget.run.seconds
    return approved


async def _pilot(job: Job, resources: SharedResources, k: int) -> Pilot:
    from components.core.traits import ModelTraits, declared
    from runner.experiment.experiment import study
    from runner.job.shared_resources import lane_of
    from runner.learning.memory import with_memory

    experiment = job.experiment
    owed = len(experiment.samples) * experiment.epochs - sum(one["stop"] != "error" for one in read(job.folder))
    main = experiment.models["main"]
    traits = declared(main, ModelTraits)
    limits = traits.requests_per_minute, traits.tokens_per_minute
    label = experiment.launch.label or experiment.name
    pilot = Pilot(label, owed, main.max_connections, traits.context_tokens, limits, lane_of(experiment.cfg))
    study(experiment)
    async with AsyncExitStack() as own:
        shared = resources.share(experiment, own)
        door = resources.door(shared)
        lease = resources.lease(shared, asyncio.Event())
        try:
            shared, _ = await with_memory(shared, door)
            rng = Random(f"{experiment.seed}/preflight")
            drawn = rng.sample(range(len(experiment.samples)), min(k, len(experiment.samples)))
            await asyncio.gather(*(_play(shared, door, place, lease, pilot) for place in sorted(drawn)))
        except (ModelError, RunLimitReached) as error:
            pilot.stopped = str(error)
    return pilot


async def _play(experiment: Experiment, door: Door, place: int, lease: Lease, pilot: Pilot) -> None:
    from runner.episode.episode import play

    loop = asyncio.get_running_loop()
    async with lease:
        started = loop.time()
        trajectory, _ = await play(experiment.parts, door, experiment.samples[place], 0)
        pilot.add(trajectory, loop.time() - started)


def present(pilots: Sequence[Pilot], k: int) -> None:
    """Print what every job and all together will take."""
    from runner.results.table import show

    head = ("job", "samples", "calls", "tokens in", "tokens out", "USD", "time at its limits")
    body = [(one.label, f"{one.owed:,}", *_cells([one]), _clock(wall_time([one]))) for one in pilots]
    if len(pilots) > 1:
        body.append(("all", f"{sum(one.owed for one in pilots):,}", *_cells(pilots), _clock(wall_time(pilots))))
    show(head, body, f"preflight: from {k} pilot samples of each job, 95 % interval below")
    for line in warnings_of(pilots):
        print(line)  # noqa: T201


def _cells(pilots: Sequence[Pilot]) -> Iterator[str]:
    for name in COUNTED:
        yield _formatted(sum_of([one.total(name) for one in pilots]), name)


def _formatted(found: Estimate | None, name: str) -> str:
    if found is None:
        return "not known"
    form = ",.2f" if name == "cost_usd" else ",.0f"
    half = found.half
    interval = "" if half is None else f"\n{max(0.0, found.value - half):{form}} to {found.value + half:{form}}"
    return f"{found.value:{form}}{interval}"


def warnings_of(pilots: Sequence[Pilot]) -> Iterator[str]:
    """What the pilot says of windows, errors and budgets."""
    for one in pilots:
        if one.overflows:
            yield f"note: {one.label}: {one.overflows} pilot samples were longer than the window (context_length)"
        for kind, n in one.errors.items():
            yield f"note: {one.label}: {n} pilot samples errored ({kind}); they are not counted"
        if one.stopped:
            yield f"note: {one.label}: the pilot broke off: {one.stopped}"
        longest, expected = max(one.longest, default=0), one.expected_longest
        if one.window and (longest > _TIGHT * one.window or expected > one.window):
            yield (
                f"note: {one.label}: the longest call of the pilot had {longest:,} of the model's "
                f"{one.window:,} tokens, that of all samples may have {expected:,}; what is longer than the window "
                "fails (context_length) and is scored 0"
            )


def highest_cost(pilots: Sequence[Pilot]) -> float | None:
    """The upper end of the interval of the whole cost in US dollars; None where it is not known."""
    found = sum_of([one.total("cost_usd") for one in pilots])
    return None if found is None else found.value + (found.half or 0.0)


def ask_to_continue(usd: float | None, above: float | None) -> bool:
    """Whether to continue: asked on a terminal where it may cost more than ``above``, or an unknown amount."""
    if above is None or (usd is not None and usd <= above) or not sys.stdin.isatty():
        return True
    what = "an unknown amount" if usd is None else f"up to ${usd:,.2f}"
    print(f"this may cost {what} (budget.ask_above_usd={above:g}); continue? [y/N] ", end="", flush=True)  # noqa: T201
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "not known"
    minutes, seconds = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


COUNTED = ("calls", "input_tokens", "output_tokens", "cost_usd")


@dataclass
class Pilot:
    """A job's pilot samples. ``owed``: samples it has to run, ``per_minute``: its model's limits of requests and of
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
        """Count a sample that was run."""
        if trajectory.stop == "error":
            kind = str(trajectory.error).partition(":")[0]
            self.errors[kind] = self.errors.get(kind, 0) + 1
            return
        steps = trajectory.steps
        purposes: list[Mapping[str, Any]] = [*usage_of(trajectory)["purposes"].values()]  # that of a judge is paid, too
        self.taken.append({name: _sum([of[name] for of in purposes]) for name in COUNTED})
        if trajectory.failure == CONTEXT_LENGTH:
            self.overflows += 1  # the length of its longest call is unknown
        else:
            self.longest.append(max(map(_tokens, steps), default=0))
        self.seconds.append(seconds)
        self.asked += [step.seconds for step in steps if not step.replayed]
        self.found += sum(step.replayed for step in steps)

    def total(self, name: str) -> Estimate | None:
        """An estimate of what all owed samples take; None where it is unknown of a pilot sample."""
        values = [one[name] for one in self.taken]
        known = [float(value) for value in values if value is not None]
        return estimate(known, self.owed) if known and len(known) == len(values) else None

    @property
    def per_sample(self) -> float | None:
        """Seconds; calls that the journal answered count with the mean time of a call. None where that is unknown."""
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


def wall_time(pilots: Sequence[Pilot]) -> float | None:
    """Seconds that jobs take which run at once, those of one model at its connections and its limits per minute."""
    lanes: dict[str, list[Pilot]] = {}
    for one in pilots:
        lanes.setdefault(one.lane, []).append(one)
    found = [_wall_time(lane) for lane in lanes.values()]
    known = [seconds for seconds in found if seconds is not None]
    return max(known) if known and len(known) == len(found) else None


def _wall_time(lane: Sequence[Pilot]) -> float | None:
    each = [one.per_sample for one in lane]
    known = [seconds for seconds in each if seconds is not None]
    if len(known) < len(each):
        return None
    worked = sum(one.owed * seconds for one, seconds in zip(lane, known, strict=True))
    calls, tokens_in, tokens_out = (sum(_total(one, name) for one in lane) for name in COUNTED[:3])
    limits = zip((calls, tokens_in + tokens_out), lane[0].per_minute, strict=True)
    paced = [60 * amount / limit for amount, limit in limits if limit]
    return max(max(known), worked / lane[0].connections, *paced)


def _tokens(step: Step) -> int:
    """Tokens of a call and its reply."""
    return (step.usage.input_tokens or 0) + (step.usage.output_tokens or 0)


def _total(pilot: Pilot, name: str) -> float:
    return found.value if (found := pilot.total(name)) else 0.0


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum; None where a value is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


@dataclass(frozen=True)
class Estimate:
    """A total with its variance; ``df`` 0 where one sample gives no spread."""

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


def sum_of(parts: Sequence[Estimate | None]) -> Estimate | None:
    """The sum of independent estimates; None where one is not known."""
    known = [one for one in parts if one is not None]
    if len(known) < len(parts) or not known:
        return None
    return Estimate(sum(one.value for one in known), sum(one.variance for one in known), sum(one.df for one in known))
