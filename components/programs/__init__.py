"""Programs of others as processes: with the environment that is declared for them, what they write bounded, and ended
with their process group, which what they start may leave (``setsid``), also when this process is killed. The program
``python`` is the interpreter that runs this one; others are on the PATH."""

import asyncio
import atexit
import os
import shutil
import signal
import subprocess
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache

from components.core.errors import ConfigError
from components.text.words import written_out

_TAIL = 4000  # bytes of what a program wrote last
# Reads which groups were started and stopped; when its input ends, as this process has, it kills those that are left.
_WATCH = """left=' '
while read -r how group; do
  case $how in
    started) left="$left-$group " ;;
    stopped) left="${left%% -$group *} ${left#* -$group }" ;;
  esac
done
[ "$left" = ' ' ] || kill -s KILL -- $left"""


def check(command: Sequence[str], key: str) -> None:
    """Raises ConfigError for a command whose program is not there."""
    if not command:
        raise ConfigError(f"{key}: it is empty; name the program and its arguments, as in [python, agent.py]")
    if _located(command[0]) is None:
        raise ConfigError(f"{key}: there is no program {command[0]!r} on the PATH")


async def start(
    command: Sequence[str], names: Iterable[str], more: Mapping[str, str] | None = None, line_bytes: int = 1 << 16
) -> Process:
    """Start a program in a new process group. ``names``: the variables of this process that it gets, in addition to
    ``more`` only. Raises OSError."""
    env = {name: os.environ[name] for name in names if name in os.environ} | dict(more or {})
    program = _located(command[0]) or command[0]
    process = await asyncio.create_subprocess_exec(
        program, *command[1:], stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, start_new_session=True, limit=line_bytes
    )
    _note("started", process)
    return process


def absent(names: Iterable[str]) -> str:
    """The first of these variables that is not set; of PATH and HOME, which are named by default, neither."""
    return next((name for name in names if name not in os.environ and name not in ("PATH", "HOME")), "")


@cache
def _watcher() -> subprocess.Popen[bytes]:
    """The process that outlives this one for as long as it takes to kill what is left."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        ["/bin/sh", "-c", _WATCH], stdin=PIPE, stdout=quiet, stderr=quiet, env={}, bufsize=0, start_new_session=True
    )
    atexit.register(_end, process)
    return process


def _end(watcher: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):  # a fork of this process may still hold its input open
        watcher.communicate(timeout=2.0)


def _note(how: str, process: Process) -> None:
    with suppress(OSError):  # then a program is ended by ``stop`` alone
        pipe = _watcher().stdin
        assert pipe is not None, "it is a pipe"
        pipe.write(f"{how} {process.pid}\n".encode())


def _located(name: str) -> str | None:
    return sys.executable if name == "python" else shutil.which(name)


async def stop(process: Process, seconds: float = 0.0) -> None:
    """End a program and all in its group: after so many seconds in which it may end by itself, at once when cancelled.
    ``Process.wait`` would wait for the end of its streams, too, which are not read any more."""
    interrupt: asyncio.CancelledError | None = None
    for wait in (seconds, 5.0):
        try:
            await _exit_of(process, wait)
        except asyncio.CancelledError as error:  # the loop may be about to close, before which the exit must be seen
            interrupt = error
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    _note("stopped", process)
    process._transport.close()  # type: ignore[attr-defined]  # nothing public closes the streams
    if interrupt is not None:
        raise interrupt


async def _exit_of(process: Process, seconds: float) -> None:
    end = time.monotonic() + seconds
    while process.returncode is None and time.monotonic() < end:
        await asyncio.sleep(0.01)


async def read_tail(stream: asyncio.StreamReader, kept: bytearray) -> None:
    """Read a stream to its end, so that its writer never waits, and keep its end."""
    while piece := await stream.read(1 << 16):
        kept += piece
        del kept[:-_TAIL]


def last_line(kept: bytes | bytearray) -> str:
    """The last line that is not empty, shortened; empty where there is none."""
    lines = kept.decode("utf-8", "replace").split("\n")
    return next((written_out(line.strip())[:300] for line in reversed(lines) if line.strip()), "")


def describe_end(process: Process, kept: bytes | bytearray) -> str:
    """How a program ended, and its last line."""
    code, line = process.returncode, last_line(kept)
    if code is None:
        how = "is still running"
    else:
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return f"{how}{line and f': {line}'}"
