"""One sample in, one scored trajectory out, whatever happens."""

import asyncio
import re
import traceback
from dataclasses import replace
from functools import partial

from components.core.errors import ConfigError, ModelError, RunLimitReached
from components.core.redaction import redact
from components.core.tools import Offer
from components.core.types import Sample, Score, Trajectory
from runner.episode.budget import Budget
from runner.episode.door import Door
from runner.episode.ending import JUDGING, scored
from runner.episode.episode import Episode, solve
from runner.episode.shared import Parts, Shared
from runner.storage.disk import Unwritable

_FILE = re.compile(r'File "[^"]*?(?:((?:components|runner)/[^"]+)|([^"/]+))"')


async def play(parts: Parts, door: Door, sample: Sample, epoch: int) -> tuple[Trajectory, list[Score]]:
    """Run and score one sample. Raises RunLimitReached, Unwritable; what ended in ``error`` is not scored.

    A bug costs one sample, not the run, even where a part calls ``sys.exit``.
    """
    trajectory = Trajectory()
    try:
        await solve(Shared(parts, door, sample, epoch, trajectory))
        judging = partial(_judging, parts, door, sample, epoch, trajectory)
        return trajectory, await scored(parts.scorers, sample, trajectory, judging)
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
    except Exception:  # noqa: BLE001 - the only broad one: a bug costs one sample, not the run
        _note_bug(trajectory)
    return trajectory, []


def _note_bug(trajectory: Trajectory) -> None:
    """Write the current error into the trajectory."""
    trajectory.stop, trajectory.error = "error", redact(f"bug: {_without_folders(traceback.format_exc())}")


def is_cancelled() -> bool:
    """Whether the current task itself is being cancelled, not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _judging(parts: Parts, door: Door, sample: Sample, epoch: int, trajectory: Trajectory) -> Episode:
    """The episode in which a scorer asks about a finished one: recorded, without the sample's budget."""
    shared = Shared(replace(parts, budget=Budget()), door, sample, epoch, trajectory)
    return Episode(shared, Offer({}), JUDGING)


def _without_folders(trace: str) -> str:
    return _FILE.sub(lambda match: f'File "{match[1] or match[2]}"', trace)
