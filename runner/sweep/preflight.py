"""What a sweep will take, from a few of its samples: calls, tokens, money and time, before the rest is played.

The pilot's replies are in the journal, so playing the sweep pays them no second time.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

from components.errors import ModelError, RunLimitReached
from components.types import Trajectory
from runner.records import read, usage_of

if TYPE_CHECKING:
    from runner.budget import Spent
    from runner.commons import Commons
    from runner.experiment import Experiment
    from runner.places import Turn

COUNTED = ("calls", "input_tokens", "output_tokens", "cost_usd")
_TIGHT = 0.8  # share of the window beyond which a conversation is said to be close to it


@dataclass(frozen=True)
class Job:
    """What is asked about: a job that was built and checked, its folder, how to call it."""

    label: str
    experiment: Experiment
    folder: Path


@dataclass
class Pilot:
    """A job's pilot samples. ``owed``: samples it has to play, ``per_minute``: its model's limits of requests and of
    tokens, ``taken``: per sample what is ``COUNTED``, ``longest``: input tokens of the longest call, ``seconds`` per
    sample; ``errors``: kind -> number of samples that errored."""

    label: str
    owed: int
    connections: int
    window: int | None
    per_minute: tuple[int | None, int | None] = (None, None)
    taken: list[Mapping[str, float | None]] = field(default_factory=list)
    longest: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    stopped: str = ""

    def add(self, trajectory: Trajectory, seconds: float) -> None:
        """Count a sample that was played."""
        if trajectory.stop == "error":
            kind = str(trajectory.error).partition(":")[0]
            self.errors[kind] = self.errors.get(kind, 0) + 1
            return
        purposes = usage_of(trajectory)["purposes"].values()  # that of a judge is paid, too
        self.taken.append({name: _sum([of[name] for of in purposes]) for name in COUNTED})
        self.longest.append(max((step.usage.input_tokens or 0 for step in trajectory.steps), default=0))
        self.seconds.append(seconds)

    def total(self, name: str) -> Estimate | None:
        """What all owed samples take of something; None where a pilot sample does not tell."""
        values = [one[name] for one in self.taken]
        known = [float(value) for value in values if value is not None]
        return estimate(known, self.owed) if known and len(known) == len(values) else None

    @property
    def wall(self) -> float | None:
        """Seconds at the given number of connections, requests and tokens per minute."""
        if not self.seconds:
            return None
        calls, tokens_in, tokens_out = (total.value if (total := self.total(name)) else 0.0 for name in COUNTED[:3])
        taken = zip((calls, tokens_in + tokens_out), self.per_minute, strict=True)
        paced = [60 * amount / limit for amount, limit in taken if limit]
        return max(fmean(self.seconds), fmean(self.seconds) * self.owed / self.connections, *paced)


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


async def cleared(jobs: Sequence[Job], spent: Spent) -> bool:
    """Play the pilots, print what all will take; whether to go on. Adds to ``spent``. Raises ConfigError."""
    from runner.commons import Commons

    first = jobs[0].experiment
    k = first.cfg["run"]["pilot"]
    async with Commons(first.budget, len(jobs), len(jobs), spent) as commons:
        pilots = await asyncio.gather(*(_pilot(job, commons, k) for job in jobs))
    present(pilots, k)
    return confirmed(highest(pilots), first.cfg["budget"]["ask_above_usd"])


async def _pilot(job: Job, commons: Commons, k: int) -> Pilot:
    from runner.experiment import study
    from runner.learning import with_memory

    experiment = job.experiment
    finished = sum(record["stop"] != "error" for record in read(job.folder))
    main = experiment.models["main"]
    pilot = Pilot(
        job.label, len(experiment.samples) * experiment.epochs - finished, main.max_connections,
        getattr(main, "context_tokens", None),
        (getattr(main, "requests_per_minute", None), getattr(main, "tokens_per_minute", None)),
    )  # fmt: skip
    study(experiment)
    async with AsyncExitStack() as own:
        shared = commons.share(experiment, own)
        door = commons.door(shared)
        turn = commons.turn(shared, asyncio.Event())
        try:
            shared, _ = await with_memory(shared, door)
            rng = Random(f"{experiment.seed}/preflight")
            drawn = rng.sample(range(len(experiment.samples)), min(k, len(experiment.samples)))
            await asyncio.gather(*(_play(shared, door, place, turn, pilot) for place in sorted(drawn)))
        except (ModelError, RunLimitReached) as error:
            pilot.stopped = str(error)
    return pilot


async def _play(experiment: Experiment, door: Any, place: int, turn: Turn, pilot: Pilot) -> None:
    from runner.play import play

    loop = asyncio.get_running_loop()
    async with turn:
        started = loop.time()
        trajectory, _ = await play(experiment.parts, door, experiment.samples[place], 0)
        pilot.add(trajectory, loop.time() - started)


def present(pilots: Sequence[Pilot], k: int) -> None:
    """Print what every job and all together will take."""
    from runner.results.table import show

    head = ("job", "samples", "calls", "tokens in", "tokens out", "USD", "time at its limits")
    body = [(one.label, f"{one.owed:,}", *_cells([one]), _clock(one.wall)) for one in pilots]
    if len(pilots) > 1:
        walls = [one.wall for one in pilots]
        whole = None if None in walls else sum(wall for wall in walls if wall is not None)
        body.append(("all", f"{sum(one.owed for one in pilots):,}", *_cells(pilots), _clock(whole)))
    show(head, body, f"preflight: from {k} pilot samples of each job, 95 % interval below")
    for line in warnings_of(pilots):
        print(line)  # noqa: T201


def _cells(pilots: Sequence[Pilot]) -> Iterator[str]:
    for name in COUNTED:
        yield _told(together([one.total(name) for one in pilots]), name)


def _told(found: Estimate | None, name: str) -> str:
    if found is None:
        return "not known"
    form = ",.2f" if name == "cost_usd" else ",.0f"
    half = found.half
    interval = "" if half is None else f"\n{max(0.0, found.value - half):{form}} to {found.value + half:{form}}"
    return f"{found.value:{form}}{interval}"


def warnings_of(pilots: Sequence[Pilot]) -> Iterator[str]:
    """What the pilot says of windows, errors and budgets."""
    for one in pilots:
        for kind, n in one.errors.items():
            yield f"note: {one.label}: {n} pilot samples errored ({kind}); they are not counted"
        if one.stopped:
            yield f"note: {one.label}: the pilot broke off: {one.stopped}"
        longest = max(one.longest, default=0)
        if one.window and longest > _TIGHT * one.window:
            yield (
                f"note: {one.label}: the longest call of the pilot had {longest:,} of the model's "
                f"{one.window:,} tokens; longer ones may overflow (error kind context_window)"
            )


def highest(pilots: Sequence[Pilot]) -> float | None:
    """The upper end of the interval of the whole cost in US dollars; None where it is not known."""
    found = together([one.total("cost_usd") for one in pilots])
    return None if found is None else found.value + (found.half or 0.0)


def confirmed(usd: float | None, above: float | None) -> bool:
    """Whether to go on: asked for on a terminal where it may cost more than ``above``, or nobody knows what."""
    if above is None or (usd is not None and usd <= above) or not sys.stdin.isatty():
        return True
    what = "an unknown amount" if usd is None else f"up to ${usd:,.2f}"
    print(f"this may cost {what} (budget.ask_above_usd={above:g}); go on? [y/N] ", end="", flush=True)  # noqa: T201
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "not known"
    minutes, seconds = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
