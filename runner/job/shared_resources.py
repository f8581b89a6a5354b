"""What the jobs of a process share: models, journal, calls in flight, slots, budget, progress bar and stop rules."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import json
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from components.core.errors import OVERFLOW, ConfigError
from components.core.protocols import Model
from components.core.traits import ModelTraits, declared
from runner.episode.budget import Budget, BudgetPool, Spent
from runner.episode.door import Door, InFlight
from runner.episode.progress import Board
from runner.experiment.experiment import Experiment
from runner.results.table import Table
from runner.storage.journal import Journal
from runner.terminal.command import print_note, stopping

# Why to stop a job of which so many samples are finished; their columns are read when they are asked for.
Watch = Callable[[Experiment, int, Callable[[], Table]], str | None]


class SharedResources:
    """Made once per process on the running event loop. ``budget``: of all ``remaining`` jobs, of which ``spent`` is
    gone; ``jobs``: with those that were finished before; ``terminal``: whether this process has it for itself."""

    def __init__(
        self, budget: Budget, remaining: int = 1, jobs: int = 1, spent: Spent | None = None, terminal: bool = True
    ) -> None:
        self.jobs = jobs
        self.board = Board(terminal)
        self.watch: Watch | None = None
        self._budget_pool = BudgetPool(budget, remaining, spent or Spent())
        self._in_flight: InFlight = {}
        self._models: dict[str, Model] = {}
        self._slots: dict[str, Slots] = {}
        self._streaks: dict[str, ErrorStreak] = {}
        self._journals: dict[Path, Journal] = {}
        self._stack = AsyncExitStack()
        self._leases = 0
        self._finished: set[str] = set()

    async def __aenter__(self) -> Self:
        if self.board.ours:
            self._stack.enter_context(stopping(self._calls_in_flight))
        self._stack.enter_context(self.board)
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)  # aclose would hide an interrupt under what it raises

    def _calls_in_flight(self) -> str:
        n = self._budget_pool.total.pending
        return "1 call in flight is" if n == 1 else f"{n:,} calls in flight are"

    def share(self, experiment: Experiment, own: AsyncExitStack) -> Experiment:
        """The experiment with the models of earlier jobs that have the same settings; one that knows the answers of its
        job's samples is not shared, and closed with ``own``."""
        models, cfg = dict(experiment.models), experiment.cfg
        for role, model in experiment.models.items():
            if declared(model, ModelTraits).study is not None:
                own.push_async_callback(model.close)
                continue
            settings = _json(cfg["model"] if role == "main" else cfg["models"][role])
            if settings not in self._models:
                self._stack.push_async_callback(model.close)
            models[role] = self._models.setdefault(settings, model)
        return replace(experiment, models=models)

    def lease(self, experiment: Experiment, begun: asyncio.Event) -> Lease:
        """A job's claim on slots of its main model, which has as many as connections, for all jobs that ask it."""
        self._leases += 1
        slots = Slots(experiment.models["main"].max_connections)
        return Lease(self._slots.setdefault(lane_of(experiment.cfg), slots), self._leases, begun)

    def stop_rule(self, experiment: Experiment) -> StopRule:
        """When a job stops by itself."""
        permitted = experiment.cfg["run"]["max_error_rate"] * len(experiment.episodes)
        streak = ErrorStreak(experiment.models["main"].max_connections)
        return StopRule(permitted, self._streaks.setdefault(lane_of(experiment.cfg), streak))

    def is_endpoint_down(self, cfg: Mapping[str, Any]) -> bool:
        """Whether jobs with the same main model were stopped, since its endpoint returned only errors."""
        streak = self._streaks.get(lane_of(cfg))
        return streak is not None and streak.is_long and cfg["run"]["max_error_rate"] < 1

    async def wait_for_slot(self, cfg: Mapping[str, Any]) -> None:
        """Wait until a job's main model has slots that no running job asks for."""
        if (slots := self._slots.get(lane_of(cfg))) is not None:
            await slots.unused.wait()

    def door(self, experiment: Experiment) -> Door:
        """The door of a job. Raises ConfigError for a journal to replay from that is not there."""
        run = experiment.cfg["run"]
        replay, named, journal = run["replay"], run["journal"], None
        if replay is not False or named is not None:
            folder = Path(named if replay in (True, False) else replay)
            if (journal := self._journals.get(folder)) is None:
                if replay is not False and not folder.is_dir():
                    raise ConfigError(
                        f"run.replay: there is no journal {folder}; run once without replay, or name its folder"
                    )
                try:
                    journal = self._journals[folder] = Journal(folder, read_only=replay is not False)
                except OSError as error:
                    raise ConfigError(f"run.journal={folder} cannot be used: {error.strerror}") from None
                self._stack.callback(journal.close)
                if journal.repaired:
                    print_note(
                        f"note: the journal {folder}: segments of killed processes, now sealed: {journal.repaired}"
                    )
        return Door(
            experiment.models, journal, run_seed=experiment.seed, budget_pool=self._budget_pool,
            replay=replay is not False, in_flight=self._in_flight,
        )  # fmt: skip

    def finish(self, label: str, spent: Spent | None = None) -> None:
        """A job has ended, or will not start: its unused budget goes to the others, once."""
        if label not in self._finished:
            self._finished.add(label)
            self._budget_pool.finish(spent or Spent())


