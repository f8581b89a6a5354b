"""What Hydra runs: one job, in this process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exception_only
from typing import TYPE_CHECKING, Any, TypeVar

from components.core.errors import ConfigError
from components.core.redaction import redact
from runner.job.exit_codes import CONFIG, ERRORS, INTERRUPTED
from runner.terminal.command import describe_os_error, interrupts, print_note

if TYPE_CHECKING:
    import asyncio

    from omegaconf import DictConfig

    from runner.job.prepare import Job

T = TypeVar("T")


@dataclass
class Task:
    """What Hydra runs. ``code`` is the exit code so far, ``resume`` what continues the run in ``folder``, ``swept`` the
    keys that a sweep varies, for launchers that compose its jobs again."""

    code: int = 0
    resume: str = ""
    folder: Path | None = None
    started: bool = False
    swept: tuple[str, ...] = ()

    def __call__(self, config: DictConfig) -> int:
        """Run one job: a single run, or one that a launcher of another kind took to another process."""
        from components.core.open_files import allow_open_files
        from runner.config.errors import complain
        from runner.job.prepare import PREPARED, job
        from runner.storage.resume import quote_path

        self.started = True
        try:
            allow_open_files(0)
            here = job(config, PREPARED.get(), self.swept)
            PREPARED.set(None)
            if here.experiment.cfg.get("stage") is None:  # a stage is continued by the same command
                self.resume, self.folder = self.resume or f"run.resume={quote_path(here.folder)}", here.folder
            with interrupts():
                self.code = self.run(run_alone(here))
            if self.code == INTERRUPTED:
                self.resume = ""
        except ConfigError as error:
            complain(error)
            self.code = CONFIG
        except BrokenPipeError:
            raise
        except OSError as error:
            print_note(f"error: {describe_os_error(error)}; finished work is kept{self.continuing}")
            self.code = ERRORS
        return self.code

    @property
    def continuing(self) -> str:
        """The command that continues the run, where there is one."""
        if not self.resume:
            return ""
        from runner.storage.manifest import command_line, read

        if self.folder is not None and read(self.folder).get("status") == "complete":
            return f"; the run is complete: {self.folder}"
        return f"; continue with:\n  {command_line(self.resume)}"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine, on uvloop where it is installed."""
        import asyncio

        make_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
        with suppress(ImportError):  # there is none for Windows
            import uvloop

            make_loop = uvloop.new_event_loop
        with asyncio.Runner(loop_factory=make_loop) as loop:
            return loop.run(work)


async def run_alone(job: Job) -> int:
    """Run a job that shares nothing. Returns its exit code."""
    from runner.episode.budget import Spent
    from runner.job.run import run_job
    from runner.job.shared_resources import SharedResources

    experiment, spent = job.experiment, Spent()
    if experiment.cfg["run"]["preflight"] and experiment.launch.sweep is None:
        from runner.job.preflight import run_preflight

        approved, spent = await run_preflight([job])
        if not approved:
            return INTERRUPTED
    async with SharedResources(experiment.budget, spent=spent) as resources:
        return await run_job(experiment, job.folder, resources)


async def end_of(label: str, work: Coroutine[Any, Any, int], reported: set[str]) -> int | str:
    """The exit code of a job, or the line with its error, which is logged: it must not stop other jobs. Errors that
    were ``reported`` for an earlier job are not printed again."""
    import asyncio

    async def ended() -> int | SystemExit:
        try:
            return await work
        except SystemExit as end:  # it would end the loop
            return end

    log, context = logging.getLogger("runner.sweep"), copy_context()  # where the work says which log is its own
    (end,) = await asyncio.gather(asyncio.create_task(ended(), context=context), return_exceptions=True)
    if isinstance(end, int):
        return end
    if not isinstance(end, Exception | SystemExit):  # an interrupt
        raise end
    if isinstance(end, ConfigError | OSError):  # a refusal, which the sweep's end names, or the machine: a line
        line = redact(str(end))
        level = logging.INFO if line in reported or isinstance(end, ConfigError) else logging.ERROR
        context.run(log.log, level, "job %s failed: %s", label, line)
        reported.add(line)
    else:
        line = redact(format_exception_only(end)[-1].strip())
        context.run(log.error, "job %s failed", label, exc_info=end)
    return line
