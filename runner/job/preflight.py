"""What a sweep will take, from a few of its samples: calls, tokens, money and time, before the rest is played.

The pilot's replies are in the journal, so playing the sweep pays them no second time.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from components.core.errors import ModelError, RunLimitReached
from runner.job.pilot import COUNTED, Estimate, Pilot, together, wall
from runner.storage.records import read

if TYPE_CHECKING:
    from runner.episode.budget import Spent
    from runner.experiment.experiment import Experiment
    from runner.job.shared_resources import SharedResources
    from runner.job.slots import Lease

_TIGHT = 0.8  # share of the window beyond which a conversation is said to be close to it


@dataclass(frozen=True)
class Job:
    """What is asked about: a job that was built and checked, its folder, how to call it."""

    label: str
    experiment: Experiment
    folder: Path


async def cleared(jobs: Sequence[Job], spent: Spent) -> bool:
    """Play the pilots, print what all will take; whether to go on. Adds to ``spent``. Raises ConfigError."""
    from runner.job.shared_resources import SharedResources

    first = jobs[0].experiment
    k = first.cfg["run"]["pilot"]
    async with SharedResources(first.budget, len(jobs), len(jobs), spent) as resources:
        pilots = await asyncio.gather(*(_pilot(job, resources, k) for job in jobs))
    present(pilots, k)
    asked = time.monotonic()
    go_on = confirmed(highest(pilots), first.cfg["budget"]["ask_above_usd"])
    spent.started += time.monotonic() - asked  # whoever thinks it over takes none of budget.run.seconds
    return go_on


async def _pilot(job: Job, resources: SharedResources, k: int) -> Pilot:
    from components.core.traits import model_traits
    from runner.experiment.experiment import study
    from runner.job.shared_resources import lane_of
    from runner.learning.memory import with_memory

    experiment = job.experiment
    finished = sum(record["stop"] != "error" for record in read(job.folder))
    main = experiment.models["main"]
    traits = model_traits(main)
    pilot = Pilot(
        job.label, len(experiment.samples) * experiment.epochs - finished, main.max_connections,
        traits.context_tokens,
        (traits.requests_per_minute, traits.tokens_per_minute), lane_of(experiment.cfg),
    )  # fmt: skip
    study(experiment)
    async with AsyncExitStack() as own:
        shared = resources.share(experiment, own)
        door = resources.door(shared)
        lease = resources.turn(shared, asyncio.Event())
        try:
            shared, _ = await with_memory(shared, door)
            rng = Random(f"{experiment.seed}/preflight")
            drawn = rng.sample(range(len(experiment.samples)), min(k, len(experiment.samples)))
            await asyncio.gather(*(_play(shared, door, place, lease, pilot) for place in sorted(drawn)))
        except (ModelError, RunLimitReached) as error:
            pilot.stopped = str(error)
    return pilot


async def _play(experiment: Experiment, door: Any, place: int, lease: Lease, pilot: Pilot) -> None:
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
    body = [(one.label, f"{one.owed:,}", *_cells([one]), _clock(wall([one]))) for one in pilots]
    if len(pilots) > 1:
        body.append(("all", f"{sum(one.owed for one in pilots):,}", *_cells(pilots), _clock(wall(pilots))))
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
