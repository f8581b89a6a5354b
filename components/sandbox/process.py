"""A zygote as the host sees it: starts it, opens episodes in it, and leaves nothing of it behind."""

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from components.sandbox import paths
from components.sandbox.api import Library, Limits, SandboxError, Tier

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
            line = [*paths.bwrap_command(readable, module, _ENVIRONMENT, scratch_bytes), *line]
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
