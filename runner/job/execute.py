"""Async execution: every remaining (sample, epoch), at most ``max_connections`` samples at once."""

import asyncio
import contextlib
import gc
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from components.core.errors import RunLimitReached
from components.core.protocols import Scorer
from components.core.traits import MemoryTraits, ScorerTraits, ToolsetTraits, declared
from components.core.types import Problem, Sample, Score, Trajectory
from runner.episode.door import Door
from runner.episode.ending import shorten
from runner.episode.episode import is_cancelled, score_sample, solve_sample
from runner.episode.progress import Board, Progress
from runner.episode.shared import Parts
from runner.experiment.experiment import Forks
from runner.job.shared_resources import Lease, StopRule
from runner.learning.memory import Growth
from runner.storage.records import RecordWriter, record_of
from runner.storage.schema import Record

log = logging.getLogger("runner")


@dataclass
class Outcome:
    """The outcome of a run, whose records are in its folder. ``finished``: how many of the requested samples have a
    record, those of earlier sessions too; ``errors``: how often each ended a sample; ``stopped`` says which budget
    ended it, ``halted`` why it could not continue; ``shows_options``: whether a message of a choice question held its
    options, None where none was asked."""

    finished: int = 0
    stopped: str | None = None
    halted: str | None = None
    n_run: int = 0
    errored: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    shows_options: bool | None = None

    def add(self, record: Record) -> None:
        """One more sample was run."""
        self.finished += 1
        self.n_run += 1
        if record["stop"] == "error":
            self.errored += 1
            line = shorten(error := record["error"])
            if line not in self.errors and line != error:  # the first trace of each bug
                log.error("sample %r, epoch %s: %s", record["sample_id"], record["epoch"], error)
            self.errors[line] += 1

    def look_for_options(self, problem: Problem, trajectory: Trajectory) -> None:
        """Notice whether the model saw the options of a choice question, until one message did hold them."""
        if problem.choices and trajectory.steps and not self.shows_options:
            texts = [text.strip() for text in problem.choices.values()]
            asked = (message.text for step in trajectory.steps for message in step.asked)
            self.shows_options = any(all(text in message for text in texts) for message in asked)

    @property
    def error_rate(self) -> float:
        """Share of errored records."""
        return self.errored / self.finished if self.finished else 0.0


class Solved(NamedTuple):
    """A sample that its agent is done with, in so many ``seconds``."""

    sample: Sample
    epoch: int
    trajectory: Trajectory
    seconds: float


