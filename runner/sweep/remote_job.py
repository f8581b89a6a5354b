"""Jobs in other processes: what such a process is given, what it does, and what it says in the end."""

import io
import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from components.core.errors import ConfigError
from components.core.redaction import redact
from runner.episode.budget import Spent
from runner.experiment.experiment import Launch
from runner.job.plan import Cell
from runner.storage import records

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
    """How a job ended: its exit code, why it broke off, what it printed, and what it took, if its process knows."""

    code: int
    error: str = ""
    said: str = ""
    spent: Spent | None = None


@dataclass(frozen=True)
class ProcessDied:
    """A job's process ended without a word."""

    why: str


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
    usages: list[Mapping[str, Any]] = [record["usage"] for record in records.read(folder)]
    names = {"usd": "cost_usd", "input_tokens": "input_tokens", "output_tokens": "output_tokens", "calls": "calls"}
    unreported = sum(usage["calls"] for usage in usages if usage["input_tokens"] is None)
    return Spent(
        **{name: sum(usage[key] or 0 for usage in usages) for name, key in names.items()}, unreported=unreported
    )


def spent_since(order: RemoteJob) -> Spent:
    """What a job has taken of its part by its records, calls that the journal answered included.

    For jobs whose process died; nothing without a budget.
    """
    if order.before is None:
        return Spent()
    before, now = vars(order.before), vars(_spent_in(order.folder))
    return Spent(**{name: max(0, now[name] - before[name]) for name in COUNTED})


def _share(budget: Mapping[str, Any], n: int, parts: int, spent: Spent) -> dict[str, Any]:
    """The budget of the n-th of so many jobs; what does not divide goes to the first ones."""
    usd, tokens, calls = budget["usd"], budget["tokens"], budget["calls"]
    return {
        "usd": None if usd is None else max(0.0, usd - spent.usd) / parts,
        "tokens": None if tokens is None else (max(0, tokens - int(spent.likely_tokens)) + parts - 1 - n) // parts,
        "calls": None if calls is None else (max(0, calls - spent.calls) + parts - 1 - n) // parts,
        "seconds": budget["seconds"],
    }


def play(order: RemoteJob) -> JobResult:
    """Play a job to its end, whatever that is: nothing that it raises may stop the others.

    The process ends when a signal asks it to.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    os.chdir(order.cwd)
    sys.path += [entry for entry in order.path if entry not in sys.path]
    sys.argv[:] = order.argv  # the resume command is printed with its words
    said, spent = io.StringIO(), Spent()
    with _signals():
        try:
            spent = spent_since(order)  # by a process that died
            with redirect_stdout(said):
                code = _run(order, spent)
        except (ConfigError, OSError) as error:  # a refusal or the machine: a line is enough
            said_why = redact(str(error))
            logging.getLogger(__name__).error("job %s broke off: %s", order.label, said_why)
            return JobResult(1, said_why, spent=spent)
        except (Exception, SystemExit) as error:
            logging.getLogger(__name__).exception("job %s broke off", order.label)
            return JobResult(1, redact(traceback.format_exception_only(error)[-1].strip()), spent=spent)
    return JobResult(code, said=said.getvalue(), spent=spent)


@contextmanager
def _signals() -> Iterator[None]:
    """What a signal's handler raises is raised where the job ends, which it ends as an interrupt does.

    Ray and submitit raise a SystemExit in whatever runs then, which may be a sample: that would be its error.
    """
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


def _run(order: RemoteJob, spent: Spent) -> int:
    from runner.episode.budget import Budget
    from runner.job.prepare import check
    from runner.job.shared_resources import SharedResources
    from runner.job.task import Task

    experiment = check(order.cfg, order.launch)
    left = None if order.until is None else max(0.0, order.until - time.time())
    budget = Budget(**{**order.cfg["budget"]["run"], "seconds": left})
    task = Task()

    async def work() -> int:
        async with SharedResources(budget, jobs=order.jobs, spent=spent, terminal=False) as resources:
            return await task.play(experiment, order.folder, resources)

    code: int = task.run(work(), ours=False)
    return code
