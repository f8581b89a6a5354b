"""The command in the process of the tests: the same entry, without half a second of imports."""

import io
import logging
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import runner.__main__
from components.prompts import load

_ENTRY = Path(runner.__main__.__file__)


@contextmanager
def settled() -> Iterator[None]:
    """Restore what a command changes in its process: logging, signals, variables."""
    if absl := sys.modules.get("absl.logging"):  # came with rouge-score; it closes a stream that is not stderr's
        absl.get_absl_handler().python_handler.stream = sys.stderr
    root = logging.getLogger()
    handlers, level, interrupt = list(root.handlers), root.level, signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HYDRA_FULL_ERROR", "PYDANTIC_DISABLE_PLUGINS"):
            patch.setenv(name, os.environ.get(name, "1"))
        patch.setattr(sys, "path", list(sys.path))
        yield
    root.handlers[:], root.level = handlers, level
    signal.signal(signal.SIGINT, interrupt)


def command(cwd: Path, words: Sequence[str], env: Mapping[str, str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of ``python -m runner`` in a folder; what cannot be printed raises, as there."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    load.cache_clear()  # a new process has read no prompts
    with redirect_stdout(out), redirect_stderr(err), settled(), pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.endswith("_API_KEY")]:
            patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)
        patch.chdir(cwd)
        patch.setattr(sys, "argv", [str(_ENTRY), *words])
        code = runner.__main__.main()
    return code, *(stream.buffer.getvalue().decode() for stream in (out, err))
