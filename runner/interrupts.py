"""Interrupts: which signals are one, and that it stays one, whatever is raised while it passes."""

from __future__ import annotations

import signal
from contextlib import ContextDecorator


class Interrupts(ContextDecorator):
    """Around work: an error over a KeyboardInterrupt becomes that interrupt again.

    A second Ctrl-C breaks off a clean-up, and what was half done there may fail when the next one tries it: numpy
    says so when it is imported twice. Hydra would tell of it as the error of a job, since it is an ``Exception``.
    """

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        while error is not None:
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            error = error.__context__


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
