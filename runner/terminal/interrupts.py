"""Interrupts: which signals interrupt, and that an interrupt stays one, whatever is raised while it passes."""

import signal
import sys
import threading
from contextlib import ContextDecorator, suppress
from types import FrameType


class Interrupts(ContextDecorator):
    """Around work: an error over a KeyboardInterrupt becomes that interrupt again; a second Ctrl-C may raise one."""

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if is_interrupt(error):
            raise KeyboardInterrupt from None


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is a KeyboardInterrupt, or was raised while one passed."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


class Stopping:
    """Around work that closes what is open before an interrupt passes: the first is answered at once, in a line."""

    def __enter__(self) -> None:
        """Handle SIGINT before the present handler, in the main thread."""
        main = threading.current_thread() is threading.main_thread()
        self._next = signal.getsignal(signal.SIGINT) if main else None
        if callable(self._next):
            signal.signal(signal.SIGINT, self._answer)

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        if callable(self._next) and signal.getsignal(signal.SIGINT) == self._answer:
            signal.signal(signal.SIGINT, self._next)

    def _answer(self, number: int, frame: FrameType | None) -> None:
        assert callable(self._next), "else it does not come here"
        signal.signal(number, self._next)
        with suppress(RuntimeError):  # it came while something else was being printed
            print("stopping, what is finished is kept; Ctrl-C again breaks off at once", file=sys.stderr, flush=True)  # noqa: T201
        self._next(number, frame)


class Signals:
    """SIGINT interrupts even where a shell had it ignored; SIGTERM does the same."""

    def __enter__(self) -> None:
        """Take both."""
        self._old = {s: signal.signal(s, signal.default_int_handler) for s in (signal.SIGINT, signal.SIGTERM)}
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))

    def __exit__(self, *_: object) -> None:
        """Give them back."""
        for number, handler in self._old.items():
            signal.signal(number, handler)
