"""Our launcher and sweeper: every job is composed and checked first, then all run in one process and one loop."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, configure_log, setup_globals
from hydra.errors import OverrideParseException
from hydra.plugins.launcher import Launcher as HydraLauncher
from hydra.types import HydraContext
from omegaconf import DictConfig

from components.core.errors import ConfigError
from components.core.redaction import redact
from runner.config.hydra_patches import BasicSweeper
from runner.episode.budget import Budget, Spent
from runner.job.exit_codes import CONFIG, INTERRUPTED
from runner.job.plan import Cell, cells
from runner.job.prepare import Job, check
from runner.job.shared_resources import SharedResources, Watch, lane_of
from runner.job.task import Task, end_of
from runner.storage import manifest
from runner.storage.resume import quote_path
from runner.sweep.check import check_all, sweep_folder
from runner.sweep.engines import engine_of
from runner.sweep.remote_job import launch, record_end
from runner.sweep.shards import gather
from runner.terminal.command import print_note


class Sweeper(BasicSweeper):
    """All combinations but those that have all words of one of ``skip``. Finished jobs of the same folder are kept."""

    task: Task

    def __init__(self, max_batch_size: int | None, params: Any = None, skip: Sequence[str] = ()) -> None:
        super().__init__(max_batch_size, params)
        if isinstance(skip, str) or not isinstance(skip, Sequence) or not all(isinstance(one, str) for one in skip):
            raise ConfigError(
                f"hydra.sweeper.skip: found {redact(str(skip))!r}, it should be a list of jobs, each as words:"
                ' ["verifier=accept memory.step=10"]'
            )
        self.skip = [text.split() for text in skip]

    def setup(self, *, hydra_context: HydraContext, task_function: Any, config: DictConfig) -> None:
        """Remember what a sweep needs."""
        super().setup(hydra_context=hydra_context, task_function=task_function, config=config)
        self.task = task_function

    def sweep(self, arguments: list[str]) -> None:
        """Compose and check all jobs, then run those that are not finished."""
        from runner.job.preflight import run_preflight
        from runner.job.summary import finish_interrupted, summarise

        assert self.config is not None and self.hydra_context is not None and self.launcher is not None
        loader = self.hydra_context.config_loader
        self.task.started = True
        parser = OverridesParser.create(config_loader=loader)
        try:
            skip = [parser.parse_overrides(words) for words in self.skip]
        except OverrideParseException as error:
            raise ConfigError(
                f"hydra.sweeper.skip: {redact(error.override)!r} cannot be read; each job is words such as"
                " verifier=accept memory.step=10"
            ) from None
        plan = cells(parser.parse_overrides(self._parse_config()), parser.parse_overrides(arguments), skip)
        home = sweep_folder(self.config)
        others = {path.parent for path in home.glob(f"*/{manifest.FILE}")}
        try:
            check_all(plan, self.config, loader, home)
            if others and others.isdisjoint(cell.folder for cell in plan):
                raise ConfigError(
                    f"{home} holds the jobs of another sweep ({min(others).name}, ...), whose report would be replaced:"
                    " name another hydra.sweep.dir"
                )
        except (ConfigError, SystemExit):
            with suppress(OSError):  # it is not empty when it was there before
                for folder in (home, home.parent, home.parent.parent):
                    folder.rmdir()
            raise
        self.task.resume = f"hydra.sweep.dir={quote_path(home)}"
        remaining = _remaining(plan)
        finished = sum(cell.complete for cell in plan)
        parts = f"; {len(remaining)} parts remain" if any(cell.parts for cell in plan) else ""
        print_note(f"sweep of {len(plan)} jobs, {finished} of them finished before{parts}: {home}")
        spent = Spent()
        if any(cell.cfg["run"]["preflight"] for cell in remaining):
            jobs = [Job(check(cell.cfg, cell.launch), cell.folder) for cell in remaining]
            approved, spent = self.task.run(run_preflight(jobs))
            if not approved:
                self.task.code = INTERRUPTED
                return
        try:
            self.run_jobs(plan, len(plan), spent)
        except KeyboardInterrupt:
            finish_interrupted(plan)
            raise
        summarise(plan)
        self.task.code = exit_code(plan)

    def run_jobs(self, plan: Sequence[Cell], jobs: int, spent: Spent) -> None:
        """Run what remains of these of so many jobs, and note how each ended."""
        remaining = _remaining(plan)
        if isinstance(self.launcher, Launcher):
            self.launcher.plan, self.launcher.total_jobs, self.launcher.spent = remaining, jobs, spent
        if remaining:
            self.task.swept = tuple(remaining[0].varied)
            launch(self.launcher, engine_of(self.launcher), remaining, jobs, spent)
        for cell in plan:
            if cell.parts:
                gather(cell, jobs)


class Launcher(HydraLauncher):
    """Runs the jobs that the sweeper has checked in one process and one event loop: each starts when its model has
    slots that no running job needs; at most ``jobs`` run at once (None: as many as that takes)."""

    plan: Sequence[Cell] = ()
    total_jobs: int = 1
    spent: Spent | None = None
    watch: Watch | None = None

    def __init__(self, jobs: int | None = None) -> None:
        if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
            raise ConfigError(f"hydra.launcher.jobs: found {jobs!r}, it should be a number of jobs from 1, or null")
        self.jobs = jobs
        self._reported = set[str]()  # why jobs broke off

    def setup(self, *, hydra_context: HydraContext, task_function: Any, config: DictConfig) -> None:
        """Remember what a job needs."""
        self.context, self.task, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run all jobs; a failed job does not stop the others."""
        setup_globals()
        configure_log(self.config.hydra.job_logging, self.config.hydra.verbose)
        assert len(job_overrides) == len(self.plan), "the sweeper hands over the plan"
        results: list[JobReturn] = self.task.run(self._all())
        return results

    async def _all(self) -> list[JobReturn]:
        lanes: dict[str, list[Cell]] = {}
        for cell in self.plan:
            lanes.setdefault(lane_of(cell.cfg), []).append(cell)
        at_once = asyncio.Semaphore(self.jobs or len(self.plan))
        budget = Budget(**self.plan[0].cfg["budget"]["run"])  # check_all has seen that all have the same
        resources = SharedResources(budget, len(self.plan), self.total_jobs, self.spent)
        resources.watch = self.watch
        async with resources, asyncio.TaskGroup() as group:
            begun = [group.create_task(self._lane(cells, resources, at_once)) for cells in lanes.values()]
        results = {id(cell): result for lane in begun for cell, result in lane.result()}
        return [results[id(cell)] for cell in self.plan]

    async def _lane(
        self, cells: Sequence[Cell], resources: SharedResources, at_once: asyncio.Semaphore
    ) -> list[tuple[Cell, JobReturn]]:
        """Begin the jobs of one model one after the other, each when those before leave room; wait for all."""
        async with asyncio.TaskGroup() as group:
            running = []
            for cell in cells:
                await at_once.acquire()
                begun = asyncio.Event()
                running.append(group.create_task(self._one(cell, resources, begun, at_once)))
                await begun.wait()
                await resources.wait_for_slot(cell.cfg)
        return list(zip(cells, (job.result() for job in running), strict=True))

    async def _one(
        self, cell: Cell, resources: SharedResources, begun: asyncio.Event, at_once: asyncio.Semaphore
    ) -> JobReturn:
        """Run a job to its end, whatever that is; it has begun then, too."""
        from runner.job.run import run_job

        refused: list[ConfigError] = []

        async def run_cell() -> int:
            try:
                return await run_checked()
            except ConfigError as error:
                refused.append(error)
                raise

        async def run_checked() -> int:
            if resources.is_endpoint_down(cell.cfg):
                raise ConfigError("not started: its model returned errors to other jobs")
            experiment, cell.experiment = cell.experiment or check(cell.cfg, cell.launch), None
            return await run_job(experiment, cell.folder, resources, resources.lease(experiment, begun))

        self.context.callbacks.on_job_start(config=cell.config, task_function=self.task)
        try:
            end = await end_of(cell.label, run_cell(), self._reported)
        finally:
            begun.set()
            resources.finish(cell.label)
            at_once.release()
        result = record_end(cell, end, self.context.callbacks)
        cell.code = CONFIG if refused else cell.code
        return result


def _remaining(plan: Sequence[Cell]) -> list[Cell]:
    return [part for cell in plan for part in (cell.parts or (cell,)) if not part.complete]


def exit_code(plan: Sequence[Cell]) -> int:
    """Say what failed. Returns the sweep's exit code."""
    failed: dict[tuple[int, str], list[Cell]] = {}
    for cell in plan:
        if cell.code:
            failed.setdefault((cell.code, cell.error), []).append(cell)
    for (code, error), jobs in failed.items():
        who = f"job {jobs[0].label}" if len(jobs) == 1 else f"{len(jobs)} jobs ({', '.join(job.label for job in jobs)})"
        where = jobs[0].folder if len(jobs) == 1 else jobs[0].folder.parent
        end = f"config error: {who}" if code == CONFIG else f"{who} ended with exit code {code}"
        print_note(f"{end}{error and f': {error}'}: {where}")
    codes = {cell.code for cell in plan if cell.code}
    if codes == {CONFIG} and any(not cell.code for cell in plan):
        return 1
    return 0 if not codes else codes.pop() if len(codes) == 1 else 1
