"""Composes a configuration, runs it and reports it."""

import os
import signal
import sys
from types import FrameType


def _leave(_: int, __: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)


if sys.argv[:1] == ["-m"] or sys.argv[0].endswith("/wardround"):  # a command starts, and handles Ctrl-C once it runs
    signal.signal(signal.SIGINT, _leave)
