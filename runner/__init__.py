"""Composes a configuration, runs it and reports it."""

import os
import signal
import sys
from types import FrameType


def _leave(_: int, __: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)


_words = iter(sys.orig_argv)
_module = next((next(_words, "") for word in _words if word == "-m"), "") if sys.argv[0] == "-m" else ""
if _module.partition(".")[0] == "runner" or sys.argv[0].endswith("/wardround"):  # a command, which handles Ctrl-C later
    signal.signal(signal.SIGINT, _leave)
