"""What the jobs of a process have in common: models, journal, calls in flight, places, budget and progress bar."""

from __future__ import annotations

import asyncio
import heapq
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from components.core.errors import OVERFLOW, ConfigError
from components.core.protocols import Model, Studying
from runner.episode.budget import Budget, BudgetPool, Spent
from runner.episode.door import Door, Flying
from runner.storage.journal import Journal
from runner.terminal.progress import Board

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment

    Watch = Callable[[Experiment, Sequence[Mapping[str, Any]]], str | None]  # of a job's records; why to stop it


class SharedResources:
    """Made once per process on the running event loop; closed when all jobs are over.

    ``budget`` is that of all ``owed`` jobs together, of which ``spent`` is gone already; ``jobs`` counts those that
    were finished before, too; ``terminal``: whether this process has it for itself.
    """

    def __init__(
        self, budget: Budget, owed: int = 1, jobs: int = 1, spent: Spent | None = None, terminal: bool = True
    ) -> None:
        self.jobs = jobs
        self.board = Board(terminal)
        self.tracking = asyncio.Lock()  # one job at a time is sent
        self.watch: Watch | None = None
        self._budget_pool = BudgetPool(budget, owed, spent or Spent())
        self._flying: Flying = {}
        self._models: dict[str, Model] = {}
        self._places: dict[str, Slots] = {}
        self._silent: dict[str, ErrorStreak] = {}
        self._journals: dict[Path, Journal] = {}
        self._stack = AsyncExitStack()
        self._turns = 0
        self._over: set[str] = set()

    async def __aenter__(self) -> Self:
        self._stack.enter_context(self.board)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)  # aclose would hide an interrupt under what it raises

    def share(self, experiment: Experiment, own: AsyncExitStack) -> Experiment:
        """The experiment with the models of earlier jobs in place of its own of the same settings.

        A model that studies data has those of its job, so it is nobody else's, and closed with ``own``.
        """
        models = {role: self._shared(model, _node(experiment, role), own) for role, model in experiment.models.items()}
        return replace(experiment, models=models)

    def _shared(self, model: Model, node: str, own: AsyncExitStack) -> Model:
        if isinstance(model, Studying):
            own.push_async_callback(model.close)
            return model
        if node not in self._models:
            self._models[node] = model
            self._stack.push_async_callback(model.close)
        return self._models[node]

    def turn(self, experiment: Experiment, begun: asyncio.Event) -> Lease:
        """A job's way to the places of its main model: as many as that has connections, for all jobs that ask it."""
        self._turns += 1
        places = Slots(experiment.models["main"].max_connections)
        return Lease(self._places.setdefault(lane_of(experiment.cfg), places), self._turns, begun)

    def stop_rule(self, experiment: Experiment) -> StopRule:
        """When a job stops by itself."""
        permitted = experiment.cfg["run"]["max_error_rate"] * len(experiment.samples) * experiment.epochs
        row = ErrorStreak(experiment.models["main"].max_connections)
        return StopRule(permitted, self._silent.setdefault(lane_of(experiment.cfg), row))

    def is_silent(self, cfg: Mapping[str, Any]) -> bool:
        """Whether jobs that asked the main model of a job were stopped since its endpoint gave them errors alone."""
        row = self._silent.get(lane_of(cfg))
        return row is not None and row.is_long and cfg["run"]["max_error_rate"] < 1

    async def room(self, cfg: Mapping[str, Any]) -> None:
        """Wait until there are places at a job's main model that nobody asks for."""
        if (places := self._places.get(lane_of(cfg))) is not None:
            await places.spare()

    def door(self, experiment: Experiment) -> Door:
        """The door of a job. Raises ConfigError for a journal to replay from that is not there."""
        run = experiment.cfg["run"]
        return Door(
            experiment.models, self._journal(run), run_seed=experiment.seed, budget_pool=self._budget_pool,
            replay=run["replay"] is not False, flying=self._flying,
        )  # fmt: skip

    def why_stop(self, experiment: Experiment, records: Sequence[Mapping[str, Any]]) -> str | None:
        """What whoever watches says to a job's records so far; None: it goes on."""
        return None if self.watch is None else self.watch(experiment, records)

    def finish(self, label: str, spent: Spent | None = None) -> None:
        """A job is over, counted once: what it left of the budget is the others', also where it never began."""
        if label not in self._over:
            self._over.add(label)
            self._budget_pool.finish(spent or Spent())

    def _journal(self, run: Mapping[str, Any]) -> Journal | None:
        """The journal to write to, or to replay from without writing."""
        replay, named = run["replay"], run["journal"]
        if replay is False and named is None:
            return None
        folder = Path(named if replay in (True, False) else replay)
        if folder not in self._journals:
            if replay is not False and not folder.is_dir():
                raise ConfigError(
                    f"run.replay: there is no journal {folder}; run once without replay, or name its folder"
                )
            self._journals[folder] = journal = Journal(folder, read_only=replay is not False)
            self._stack.callback(journal.close)
        return self._journals[folder]


