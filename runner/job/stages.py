"""The run of a stage: one of its own, or the making of the memory."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from components.core.errors import ModelError, RunLimitReached
from components.core.traits import memory_traits
from runner.job.run import BUDGET, COMPLETE, ERRORS
from runner.learning.memory import learn
from runner.learning.stage_context import StageContext
from runner.terminal.progress import Progress

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment
    from runner.job.shared_resources import SharedResources


async def run_stage(experiment: Experiment, resources: SharedResources) -> int:
    """Run the stage of the config: one of its own, or the making of the memory. Returns the exit code."""
    if experiment.stage is not None:
        return await run_standalone_stage(experiment, resources)
    async with AsyncExitStack() as own:
        experiment = resources.share(experiment, own)
        door = resources.door(experiment)
        own.callback(resources.finish, experiment.launch.label, door.spent)
        try:
            folder, said = await learn(experiment, door)
        except (ModelError, RunLimitReached) as error:
            print(f"the memory was not made: {error}\nto go on, give the same command again")  # noqa: T201
            return ERRORS if isinstance(error, ModelError) else BUDGET
    if experiment.source is not None and folder is not None:
        said += [*memory_traits(experiment.source.open(folder, "")).notes]
    made = "made now" if door.spent.calls + door.replayed else "it was there"
    print(*said, f"memory:     {folder} ({made})", sep="\n")  # noqa: T201
    print(f"calls:      {door.spent.calls:,} sent, {door.replayed:,} answered by the journal")  # noqa: T201
    return COMPLETE


async def run_standalone_stage(experiment: Experiment, resources: SharedResources) -> int:
    """Run the stage of its own, and say what it left. Returns the exit code."""
    from runner.tracking import track_made

    assert experiment.stage is not None, "only a run with such a stage"
    stage = experiment.launch.choices.get("stage", "the stage")
    async with AsyncExitStack() as own:
        experiment = resources.share(experiment, own)
        door = resources.door(experiment)
        stage_itself = experiment.stage
        assert stage_itself is not None
        try:
            with Progress(door, 0, 0, stage) as progress:
                made = await stage_itself.make(StageContext(experiment, door, progress))
        except (ModelError, RunLimitReached) as error:
            print(f"{stage} was not finished: {error}\nto go on, give the same command again")  # noqa: T201
            return ERRORS if isinstance(error, ModelError) else BUDGET
    print(*made.said, f"folder:     {made.folder}", sep="\n")  # noqa: T201
    print(f"calls:      {door.spent.calls:,} sent, {door.replayed:,} answered by the journal")  # noqa: T201
    if url := await asyncio.to_thread(track_made, made, experiment.cfg, experiment.launch.choices):
        print(f"MLflow:     {url}   (make ui or python -m runner.ui starts it)")  # noqa: T201
    return ERRORS if made.empty else COMPLETE
