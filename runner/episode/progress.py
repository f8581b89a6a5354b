"""What is reported while episodes run: a live bar on a terminal, plain lines elsewhere, and the log of the run."""

import logging
import sys
import time
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

from runner.episode.door import Door

_EVERY_SECONDS = 10.0
_LOG: ContextVar[logging.Handler] = ContextVar("log")  # of the current job


class Board:
    """The terminal's live display, one for all jobs of a process. ``live`` is None elsewhere, or where not ``ours``."""

    def __init__(self, ours: bool = True) -> None:
        self.live: Any = None
        self.ours = ours

    def __enter__(self) -> Self:
        if self.ours and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            description, info = TextColumn("{task.description}"), TextColumn("{task.fields[info]}")
            columns = description, MofNCompleteColumn(), BarColumn(bar_width=20), info
            self.live = Progress(
                *columns, console=Console(stderr=True, soft_wrap=True), transient=True, refresh_per_second=4
            )
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()
            self.live = None


class Progress:
    """A job's samples, errors, calls in flight, tokens, cost and time left."""

    def __init__(self, door: Door, total: int, done: int, name: str, board: Board | None = None) -> None:
        self._door, self._total, self._done, self._first, self._name = door, total, done, done, name
        self._errors = 0
        self._started = self._printed = time.monotonic()
        self._live = None if board is None else board.live
        self._task: Any = None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._task = self._live.add_task(self._name, total=self._total, completed=self._done, info="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.remove_task(self._task)

    def expect(self, n: int) -> None:
        """Add so many samples to the total."""
        self._total += n
        if self._live is not None:
            self._live.update(self._task, total=self._total)

    def finished(self, errored: bool) -> None:
        """Count a sample that is done."""
        self._done += 1
        self._errors += errored
        if self._live is not None:
            self._live.update(self._task, completed=self._done, info=self._figures())
        elif (now := time.monotonic()) - self._printed >= _EVERY_SECONDS:
            self._printed = now
            self.report(f"{self._done}/{self._total} samples, {self._figures()}")

    def report(self, text: str) -> None:
        """Print something at once, above the bar where there is one."""
        line = f"{self._name}: {text}"
        if self._live is not None:
            self._live.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)  # noqa: T201

    def _figures(self) -> str:
        spent, done, n = self._door.spent, self._done - self._first, self._door.spent.tokens
        tokens = f"{n / 1e6:.1f}M" if n >= 1e6 else f"{n / 1e3:.1f}k" if n >= 1e3 else str(n)
        parts = [
            f"{spent.pending} calls in flight",
            f"{tokens} tokens",
            f"${spent.usd:.4f}" + (" + unpriced calls" if spent.unpriced else ""),
        ]
        if done > spent.pending:  # before, the time of the first replies says nothing of those that follow
            left = (time.monotonic() - self._started) / done * (self._total - self._done)
            parts.append(f"{clock(left)} left")
        if self._door.replayed:
            parts.append(f"{self._door.replayed} calls from the journal")
        if self._errors:
            parts.append(f"{self._errors} errored")
        return ", ".join(parts)


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class _RunLog(logging.FileHandler):
    """Takes what its own job logs, also where several jobs run at once."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the current job is this log's."""
        return _LOG.get(self) is self

    def handleError(self, record: logging.LogRecord) -> None:  # logging's name
        """Ignore it: a full disk is reported once, by the files that are needed."""

    def close(self) -> None:
        """Leave the root logger, and close the file; ignore a full disk, as above."""
        logging.getLogger().removeHandler(self)
        with suppress(OSError):
            super().close()


def log_to(path: Path) -> logging.Handler:
    """Write warnings and our own messages of the current job to a file."""
    logging.getLogger("runner").setLevel(logging.INFO)
    handler = _RunLog(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    _LOG.set(handler)
    return handler
