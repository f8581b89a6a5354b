"""Estimate the calls, tokens, cost and time of a sweep from a few of its samples. Unknown values are NaN."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from statistics import NormalDist, fmean, stdev
from typing import Any

import numpy as np

from components.core.errors import ModelError, RunLimitReached
from components.core.traits import ModelTraits, declared
from components.core.types import CONTEXT_LENGTH, Trajectory
from components.core.usage import usage_of
from runner.episode.budget import Spent
from runner.episode.episode import run_episode
from runner.episode.progress import clock
from runner.experiment.experiment import study
from runner.job.prepare import Job
from runner.job.shared_resources import SharedResources, lane_of
from runner.learning.memory import with_memory
from runner.results.terminal import show
from runner.storage.records import read
from runner.terminal.command import print_lines

COUNTED = ("calls", "input_tokens", "output_tokens", "cost_usd")
_TIGHT = 0.8  # share of the window beyond which a conversation is said to be close to it
_UNKNOWN = "not known"


async def run_preflight(jobs: Sequence[Job]) -> tuple[bool, Spent]:
    """Run pilot samples of jobs, print the estimates, and ask. Returns whether to continue, and the spending."""
    first, spent = jobs[0].experiment, Spent()
    k = first.cfg["run"]["pilot"]
    async with SharedResources(first.budget, len(jobs), len(jobs), spent) as resources:
        pilots = await asyncio.gather(*(_pilot(job, resources, k) for job in jobs))
    present(pilots, k)
    begun = time.monotonic()
    approved = ask_to_continue(sum_of([one.total("cost_usd") for one in pilots]), first.cfg["budget"]["ask_above_usd"])
    spent.started += time.monotonic() - begun  # time at the question does not count for budget.run.seconds
    return approved, spent


async def _pilot(job: Job, resources: SharedResources, k: int) -> Pilot:
    experiment = job.experiment
    remaining = len(experiment.episodes) - sum(one["stop"] != "error" for one in read(job.folder))
    main = experiment.models["main"]
    traits = declared(main, ModelTraits)
    limits = traits.requests_per_minute, traits.tokens_per_minute
    label = experiment.launch.label or experiment.name
    pilot = Pilot(label, remaining, main.max_connections, traits.context_tokens, limits, lane_of(experiment.cfg))
    study(experiment)
    async with AsyncExitStack() as own:
        shared = resources.share(experiment, own)
        door = resources.door(shared)
        lease = resources.lease(shared, asyncio.Event())
        try:
            shared, _ = await with_memory(shared, door)

            async def run(place: int) -> None:
                async with lease:
                    started = time.monotonic()
                    trajectory, _ = await run_episode(shared.parts, door, shared.samples[place], 0)
                    pilot.add(trajectory, time.monotonic() - started)

            rng, n = Random(f"{experiment.seed}/preflight"), len(experiment.samples)
            await asyncio.gather(*(run(place) for place in sorted(rng.sample(range(n), min(k, n)))))
        except (ModelError, RunLimitReached) as error:
            pilot.stopped = str(error)
    return pilot


def present(pilots: Sequence[Pilot], k: int) -> None:
    """Print what every job and all together will take."""
    head = ("job", "samples", "calls", "tokens in", "tokens out", "USD", "time at its limits")
    rows = [(one.label, [one]) for one in pilots] + ([("all", [*pilots])] if len(pilots) > 1 else [])
    body = []
    for label, of in rows:
        cells = [label, f"{sum(one.remaining for one in of):,}"]
        for name in COUNTED:
            total, form = sum_of([one.total(name) for one in of]), ",.2f" if name == "cost_usd" else ",.0f"
            low, high = max(0.0, total.value - total.half), total.value + total.half
            interval = f"\n{low:{form}} to {high:{form}}" if total.df else ""
            cells.append(_UNKNOWN if math.isnan(total.value) else f"{total.value:{form}}{interval}")
        seconds = wall_time(of)
        body.append((*cells, _UNKNOWN if math.isnan(seconds) else clock(math.ceil(seconds))))
    show(head, body, f"preflight: from {k} pilot samples of each job, 95 % interval below")
    print_lines(*warnings_of(pilots))


def warnings_of(pilots: Sequence[Pilot]) -> Iterator[str]:
    """What the pilot says of windows, errors and budgets."""
    for one in pilots:
        if one.overflows:
            yield f"note: {one.label}: {one.overflows} pilot samples were longer than the window (context_length)"
        for kind, n in one.errors.items():
            yield f"note: {one.label}: {n} pilot samples errored ({kind}); they are not counted"
        if one.stopped:
            yield f"note: {one.label}: the pilot stopped early: {one.stopped}"
        longest, expected = max(one.longest, default=0), one.expected_longest
        if one.window and (longest > _TIGHT * one.window or expected > one.window):
            yield (
                f"note: {one.label}: the longest call of the pilot had {longest:,} of the model's "
                f"{one.window:,} tokens, that of all samples may have {expected:,}; longer requests "
                "fail (context_length) and are scored 0"
            )


def ask_to_continue(cost: Estimate, above: float | None) -> bool:
    """Whether to continue: asked on a terminal where it may cost more than ``above``, or an unknown amount."""
    usd = cost.value + cost.half
    if above is None or usd <= above or not sys.stdin.isatty():
        return True
    what = "an unknown amount" if math.isnan(usd) else f"up to ${usd:,.2f}"
    print(f"this may cost {what} (budget.ask_above_usd={above:g}); continue? [y/N] ", end="", flush=True)  # noqa: T201
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@dataclass
class Pilot:
    """A job's pilot samples. ``remaining``: samples it has to run, ``per_minute``: its model's limits of requests and
    of tokens, ``lane``: that of its model, ``taken``: per sample what is ``COUNTED``, ``longest``: tokens of its
    longest call and reply, ``seconds`` per sample, ``latencies``: seconds of calls that were sent, number of
    ``replayed`` calls, ``errors``: kind -> number of samples, ``overflows``: samples longer than the window."""

    label: str
    remaining: int
    connections: int
    window: int | None
    per_minute: tuple[int | None, int | None] = (None, None)
    lane: str = ""
    taken: list[Mapping[str, float]] = field(default_factory=list)
    longest: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    replayed: int = 0
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
        self.taken.append(
            {name: sum(math.nan if of[name] is None else float(of[name]) for of in purposes) for name in COUNTED}
        )
        if trajectory.failure == CONTEXT_LENGTH:
            self.overflows += 1  # the length of its longest call is unknown
        else:
            usages = [step.usage for step in steps]
            self.longest.append(max(((of.input_tokens or 0) + (of.output_tokens or 0) for of in usages), default=0))
        self.seconds.append(seconds)
        self.latencies += [step.seconds for step in steps if not step.replayed]
        self.replayed += sum(step.replayed for step in steps)

    def total(self, name: str) -> Estimate:
        """An estimate of what all remaining samples take."""
        return estimate([one[name] for one in self.taken], self.remaining)

    @property
    def per_sample(self) -> float:
        """Seconds; calls that the journal answered count with the mean time of a call."""
        if not self.seconds or (self.replayed and not self.latencies):
            return math.nan
        return fmean(self.seconds) + (
            self.replayed * fmean(self.latencies) / len(self.seconds) if self.replayed else 0.0
        )

    @property
    def expected_longest(self) -> int:
        """Tokens of the longest call of all remaining samples, if they are like a normal distribution's: at least
        that of the pilot."""
        seen = max(self.longest, default=0)
        if len(self.longest) < 2 or self.remaining < 1:
            return seen
        reach = NormalDist().inv_cdf(1 - 1 / (self.remaining + 1)) * stdev(self.longest)
        return max(seen, math.ceil(fmean(self.longest) + reach))


def wall_time(pilots: Sequence[Pilot]) -> float:
    """Seconds that jobs take which run at once, those of one model at its connections and its limits per minute."""
    lanes: dict[str, list[Pilot]] = {}
    for one in pilots:
        lanes.setdefault(one.lane, []).append(one)
    seconds = []
    for lane in lanes.values():
        calls, tokens_in, tokens_out = (np.nansum([one.total(name).value for one in lane]) for name in COUNTED[:3])
        limits = zip((calls, tokens_in + tokens_out), lane[0].per_minute, strict=True)
        worked = sum(one.remaining * one.per_sample for one in lane) / lane[0].connections
        paced = [60 * amount / limit for amount, limit in limits if limit]
        seconds += [worked, *paced, *(one.per_sample for one in lane)]
    return float(np.max(seconds))


@dataclass(frozen=True)
class Estimate:
    """A total with its variance; ``df`` 0 where one sample gives no spread."""

    value: float
    variance: float = 0.0
    df: int = 0

    @property
    def half(self) -> float:
        """Half of the 95 % interval (Student's t)."""
        if not self.df:
            return 0.0
        from scipy.stats import t

        return float(t.ppf(0.975, self.df)) * math.sqrt(self.variance)


def estimate(values: Sequence[float], remaining: int) -> Estimate:
    """The total of so many samples from some of them, drawn without replacement."""
    n = len(values)
    if n < 2:
        return Estimate(values[0] * remaining if values else math.nan)
    left = max(0.0, 1 - n / remaining) if remaining else 0.0
    return Estimate(fmean(values) * remaining, remaining**2 * left * float(np.var(values, ddof=1)) / n, n - 1)


def sum_of(parts: Sequence[Estimate]) -> Estimate:
    """The sum of independent estimates."""
    return Estimate(sum(one.value for one in parts), sum(one.variance for one in parts), sum(one.df for one in parts))