@dataclass
class Execution:
    """Fills ``outcome``; finished records are kept whatever happens. ``beat`` is called after every sample; ``lease``:
    on slots that jobs share; ``stop_rule``: when to stop; ``scores_decide``: whether scores may stop the run, so that a
    sample is scored before its slot takes the next."""

    parts: Parts
    door: Door
    writer: RecordWriter
    outcome: Outcome
    name: str = "run"
    beat: Callable[[Outcome], None] | None = None
    lease: Lease | None = None
    board: Board | None = None
    stop_rule: StopRule | None = None
    scores_decide: bool = False
    _solve: Callable[[Parts, Door, Sample, int], Awaitable[Trajectory]] = field(default=solve_sample, init=False)
    _growth: Growth | None = field(default=None, init=False)
    _workers: list[asyncio.Task[None]] = field(default_factory=list, init=False)
    _solved: asyncio.Queue[Solved | None] = field(default_factory=asyncio.Queue, init=False)  # None: no more comes
    _room: asyncio.Semaphore = field(init=False)  # for samples that wait for their scores

    async def run(self, samples: Sequence[Sample], epochs: int, forks: Forks | None = None) -> None:
        """Run these, as often as there are epochs, or ``forks`` of them, as far as they are not finished."""
        door = self.door
        pairs = [(s, epoch) for s in samples for epoch in range(epochs)] if forks is None else forks.order
        self._solve = solve_sample if forks is None else forks.solve
        wanted = {(s.problem.id, epoch) for s, epoch in pairs}
        done = self.writer.finished & wanted
        prepare = declared(self.parts.toolset, ToolsetTraits).prepare
        if prepare is not None and done != wanted and not door.replay:
            await asyncio.to_thread(prepare, samples)
        order = iter(pairs)
        if (hold := declared(self.parts.memory, MemoryTraits).hold) is not None:
            growth = self._growth = Growth(hold, samples, door.run_seed, self.writer.folder)
            order = iter([(sample, epoch) for epoch in range(epochs) for sample in growth.samples])
        remaining = ((s, epoch) for s, epoch in order if (s.problem.id, epoch) not in done)
        self.outcome.finished += len(done)
        with Progress(door, len(wanted), len(done), self.name, self.board) as progress:
            n = min(door.models["main"].max_connections, max(1, len(wanted) - len(done))) if not self._growth else 1
            self._room = asyncio.Semaphore(n)
            scoring = asyncio.create_task(self._score_solved(progress))
            scoring.add_done_callback(lambda _: self._cancel())  # where a record cannot be written
            asyncio.get_running_loop().call_later(0.5, _tune_gc)  # when the first calls have left
            try:
                for _ in range(n):
                    self._workers.append(asyncio.create_task(self._work(remaining, progress)))
                    await asyncio.sleep(0)  # the first calls leave before the last samples are prepared
                await asyncio.gather(*self._workers)
            except asyncio.CancelledError:
                if is_cancelled() or (self.outcome.halted is None and not scoring.done()):
                    raise
            finally:  # none is left behind when one of them, or who waits, breaks off; what is solved is scored
                self._cancel()
                self._solved.put_nowait(None)
                await wait_for_all(*self._workers, scoring)
            await scoring

    async def _work(self, remaining: Iterator[tuple[Sample, int]], progress: Progress) -> None:
        """Take samples until none remains, the run's budget is spent or it cannot continue."""
        growth, outcome = self._growth, self.outcome
        at_once = self.scores_decide or growth is not None or any(map(_leaves_the_loop, self.parts.scorers.values()))
        for sample, epoch in remaining:
            if growth is not None:
                growth.before(sample, epoch)
            scores: list[Score] = []
            try:
                async with self.lease or contextlib.nullcontext():
                    started = time.monotonic()
                    trajectory = await self._solve(self.parts, self.door, sample, epoch)
                    if at_once:
                        scores = await score_sample(self.parts, self.door, sample, epoch, trajectory)
                    solved = Solved(sample, epoch, trajectory, time.monotonic() - started)
            except RunLimitReached as limit:
                outcome.stopped = str(limit)
                return
            if growth is not None:
                growth.after(sample, epoch, trajectory)
            if at_once or trajectory.stop == "error":
                self._finish(solved, scores, progress)
            else:
                self._solved.put_nowait(solved)
                await self._room.acquire()
            if growth is not None and trajectory.stop == "error":  # what follows would lack what it would have taught
                outcome.halted = f"sample {sample.problem.id!r} errored, and the memory grows from sample to sample"
            if outcome.stopped or outcome.halted:
                return
            await asyncio.sleep(0)

    async def _score_solved(self, progress: Progress) -> None:
        """Score and write what was solved, one after the other between replies: no call waits for a score."""
        while (solved := await self._solved.get()) is not None:
            scores = await score_sample(self.parts, self.door, solved.sample, solved.epoch, solved.trajectory)
            self._finish(solved, scores, progress)
            self._room.release()
            await asyncio.sleep(0)

    def _finish(self, solved: Solved, scores: Sequence[Score], progress: Progress) -> None:
        """Keep and count a record, and stop the run if a rule requires it."""
        try:
            record = self._write(solved, scores)
        except TypeError as error:  # a part left something that is not JSON: orjson says what
            bug = Trajectory(error=f"bug: the record of this sample cannot be written: {error}")
            record = self._write(solved._replace(trajectory=bug), [])
        self.outcome.add(record)
        self.outcome.look_for_options(solved.sample.problem, solved.trajectory)
        errored = record["stop"] == "error"
        progress.finished(errored)
        if errored and self.outcome.errored == 1:
            from runner.results.cells import plain  # with the formats of all tables

            progress.report(f"sample {record['sample_id']!r} errored: {plain(shorten(record['error']))}")
        if self.stop_rule is not None and (reason := self.stop_rule.reason_after(record, self.outcome.errored)):
            self.outcome.halted = reason
            if self.stop_rule.endpoint.is_long:  # nothing is gained by waiting for calls that are under way
                self._cancel()
        if self.beat is not None:
            self.beat(self.outcome)

    def _write(self, solved: Solved, scores: Sequence[Score]) -> Record:
        packer = self.writer.packer
        record = record_of(solved.sample, solved.epoch, solved.trajectory, scores, solved.seconds, packer)
        self.writer.append(record)
        return record

    def _cancel(self) -> None:
        for worker in self._workers:
            if worker is not asyncio.current_task():
                worker.cancel()


def _leaves_the_loop(scorer: Scorer) -> bool:
    """Whether a scorer asks a model or blocks: then the slots of several samples work at it at once."""
    traits = declared(scorer, ScorerTraits)
    return traits.asks is not None or traits.blocking


async def wait_for_all(*tasks: asyncio.Task[Any]) -> None:
    """Wait until all have ended, whatever came of them, also when interrupted meanwhile. Raises CancelledError then."""
    waiting, interrupt = asyncio.gather(*tasks, return_exceptions=True), None
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


@cache
def _tune_gc() -> None:  # once: what a later job leaves behind must not be frozen
    """Do not walk what there is again, nor thousands of calls in flight every 700 allocations."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
