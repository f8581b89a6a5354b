"""What a person sees while samples run: a live bar on a terminal, plain lines elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any, Protocol, Self

_EVERY_SECONDS = 10.0


class Spent(Protocol):
    """What was charged so far."""

    usd: float
    input_tokens: int
    output_tokens: int
    unpriced: int


class Calls(Protocol):
    """The calls of a job."""

    replayed: int

    @property
    def spent(self) -> Spent: ...

    @property
    def in_flight(self) -> int: ...


class Board:
    """The terminal's live display, one for all jobs of a process; elsewhere, or when it is not ours, there is none."""

    def __init__(self, ours: bool = True) -> None:
        self.live: Any = None
        self._ours = ours

    def __enter__(self) -> Self:
        if self._ours and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as Live

            columns = (
                TextColumn("{task.description}"),
                MofNCompleteColumn(),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[info]}"),
            )
            self.live = Live(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4)
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()
            self.live = None


class Progress:
    """A job's samples, errors, calls in flight, tokens, cost and time left."""

    def __init__(self, calls: Calls, total: int, done: int, name: str, board: Board | None = None) -> None:
        self._calls, self._total, self._done, self._first, self._name = calls, total, done, done, name
        self._errors = 0
        self._started = self._printed = time.monotonic()
        self._live = None if board is None else board.live
        self._task: Any = None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._task = self._live.add_task(self._name, total=self._total, completed=self._done, info="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.remove_task(self._task)

    def expect(self, n: int) -> None:
        """So many more samples are to come."""
        self._total += n
        if self._live is not None:
            self._live.update(self._task, total=self._total)

    def finished(self, errored: bool) -> None:
        """One sample is done."""
        self._done += 1
        self._errors += errored
        now = time.monotonic()
        if self._live is not None:
            self._live.update(self._task, completed=self._done, info=self.line())
        elif now - self._printed >= _EVERY_SECONDS:
            self._printed = now
            self.tell(f"{self._done}/{self._total} samples, {self.line()}")

    def tell(self, text: str) -> None:
        """Say something at once, above the bar where there is one."""
        said = f"{self._name}: {text}"
        if self._live is not None:
            self._live.console.print(said, markup=False, highlight=False, soft_wrap=True)
        else:
            print(said, file=sys.stderr, flush=True)  # noqa: T201

    def line(self) -> str:
        """The figures beside the bar."""
        spent, calls = self._calls.spent, self._calls
        here = self._done - self._first
        left = (time.monotonic() - self._started) / here * (self._total - self._done) if here else 0.0
        parts = [
            f"{calls.in_flight} calls in flight",
            f"{_short(spent.input_tokens + spent.output_tokens)} tokens",
            f"${spent.usd:.4f}" + (" + unpriced calls" if spent.unpriced else ""),
            f"{_clock(left)} left",
        ]
        if calls.replayed:
            parts.append(f"{calls.replayed} calls from the journal")
        if self._errors:
            parts.append(f"{self._errors} errored")
        return ", ".join(parts)


def _short(n: int) -> str:
    return f"{n / 1e6:.1f}M" if n >= 1e6 else f"{n / 1e3:.1f}k" if n >= 1e3 else str(n)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
