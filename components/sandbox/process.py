"""Processes as the host sees them: a zygote, and a worker, by pipes whose other ends hostile code may hold."""

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from components.sandbox import namespaces, paths
from components.sandbox.api import FrameError, Library, Limits, Ran, Reader, SandboxError, Tier, cap, pack, read_ran

_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC0", "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1",
}  # fmt: skip
_START = """
import sys, types
root = sys.argv[1]
sys.path.insert(0, root)
package = sys.modules["components.sandbox"] = types.ModuleType("components.sandbox")
package.__path__ = [root + "/components/sandbox"]  # without its __init__: the host's side is not needed here
from components.sandbox.zygote import start
start()
"""
_CHUNK = 1 << 16
_MOST = 1 << 20  # bytes that a pipe may hold
_GONE_SECONDS = 10.0
_END_SECONDS = 2.0  # between the end of its channel and its own
_shared: "dict[tuple[Tier, str, tuple[str, ...], int], ZygoteProcess]" = {}


class Gone(Exception):
    """The process that ran the cells is gone."""


class ZygoteProcess:
    """A zygote that was started. It ends with its control socket, so also when this process is killed."""

    def __init__(self, tier: Tier, module: str, readable: Sequence[str] = (), scratch_bytes: int = 0) -> None:
        """Start it; the imports run while this process does other things. Raises SandboxError. ``readable`` and
        ``scratch_bytes`` are needed by the tier bwrap, where all episodes have the same."""
        self.owner = os.getpid()
        needs_folder = tier in ("landlock", "rlimits")
        self._base = tempfile.mkdtemp(prefix="wardround-cells-") if needs_folder else None
        self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config = {"control": control.fileno(), "tier": tier, "module": module, "base": self._base}
        root = str(paths.PROJECT)
        line = [sys.executable, "-s", "-P", "-c", _START, root, json.dumps(config)]
        if tier == "bwrap":
            line = [*namespaces.bwrap_command(readable, module, _ENVIRONMENT, scratch_bytes), *line]
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        try:
            self._process = subprocess.Popen(
                line, env=_ENVIRONMENT, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=self._stderr, pass_fds=[control.fileno()], start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._stderr.close()
            self._control.close()
            raise SandboxError(f"the sandbox's process cannot be started: {error}") from error
        finally:
            control.close()

    @property
    def alive(self) -> bool:
        """Whether it runs, and was started by this very process."""
        return self.owner == os.getpid() and self._control.fileno() >= 0 and self._process.poll() is None

    def open(self, library: Library, limits: Limits, keep: bool) -> tuple[socket.socket, socket.socket]:
        """Request an episode; returns channel and leash. Raises Gone."""
        readable = [os.path.abspath(path) for path in library.readable]
        request = {**vars(library), "readable": readable, "limits": asdict(limits), "keep": keep}
        channel, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        leash, leash_inside = socket.socketpair()
        try:
            data = json.dumps(request, default=dict).encode()
            socket.send_fds(self._control, [data], [inside.fileno(), leash_inside.fileno()])
        except OSError as error:
            channel.close()
            leash.close()
            raise Gone(f"the sandbox's process is gone{self.last_output()}") from error
        finally:
            inside.close()
            leash_inside.close()
        return channel, leash

    def last_output(self) -> str:
        """The last that it wrote, when it ended; waits for its end a moment."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        if self._process.returncode is None or self._stderr.closed:
            return ""
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").split("\n")
        return next((f" ({line[:300]})" for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """End it and wait until it and all of its episodes are gone."""
        if self.owner != os.getpid() or self._control.fileno() < 0:
            return
        self._control.close()
        try:
            self._process.wait(_GONE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()
        if self._base is not None:
            paths.remove(Path(self._base))


def shared(tier: Tier, library: Library, limits: Limits) -> ZygoteProcess:
    """The zygote of this process for a library; a new one where there is none, or it ended. Raises SandboxError. It
    stays until the process ends, also when the sandboxes that share it are closed, or until ``close_all``."""
    alike = tier != "bwrap"
    readable = () if alike else tuple(os.path.abspath(path) for path in library.readable)
    key = (tier, library.module, readable, 0 if alike else limits.scratch_bytes)
    zygote = _shared.get(key)
    if zygote is None or not zygote.alive:
        if zygote is not None:
            zygote.close()
        zygote = _shared[key] = ZygoteProcess(*key)
    return zygote


def close_all() -> None:
    """End every zygote of this process, with the episodes in it."""
    while _shared:
        _shared.popitem()[1].close()


atexit.register(close_all)


class WorkerPipes:
    """The host's ends: cells go in, one result per cell comes out, and what the cell prints."""

    def __init__(self, descriptors: Sequence[int], limits: Limits) -> None:
        """Take descriptors: for cells, results, output, the worker's process, and its pledge to stay."""
        self._cells, self._results, self._output, self._process, self._pledge = descriptors
        self._limits = limits
        self._reader = Reader(cap(limits.answer_bytes))
        self._printed = bytearray()
        self._sending = b""
        self._token = ""
        self.stays = True  # it survives this cell; it reported that before the cell began
        self.finished = False  # it closed its pipe of results
        self._waiting = select.epoll()
        for descriptor in (*descriptors[:3], self._pledge):
            os.set_blocking(descriptor, False)
        self._waiting.register(self._results, select.EPOLLIN)

    def fileno(self) -> int:
        """A descriptor that is readable when there is something to do."""
        return self._waiting.fileno()

    def begin(self, cell: str, token: str) -> None:
        """Start a cell, whose result must hold the token. Raises FrameError when something came before it."""
        self._printed.clear()
        for _ in range(_MOST // _CHUNK + 1):  # what was printed after the result of the cell before
            if not _read(self._output):
                break
        else:
            raise FrameError("its output does not end")
        self._receive()
        if self._reader.rest:
            raise FrameError("it came without a cell")
        self._token = token
        self._waiting.register(self._output, select.EPOLLIN)
        self._sending = pack({"cell": cell, "token": token})
        self._send()
        if self._sending:
            self._waiting.register(self._cells, select.EPOLLOUT)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGCONT)

    def _send(self) -> None:
        try:
            self._sending = self._sending[os.write(self._cells, self._sending) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._sending = b""

    def work(self) -> bool:
        """Send and collect what can be; False once there is as much output as may be, and the rest is not read."""
        if self._sending:
            self._send()
            if not self._sending:
                self._waiting.unregister(self._cells)
        return self._collect()

    def result(self) -> Ran | None:
        """The result, when it is there: at once from a worker that stays, else when it closed its pipe. Raises
        FrameError for what is not a result of this cell, and for more than one."""
        self._receive()
        if self._reader.rest:
            self.stays = _read(self._pledge) is None
        if not (self.stays or self.finished):
            return None
        frame = self._reader.take()
        if self._reader.rest and (frame is not None or self.finished):
            raise FrameError("more than one reply, or a part of one")
        return None if frame is None else read_ran(frame, self._token, self._limits.answer_bytes)

    def _receive(self) -> None:
        while data := _read(self._results):
            self._reader.feed(data)
        self.finished = data is not None

    def _collect(self) -> bool:
        data: bytes | None = b""
        while (left := self._limits.output_bytes - len(self._printed)) > 0 and (data := _read(self._output)):
            self._printed += data[:left]
        if data is not None:
            self._ignore_output()
        return left > 0

    def _ignore_output(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._waiting.unregister(self._output)

    def end(self) -> str:
        """What the cell printed, now that it is over."""
        self._collect()
        self._ignore_output()
        return self._printed.decode("utf-8", "ignore")

    def close(self) -> None:
        """Close them."""
        self._waiting.close()
        for descriptor in (self._cells, self._results, self._output, self._process, self._pledge):
            os.close(descriptor)


def _read(descriptor: int) -> bytes | None:
    """What is there; empty at the end, None when there is nothing yet."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
