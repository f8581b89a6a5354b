"""Jobs in other processes: what such a process is given, what it does, and what it says in the end."""

import io
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exception_only
from types import FrameType
from typing import Any

from hydra.core.utils import JobReturn, JobStatus

from components.core.redaction import redact
from runner import tracking
from runner.config.hydra_patches import Callbacks
from runner.config.targets import CODE_ERRORS
from runner.episode.budget import Budget, Spent
from runner.experiment.experiment import Launch
from runner.job.plan import Cell
from runner.job.prepare import check
from runner.job.shared_resources import SharedResources
from runner.job.task import Task, end_of
from runner.storage import records
from runner.terminal.command import print_note, stopping

_SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)  # by which schedulers ask a process to end

COUNTED = ("usd", "input_tokens", "output_tokens", "calls", "unreported")  # what jobs elsewhere add up to


@dataclass(frozen=True)
class RemoteJob:
    """A job as it was checked. ``jobs``: how many the sweep has; ``before``: what the records in its folder had taken
    when the command was given, where there is a budget; ``until``: when the time is over, in seconds since the epoch;
    the last three are the surroundings that the command was given in."""

    label: str
    folder: Path
    cfg: Mapping[str, Any]
    launch: Launch
    jobs: int
    before: Spent | None
    until: float | None
    cwd: str
    path: Sequence[str]
    argv: Sequence[str]


@dataclass(frozen=True)
class JobResult:
    """How a job ended: its exit code, its error, its output, and its spending, if known."""

    code: int
    error: str = ""
    said: str = ""
    spent: Spent | None = None


@dataclass(frozen=True)
class ProcessDied:
    """A job's process ended without a word."""

    why: str


Ends = Generator[tuple[RemoteJob, JobResult | ProcessDied]]
Engine = Callable[[deque[RemoteJob]], Ends]  # runs the jobs of a queue, which may grow; closed early it stops them


def remote_jobs_of(plan: Sequence[Cell], jobs: int, spent: Spent) -> list[RemoteJob]:
    """What to run elsewhere. Processes share no pool, so each job has its part of what ``budget.run`` has left."""
    here = os.getcwd(), tuple(sys.path), tuple(sys.argv)
    orders = []
    for n, cell in enumerate(plan):
        budget = cell.cfg["budget"]
        seconds = budget["run"]["seconds"]
        cfg = {**cell.cfg, "budget": {**budget, "run": _share(budget["run"], n, len(plan), spent)}}
        until = None if seconds is None else time.time() + seconds
        before = None if set(budget["run"].values()) == {None} else _spent_in(cell.folder)
        orders.append(RemoteJob(cell.label, cell.folder, cfg, cell.launch, jobs, before, until, *here))
    return orders


def _spent_in(folder: Path) -> Spent:
    """What finished samples took; the calls of samples that a dying process left unfinished are not known."""
    spent = Spent()
    for usage in (record["usage"] for record in records.read(folder)):
        spent.calls += usage["calls"]
        spent.usd += usage["cost_usd"] or 0
        spent.input_tokens += usage["input_tokens"] or 0
        spent.output_tokens += usage["output_tokens"] or 0
        spent.unreported += usage["calls"] if usage["input_tokens"] is None else 0
    return spent


def spent_since(order: RemoteJob) -> Spent:
    """What a job whose process died has taken of its part by its records; nothing without a budget."""
    if order.before is None:
        return Spent()
    before, now = vars(order.before), vars(_spent_in(order.folder))
    return Spent(**{name: max(0, now[name] - before[name]) for name in COUNTED})


