"""Launchers that take jobs to other processes: joblib and submitit by their Hydra plugins, Ray by our own.

A plugin provides the settings and the library. The jobs are those that the sweeper checked. One whose process dies is
started again, and resumes from its folder and the journal.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, Protocol

from hydra.core.utils import JobReturn, JobStatus

from runner.episode.budget import Spent
from runner.experiment.facts import sweep_id
from runner.job.plan import Cell
from runner.sweep.engines import Joblib, Submitit
from runner.sweep.remote_job import COUNTED, JobResult, ProcessDied, RemoteJob, remote_jobs_of, spent_since
from runner.terminal.command import print_note
from runner.terminal.interrupts import Stopping

RESTARTS = 2
_PLUGINS: "dict[str, Callable[[Any], Engine]]" = {
    "JoblibLauncher": lambda launcher: Joblib(dict(launcher.joblib)),
    "LocalLauncher": lambda launcher: Submitit("local", dict(launcher.params)),
    "SlurmLauncher": lambda launcher: Submitit("slurm", dict(launcher.params)),
}


class Engine(Protocol):
    """Runs the jobs of a queue, which may grow meanwhile. Closed before its end it stops its processes."""

    def play(self, queue: deque[RemoteJob]) -> Generator[tuple[RemoteJob, JobResult | ProcessDied]]: ...


def launch(launcher: Any, owed: Sequence[Cell], jobs: int, spent: Spent) -> Sequence[JobReturn]:
    """Run what is owed of a sweep of so many ``jobs`` by a launcher that was set up. Raises ConfigError.

    ``spent`` is what was spent before, and after it what these took, too.
    """
    engine = _engine(launcher)
    if engine is None:
        launched: Sequence[JobReturn] = launcher.launch([list(cell.overrides) for cell in owed], initial_job_idx=0)
        return launched
    from runner.tracking import prepare

    first = owed[0]
    prepare(first.cfg, sweep=sweep_id(first.launch.sweep), total_jobs=jobs)
    if any(limit is not None for limit in first.cfg["budget"]["run"].values()):
        print_note(f"budget.run is divided: each of {len(owed)} jobs may take its part, since they share no process")
    callbacks = launcher.hydra_context.callbacks
    for cell in owed:
        callbacks.on_job_start(config=cell.config, task_function=launcher.task_function)
    orders = remote_jobs_of(owed, jobs, spent)
    ended = watch(engine, orders)
    for order, end in zip(orders, ended, strict=True):
        job = end.spent or spent_since(order)
        vars(spent).update({name: vars(spent)[name] + vars(job)[name] for name in COUNTED})
    results: list[JobReturn] = []
    for cell, end in zip(owed, ended, strict=True):
        result = JobReturn(cell.overrides, cell.config, cell.config.hydra, os.getcwd(), cell.label)
        result.status = JobStatus.FAILED if end.error else JobStatus.COMPLETED
        result.return_value = end.error or end.code
        results.append(result)
        callbacks.on_job_end(config=cell.config, job_return=result)
    return results


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


def _engine(launcher: Any) -> Engine | None:
    """How a launcher takes jobs elsewhere; None for one that is left to itself."""
    if hasattr(launcher, "engine"):
        ours: Engine = launcher.engine()
        return ours
    make = _PLUGINS.get(type(launcher).__name__)
    return None if make is None else make(launcher)
