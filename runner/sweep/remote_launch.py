"""Launchers that take jobs to other processes: joblib and submitit by their Hydra plugins, Ray by our own.

A plugin provides the settings and the library. The jobs are those that the sweeper checked. One whose process dies is
started again, and resumes from its folder and the journal.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from traceback import format_exception_only
from typing import Any, Protocol

from hydra._internal.callbacks import Callbacks
from hydra.core.utils import JobReturn, JobStatus

from components.core.redaction import redact
from runner.config.targets import CODE_ERRORS
from runner.episode.budget import Spent
from runner.experiment.experiment import sweep_id
from runner.job.plan import Cell
from runner.sweep.engines import Joblib, RayEngine, Submitit
from runner.sweep.remote_job import COUNTED, JobResult, ProcessDied, RemoteJob, remote_jobs_of, spent_since
from runner.terminal.command import print_note
from runner.terminal.interrupts import Stopping

RESTARTS = 2
_ENGINES: "dict[str, Callable[[Any], Engine]]" = {  # class of a launcher -> how it takes jobs elsewhere
    "JoblibLauncher": lambda launcher: Joblib(dict(launcher.joblib)),
    "LocalLauncher": lambda launcher: Submitit("local", dict(launcher.params)),
    "SlurmLauncher": lambda launcher: Submitit("slurm", dict(launcher.params)),
    "Ray": lambda launcher: RayEngine(launcher.settings),
}


class Engine(Protocol):
    """Runs the jobs of a queue, which may grow meanwhile. Closed before its end it stops its processes."""

    def play(self, queue: deque[RemoteJob]) -> Generator[tuple[RemoteJob, JobResult | ProcessDied]]: ...


def launch(launcher: Any, owed: Sequence[Cell], jobs: int, spent: Spent) -> None:
    """Run what is owed of a sweep of so many ``jobs`` by a launcher that was set up, and note how each ended.

    ``spent`` is what was spent before, and after it what these took, too. Raises ConfigError.
    """
    make = _ENGINES.get(type(launcher).__name__)
    if make is None:
        results = launcher.launch([list(cell.overrides) for cell in owed], initial_job_idx=0)
        for cell, result in zip(owed, results, strict=True):
            if cell.code is None:  # it was composed again by a launcher of Hydra
                try:
                    cell.code = int(result.return_value)
                except CODE_ERRORS as error:
                    cell.code, cell.error = 1, redact(format_exception_only(error)[-1].strip())
        return
    engine = make(launcher)
    from runner.tracking import prepare

    first = owed[0]
    prepare(first.cfg, sweep=sweep_id(first.launch.sweep), total_jobs=jobs)
    if any(limit is not None for limit in first.cfg["budget"]["run"].values()):
        print_note(f"budget.run is divided: each of {len(owed)} jobs may take its part, since they share no process")
    callbacks = launcher.hydra_context.callbacks
    for cell in owed:
        callbacks.on_job_start(config=cell.config, task_function=launcher.task_function)
    orders = remote_jobs_of(owed, jobs, spent)
    for cell, order, end in zip(owed, orders, watch(engine, orders), strict=True):
        job = end.spent or spent_since(order)
        vars(spent).update({name: vars(spent)[name] + vars(job)[name] for name in COUNTED})
        ended(cell, end.error or end.code, callbacks)


def ended(cell: Cell, end: int | str, callbacks: Callbacks) -> JobReturn:
    """Note how a job ended: its exit code, or why it broke off. Returns it in Hydra's words."""
    cell.code, cell.error = (1, end) if isinstance(end, str) else (end, "")
    result = JobReturn(cell.overrides, cell.config, cell.config.hydra, os.getcwd(), cell.label)
    result.status = JobStatus.FAILED if cell.error else JobStatus.COMPLETED
    result.return_value = end
    callbacks.on_job_end(config=cell.config, job_return=result)
    return result


def watch(engine: Engine, orders: Sequence[RemoteJob]) -> list[JobResult]:
    """Run all. A job whose process dies is started again ``RESTARTS`` times at most, which is reported in the end."""
    ended: dict[str, JobResult] = {}
    deaths: Counter[str] = Counter()
    queue = deque(orders)
    with Stopping(), closing(engine.play(queue)) as playing:
        for order, end in playing:
            if isinstance(end, JobResult):
                ended[order.label] = end
                print(end.said, end="", flush=True)  # noqa: T201
                continue
            deaths[order.label] += 1
            if deaths[order.label] <= RESTARTS:
                queue.append(order)
                print_note(f"job {order.label}: {end.why}; it is begun again, what is finished is kept")
            else:
                ended[order.label] = JobResult(1, f"{end.why}, and so it did {RESTARTS} times before")
    if deaths:
        counts = ", ".join(f"{label} {min(n, RESTARTS)} x" for label, n in deaths.items())
        print_note(f"begun again since their processes died: {counts}")
    return [ended[order.label] for order in orders]