def _share(budget: Mapping[str, Any], n: int, parts: int, spent: Spent) -> dict[str, Any]:
    """The budget of the n-th of so many jobs; what does not divide goes to the first ones."""
    usd, gone = budget["usd"], {"tokens": int(spent.likely_tokens), "calls": spent.calls}
    left = {key: None if budget[key] is None else max(0, budget[key] - n_gone) for key, n_gone in gone.items()}
    whole = {key: None if amount is None else (amount + parts - 1 - n) // parts for key, amount in left.items()}
    return {**whole, "usd": None if usd is None else max(0.0, usd - spent.usd) / parts, "seconds": budget["seconds"]}


def run_remote_job(order: RemoteJob) -> JobResult:
    """Run a job to its end. No exception may stop the other jobs, except signals."""
    from runner.job.run import run_job

    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    os.chdir(order.cwd)
    sys.path += [entry for entry in order.path if entry not in sys.path]
    sys.argv[:] = order.argv  # the resume command is printed with its words
    said, spent = io.StringIO(), Spent()

    async def work() -> int:
        vars(spent).update(vars(spent_since(order)))  # by a process that died
        experiment = check(order.cfg, order.launch)
        limits = order.cfg["budget"]["run"]
        left = None if order.until is None else max(0.0, min(limits["seconds"], order.until - time.time()))
        budget = Budget(**{**limits, "seconds": left})
        async with SharedResources(budget, jobs=order.jobs, spent=spent, terminal=False) as resources:
            return await run_job(experiment, order.folder, resources)

    with _signals(), redirect_stdout(said):
        end = Task().run(end_of(order.label, work(), set()))
        tracking.wait()  # a scheduler may end all processes of a job with it
    if isinstance(end, str):
        return JobResult(1, end, spent=spent)
    return JobResult(end, said=said.getvalue(), spent=spent)


@contextmanager
def _signals() -> Iterator[None]:
    """What a signal's handler raises ends the job as an interrupt does: it must not be the error of a sample."""
    raised: list[BaseException] = []

    def wrapped(handler: Callable[[int, FrameType | None], Any]) -> Callable[[int, FrameType | None], None]:
        def handle(number: int, frame: FrameType | None) -> None:
            try:
                handler(number, frame)
            except BaseException as error:
                raised.append(error)
                raise KeyboardInterrupt from error

        return handle

    here = threading.current_thread() is threading.main_thread()
    known = {number: signal.getsignal(number) for number in (_SIGNALS if here else ())}
    theirs = {number: handler for number, handler in known.items() if callable(handler)}
    for number, handler in theirs.items():
        signal.signal(number, wrapped(handler))
    try:
        yield
    except KeyboardInterrupt:
        raise raised[0] if raised else KeyboardInterrupt from None
    finally:
        for number, handler in theirs.items():
            signal.signal(number, handler)


RESTARTS = 2


def launch(launcher: Any, engine: Engine | None, remaining: Sequence[Cell], jobs: int, spent: Spent) -> None:
    """Run what remains of a sweep of so many ``jobs`` by a launcher that was set up, note how each ended, and add what
    they took to ``spent``. Raises ConfigError."""
    if engine is None:
        results = launcher.launch([list(cell.overrides) for cell in remaining], initial_job_idx=0)
        for cell, result in zip(remaining, results, strict=True):
            if cell.code is None:  # it was composed again by a launcher of Hydra
                try:
                    cell.code = int(result.return_value)
                except CODE_ERRORS as error:
                    cell.code, cell.error = 1, redact(format_exception_only(error)[-1].strip())
        return
    first = remaining[0]
    tracking.prepare(first.cfg, first.home, total_jobs=jobs)
    if any(limit is not None for limit in first.cfg["budget"]["run"].values()):
        print_note(f"budget.run is divided: each of {len(remaining)} jobs has an equal part")
    callbacks = launcher.hydra_context.callbacks
    for cell in remaining:
        callbacks.on_job_start(config=cell.config, task_function=launcher.task_function)
    orders = remote_jobs_of(remaining, jobs, spent)
    for cell, order, end in zip(remaining, orders, watch(engine, orders), strict=True):
        job = end.spent or spent_since(order)
        vars(spent).update({name: vars(spent)[name] + vars(job)[name] for name in COUNTED})
        record_end(cell, end.error or end.code, callbacks)


def record_end(cell: Cell, end: int | str, callbacks: Callbacks) -> JobReturn:
    """Record how a job ended: its exit code or its error. Returns Hydra's form of it."""
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
    with stopping(), closing(engine(queue)) as ends:
        for order, end in ends:
            if isinstance(end, JobResult):
                ended[order.label] = end
                print(end.said, end="", flush=True)  # noqa: T201
                continue
            deaths[order.label] += 1
            if deaths[order.label] <= RESTARTS:
                queue.append(order)
                print_note(f"job {order.label}: {end.why}; it is restarted, finished work is kept")
            else:
                ended[order.label] = JobResult(1, f"{end.why}, as in {RESTARTS} earlier starts")
    if deaths:
        counts = ", ".join(f"{label} {min(n, RESTARTS)} x" for label, n in deaths.items())
        print_note(f"restarted after their processes died: {counts}")
    return [ended[order.label] for order in orders]
