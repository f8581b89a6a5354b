"""One sample in, one scored trajectory out, whatever happens."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from components.core.errors import ConfigError, LimitReached, ModelError, RunLimitReached
from components.core.protocols import Agent, Condition, Grammar, Memory, Scorer, Toolset, Verifier
from components.core.types import Offer, Sample, Score, Trajectory
from components.models.redaction import redact
from runner.budget import Budget
from runner.disk import Unwritable
from runner.door import Door
from runner.ending import JUDGING, decisive, ended, give_up, scored
from runner.shared import Shared

if TYPE_CHECKING:
    from runner.episode import Episode

_FILE = re.compile(r'File "[^"]*?(?:((?:components|runner)/[^"]+)|([^"/]+))"')


@dataclass(frozen=True)
class Parts:
    """The parts of an experiment that an episode plays with."""

    agent: Agent
    verifier: Verifier
    grammar: Grammar
    toolset: Toolset
    condition: Condition
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    memory: Memory | None = None

    def open(self, sample: Sample, epoch: int, seed: int) -> Offer:
        """What this sample offers under the condition; the same on every call."""
        rng = Random(f"{seed}/{sample.problem.id}/{epoch}/condition")
        offer = self.condition.offer(self.toolset.open(sample), sample, rng)
        if states := getattr(self.agent, "states", None):
            offer = replace(offer, facts={**offer.facts, **states})
        own = {tool.spec.name: tool for tool in getattr(self.agent, "brings", ())}
        if getattr(self.agent, "bare", False):
            return replace(offer, tools=own)
        return replace(offer, tools={**own, **offer.tools}) if own else offer


async def play(parts: Parts, door: Door, sample: Sample, epoch: int) -> tuple[Trajectory, list[Score]]:
    """Play and score one sample. Raises RunLimitReached, Unwritable; what ended in ``error`` is not scored.

    A bug costs one sample, not the run, whatever it raises: a part may leave by ``sys.exit``, too.
    """
    trajectory = Trajectory()
    try:
        await _solve(Shared(parts, door, sample, epoch, trajectory))
        judging = partial(_judging, parts, door, sample, epoch, trajectory)
        return trajectory, await scored(parts, sample, trajectory, judging)
    except ModelError as error:
        if error.kind == "replay_miss":  # a strict replay is refused as a whole, with its first difference
            raise ConfigError(f"run.replay: {error}") from None
        trajectory.stop, trajectory.error = "error", redact(f"{error.kind}: {error}")
    except (RunLimitReached, ConfigError, Unwritable):
        raise
    except (SystemExit, asyncio.CancelledError):
        if is_cancelled():
            raise
        _note_bug(trajectory)
    except Exception:  # noqa: BLE001 - the only one of the house: a bug costs one sample, not the run
        _note_bug(trajectory)
    return trajectory, []


def _note_bug(trajectory: Trajectory) -> None:
    """Write the error that is handled into the trajectory."""
    trajectory.stop, trajectory.error = "error", redact(f"bug: {_placeless(traceback.format_exc())}")


def is_cancelled() -> bool:
    """Whether somebody cancels the current task; else what it waits for ended by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _judging(parts: Parts, door: Door, sample: Sample, epoch: int, trajectory: Trajectory) -> Episode:
    """Where a scorer asks about a finished episode: its steps are recorded, the sample's budget is none of its."""
    from runner.episode import Episode

    shared = Shared(replace(parts, budget=Budget()), door, sample, epoch, trajectory)
    return Episode(shared, Offer({}), JUDGING)


async def play_beside(shared: Shared, agent: Agent) -> Trajectory:
    """What another agent does on the sample of an episode, in one of its own. Raises ModelError, RunLimitReached."""
    trajectory = Trajectory()
    await _solve(Shared(replace(shared.parts, agent=agent), shared.door, shared.sample, shared.epoch, trajectory))
    shared.door.beside += len(trajectory.steps)
    return trajectory


async def _solve(shared: Shared) -> None:
    """Let the agent solve the sample; steps end in an order that does not depend on arrival."""
    from runner.episode import Episode

    trajectory, offer = shared.trajectory, shared.open()
    trajectory.offered = tuple(tool.spec for tool in offer.tools.values())
    trajectory.facts = offer.facts
    try:
        ended(trajectory, await shared.parts.agent.solve(Episode(shared, offer)))
    except BaseExceptionGroup as group:  # of an agent that works on several lines at once
        give_up(trajectory, decisive(group))
    except (LimitReached, ModelError) as error:
        give_up(trajectory, error)
    finally:
        shared.close()


def _placeless(trace: str) -> str:
    """A traceback without the folders of this machine."""
    return _FILE.sub(lambda found: f'File "{found[1] or found[2]}"', trace)
