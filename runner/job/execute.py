"""Async execution: every owed (sample, epoch), at most ``max_connections`` samples at once."""

import asyncio
import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from components.core.errors import RunLimitReached
from components.core.traits import ToolsetTraits, declared
from components.core.types import Sample, Trajectory
from runner.episode.door import Door
from runner.episode.ending import shortly
from runner.episode.episode import is_cancelled, play
from runner.episode.shared import Parts
from runner.job.shared_resources import Lease, StopRule
from runner.learning.memory import GrowingMemory, Growth
from runner.results.table import plain
from runner.storage.records import RecordWriter, record_of, slim
from runner.storage.schema import Record
from runner.terminal.progress import Board, Progress


@dataclass
class Outcome:
    """What came of a run. ``records`` are slim: without steps; ``stopped`` says which budget ended it,
    ``halted`` why it could not continue."""

    records: list[Record] = field(default_factory=list)
    stopped: str | None = None
    halted: str | None = None
    played: int = 0
    errored: int = 0

    def add(self, record: Record) -> None:
        """One more sample was run."""
        self.records.append(slim(record))
        self.played += 1
        self.errored += record["stop"] == "error"

    @property
    def error_rate(self) -> float:
        """Share of errored records."""
        return self.errored / len(self.records) if self.records else 0.0


async def execute(
    parts: Parts,
    door: Door,
    samples: Sequence[Sample],
    epochs: int,
    writer: RecordWriter,
    outcome: Outcome,
    *,
    name: str = "run",
    beat: Callable[[Outcome], None] | None = None,
    lease: Lease | None = None,
    board: Board | None = None,
    stop_rule: StopRule | None = None,
) -> None:
    """Run what is owed and fill ``outcome``; finished records are kept whatever happens.

    ``beat`` is called after every sample; ``lease``: on slots that jobs share; ``stop_rule``: when to stop.
    """
    wanted = {(s.problem.id, epoch) for s in samples for epoch in range(epochs)}
    kept = [r for r in writer.finished if (r["sample_id"], r["epoch"]) in wanted]
    done = {(r["sample_id"], r["epoch"]) for r in kept}
    if (prepare := declared(parts.toolset, ToolsetTraits).prepare) is not None:
        await asyncio.to_thread(prepare, samples)
    growth = _growth(parts, samples, door, writer)
    owed = ((s, epoch) for s, epoch in _order(samples, epochs, growth) if (s.problem.id, epoch) not in done)
    outcome.records += kept
    _tune_gc()
    with Progress(door, len(wanted), len(done), name, board) as progress:

        def finish(record: Record) -> None:
            writer.append(record)
            outcome.add(record)
            errored = record["stop"] == "error"
            progress.finished(errored)
            if errored and outcome.errored == 1:
                progress.report(f"sample {record['sample_id']!r} errored: {plain(shortly(record['error']))}")
            if stop_rule is not None and (reason := stop_rule.reason_after(record, outcome.errored)):
                outcome.halted = reason
                if stop_rule.endpoint.is_long:  # nothing is gained by waiting for calls that are under way
                    _cancel(workers)
            if beat is not None:
                beat(outcome)

        n = min(door.models["main"].max_connections, max(1, len(wanted) - len(done))) if growth is None else 1
        workers = [
            asyncio.create_task(_work(parts, door, owed, outcome, writer, finish, growth, lease)) for _ in range(n)
        ]
        await _ended(workers, outcome)


async def _ended(workers: Sequence[asyncio.Task[None]], outcome: Outcome) -> None:
    """Wait for all; none is left behind when one of them, or who waits, breaks off."""
    try:
        await asyncio.gather(*workers)
    except asyncio.CancelledError:
        if outcome.halted is None or is_cancelled():
            raise
    finally:
        _cancel(workers)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*workers, return_exceptions=True)


def _cancel(workers: Sequence[asyncio.Task[None]]) -> None:
    """Cancel all but the one that says so."""
    for worker in workers:
        if worker is not asyncio.current_task():
            worker.cancel()


def _order(samples: Sequence[Sample], epochs: int, growth: Growth | None) -> Iterator[tuple[Sample, int]]:
    """All that is wanted, in the order in which it is run."""
    if growth is None:
        return ((sample, epoch) for sample in samples for epoch in range(epochs))
    return ((sample, epoch) for epoch in range(epochs) for sample in growth.samples)


async def _work(
    parts: Parts,
    door: Door,
    owed: Iterator[tuple[Sample, int]],
    outcome: Outcome,
    writer: RecordWriter,
    finish: Callable[[Record], None],
    growth: Growth | None,
    lease: Lease | None,
) -> None:
    """Take samples until none is owed, the run's budget is spent or it cannot continue."""
    for sample, epoch in owed:
        if growth is not None:
            growth.before(sample, epoch)
        try:
            async with lease or contextlib.nullcontext():
                started = time.monotonic()
                trajectory, scores = await play(parts, door, sample, epoch)
                seconds = time.monotonic() - started
        except RunLimitReached as limit:
            outcome.stopped = str(limit)
            return
        if growth is not None:
            growth.after(sample, epoch, trajectory)
        try:
            finish(record_of(sample, epoch, trajectory, scores, seconds, writer.packer))
        except TypeError as error:  # a part left something that is not JSON: orjson says what
            bug = Trajectory(error=f"bug: the record of this sample cannot be written: {error}")
            finish(record_of(sample, epoch, bug, [], seconds, writer.packer))
        if growth is not None and trajectory.stop == "error":  # what follows would lack what it would have taught
            outcome.halted = f"sample {sample.problem.id!r} errored, and the memory grows from sample to sample"
        if outcome.stopped or outcome.halted:
            return
        await asyncio.sleep(0)


def _growth(parts: Parts, samples: Sequence[Sample], door: Door, writer: RecordWriter) -> Growth | None:
    """How the memory grows, where it does."""
    memory: object = parts.memory
    if not isinstance(memory, GrowingMemory) or not memory.grows:
        return None
    return Growth(memory, samples, door.run_seed, writer.folder)


@cache
def _tune_gc() -> None:
    """What is there stays, and is not walked again; thousands of calls in flight are not walked every 700 allocations.

    Once in a process: what a later job leaves behind must not be frozen.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