def lane_of(cfg: Mapping[str, Any]) -> str:
    """What the jobs of one main model have in common."""
    return json.dumps(cfg["model"], sort_keys=True, default=str)


def _node(experiment: Experiment, role: str) -> str:
    cfg = experiment.cfg
    return json.dumps(cfg["model"] if role == "main" else cfg["models"][role], sort_keys=True, default=str)


class Slots:
    """How many samples may be played at once; of those who wait the job that began first goes first."""

    def __init__(self, n: int) -> None:
        self._free = n
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._asked = 0
        self._spare = asyncio.Event()
        self._spare.set()

    async def take(self, rank: int) -> None:
        """Wait for a place; who is cancelled has none."""
        if self._free:
            self._free -= 1
        else:
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._asked += 1
            heapq.heappush(self._waiting, (rank, self._asked, place))
            self._tell()
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self.give()
                raise
        self._tell()

    def give(self) -> None:
        """Leave a place to the next who waits."""
        while self._waiting:
            _, _, place = heapq.heappop(self._waiting)
            if not place.done():
                place.set_result(None)
                return
        self._free += 1
        self._tell()

    async def spare(self) -> None:
        """Wait until there is a place that nobody wants."""
        await self._spare.wait()

    def _tell(self) -> None:
        if self._free:
            self._spare.set()
        else:
            self._spare.clear()


@dataclass
class Lease:
    """A job's way to places; ``begun`` is set when it asks for the first."""

    places: Slots
    rank: int
    begun: asyncio.Event

    async def __aenter__(self) -> None:
        self.begun.set()
        await self.places.take(self.rank)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.places.give()


_FEW = 10
_OF_THE_ENDPOINT = frozenset({"auth", "connection", "quota", "rate_limit", "server", "timeout"})
_OF_THE_SAMPLE = OVERFLOW  # of a judge's request; it says nothing of the samples that follow


@dataclass
class ErrorStreak:
    """How many samples errored since one ended well; ``well``: whether any did. ``connections``: samples at once."""

    connections: int
    n: int = 0
    well: bool = False

    def add(self, errored: bool) -> None:
        """One sample has ended."""
        self.n, self.well = (self.n + 1, self.well) if errored else (0, True)

    @property
    def is_long(self) -> bool:
        """Whether that is no accident: the first few, or later twice as many as are in flight."""
        return self.n >= (max(_FEW, 2 * self.connections) if self.well else _FEW)


@dataclass
class StopRule:
    """Of one job. ``permitted``: samples that may error; ``silent``: the row of all jobs that ask the same model, of
    errors that are its endpoint's."""

    permitted: float
    silent: ErrorStreak
    _own: ErrorStreak = field(init=False)

    def __post_init__(self) -> None:
        self._own = ErrorStreak(self.silent.connections)

    def lost(self, record: Mapping[str, Any], errored: int) -> str | None:
        """Why to stop after a sample, with so many ``errored`` in all; None: go on."""
        failed, kind = record["stop"] == "error", str(record["error"]).partition(":")[0]
        if not failed or kind != _OF_THE_SAMPLE:
            self._own.add(failed)
        if not failed or kind in _OF_THE_ENDPOINT:
            self.silent.add(failed)
        long = [row.n for row in (self._own, self.silent) if row.is_long]
        if not long or errored <= self.permitted:
            return None
        return (
            f"{long[0]} samples errored one after the other, more than run.max_error_rate permits; the rest is left "
            "(run.max_error_rate=1 plays all)"
        )