def lane_of(cfg: Mapping[str, Any]) -> str:
    """What identifies the main model of a job: jobs with the same share its slots."""
    return _json(cfg["model"])


def _json(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True, default=str)


class Slots:
    """How many samples run at once, those of the job that began first before others. ``unused``: some are free."""

    def __init__(self, n: int) -> None:
        self._free = n
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self.unused = asyncio.Event()
        self.unused.set()

    async def take(self, rank: int) -> None:
        """Wait for a slot; a waiter that is cancelled has none."""
        if not self._free:
            slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (rank, next(self._numbers), slot))
            try:
                return await slot
            except asyncio.CancelledError:
                if slot.done() and not slot.cancelled():
                    self.release()
                raise
        self._free -= 1
        if not self._free:
            self.unused.clear()

    def release(self) -> None:
        """Leave a slot to the next waiter."""
        while self._waiting:
            _, _, slot = heapq.heappop(self._waiting)
            if not slot.done():
                return slot.set_result(None)
        self._free += 1
        self.unused.set()


@dataclass
class Lease:
    """A job's claim on slots; ``begun`` is set when it asks for the first."""

    slots: Slots
    rank: int
    begun: asyncio.Event

    async def __aenter__(self) -> None:
        self.begun.set()
        await self.slots.take(self.rank)

    async def __aexit__(self, *_: object) -> None:
        self.slots.release()


_FEW = 10
_OF_THE_ENDPOINT = frozenset(
    ("auth", "certificate", "connection", "quota", "rate_limit", "redirect", "server", "timeout")
)


@dataclass
class ErrorStreak:
    """How many samples in a row errored, of so many at once; ``any_success``: whether one ever ended well."""

    connections: int
    n: int = 0
    any_success: bool = False

    def add(self, errored: bool) -> None:
        """Count a sample that has ended."""
        self.n, self.any_success = (self.n + 1, self.any_success) if errored else (0, True)

    @property
    def is_long(self) -> bool:
        """Whether that is no coincidence: the first few, or later twice as many as are in flight."""
        return self.n >= (max(_FEW, 2 * self.connections) if self.any_success else _FEW)


@dataclass
class StopRule:
    """When a job stops by itself: after too many errors in a row, in the job or at its ``endpoint`` in all jobs, and
    more than are ``permitted``."""

    permitted: float
    endpoint: ErrorStreak
    _job: ErrorStreak = field(init=False)

    def __post_init__(self) -> None:
        self._job = ErrorStreak(self.endpoint.connections)

    def reason_after(self, record: Mapping[str, Any], errored: int) -> str | None:
        """Why to stop after a sample, with so many ``errored`` in all; None: continue."""
        failed, kind = record["stop"] == "error", str(record["error"]).partition(":")[0]
        if not failed or kind != OVERFLOW:  # of a judge's request: it says nothing of the samples that follow
            self._job.add(failed)
        if not failed or kind in _OF_THE_ENDPOINT:
            self.endpoint.add(failed)
        long = [streak.n for streak in (self._job, self.endpoint) if streak.is_long]
        if not long or errored <= self.permitted:
            return None
        return (
            f"{long[0]} samples errored in a row, more than run.max_error_rate permits; the others are not run "
            "(run.max_error_rate=1 runs all)"
        )
