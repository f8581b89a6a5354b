"""The warm process from which episodes are forked: a clean interpreter with the libraries imported, without secrets.

It never runs code of cells. For every episode the host sends two descriptors: the channel, which goes to the episode's
supervisor, and a leash. When the host lets go of the leash the episode is killed; when the episode and all of its
processes are gone this process lets go of its end. One process waits for the next episode; it is forked while nothing
else is to do.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from components.sandbox import bwrap, kernel, places, worker
from components.sandbox.api import Tier
from components.sandbox.child import Ending
from components.sandbox.confining import REQUEST_BYTES, become_supervisor
from components.sandbox.frames import pack
from components.sandbox.scratch import remove, remove_inside

_WARM = (
    "pandas", "numpy", "pyarrow.acero", "sqlite3", "datetime", "calendar", "math", "statistics", "decimal", "fractions",
    "re", "json", "collections", "itertools", "functools", "operator", "string", "textwrap", "bisect", "heapq", "copy",
    "time", "csv", "dateutil.parser", "encodings.idna", "zoneinfo", "typing", "unicodedata", "difflib",
)  # fmt: skip
_LOOK_MS = 20.0  # between looks at episodes that are ending, and until there is nothing else to do


@dataclass(frozen=True)
class Waiting:
    """A process that waits for an episode; why there is none instead of its number."""

    pid: int
    orders: socket.socket
    failed: str

    def send(self, asked: Mapping[str, Any], channel: socket.socket) -> None:
        """Make it the supervisor of an episode; the host gets an error when that cannot be."""
        try:
            if self.failed:
                raise OSError(self.failed)
            socket.send_fds(self.orders, [json.dumps(asked).encode()], [channel.fileno()])
        except OSError as error:
            channel.sendall(pack({"fatal": f"{type(error).__name__}: {error}"}))
        self.orders.close()


@dataclass
class Running:
    """An episode that was forked: its supervisor, its end of the leash and its folder."""

    pid: int
    leash: socket.socket
    folder: str | None
    doomed: bool = False


class Zygote:
    """Forks episodes and sees that nothing of them stays."""

    def __init__(self, control: socket.socket, tier: Tier, base: str | None) -> None:
        self._control, self._tier, self._base = control, tier, base
        self._running: list[Running] = []
        self._next: Waiting | None = None
        self._readable = places.interpreter()
        self._slots = bwrap.slots() if tier == "bwrap" else []
        self._wake, waker = socket.socketpair()
        for end in (self._wake, waker):
            end.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._waker = waker

    def serve(self) -> None:
        """Until the host is gone; then nothing is left."""
        while self._step():
            continue
        if self._next is not None:
            _kill(self._next.pid)
        for one in self._running:
            _kill(one.pid)
        while self._running:
            select.select([self._wake], [], [], 0.05)
            self._reap()
        if self._base is not None:
            remove(Path(self._base))

    def _step(self) -> bool:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        held = [one for one in self._running if not one.doomed]
        for one in held:
            poll.register(one.leash, select.POLLIN)
        idle = self._next is not None and held == self._running
        ready = {descriptor for descriptor, _ in poll.poll(None if idle else _LOOK_MS)}
        if not ready and self._next is None:
            self._next = self._fork()
        for one in held:
            if one.leash.fileno() in ready:
                one.doomed = True
                _kill(one.pid)
        self._reap()
        return self._control.fileno() not in ready or self._open()

    def _open(self) -> bool:
        """Give the requested episode to the process that waits. False when the host is gone."""
        if not self._control.recv(1, socket.MSG_PEEK):
            return False
        self._next = self._ready()  # before there are descriptors that it must not have
        data, descriptors, _, _ = socket.recv_fds(self._control, REQUEST_BYTES, 2)
        channel, leash = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        with channel:
            if self._tier == "bwrap" and not self._slots:
                channel.sendall(pack({"fatal": f"more than {bwrap.SLOTS} episodes at once"}))
                leash.close()
            else:
                waiting, self._next = self._next, None
                folder = self._folder()
                self._running.append(Running(waiting.pid, leash, folder))
                waiting.send({**json.loads(data), "folder": folder}, channel)
        return True

    def _folder(self) -> str | None:
        """A scratch folder for an episode; None where the episode has a file system of its own."""
        if self._slots:
            return self._slots.pop()
        return tempfile.mkdtemp(dir=self._base) if self._base else None

    def _free(self, folder: str) -> None:
        if self._tier == "bwrap":
            remove_inside(Path(folder))
            self._slots.append(folder)
        else:
            remove(Path(folder))

    def _ready(self) -> Waiting:
        """The process that waits for an episode; a new one where there is none, or it ended."""
        if self._next is not None and _alive(self._next.pid):
            return self._next
        if self._next is not None:
            self._next.orders.close()
        return self._fork()

    def _fork(self) -> Waiting:
        """Fork a process for an episode, in a process group of its own."""
        orders, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        result, report = os.pipe()
        helper = os.fork()
        if not helper:
            with Ending():
                self._forget(orders)
                os.close(result)
                become_supervisor(self._tier, inside, report, self._readable)
        inside.close()
        os.close(report)
        with open(result) as file:
            written = file.read()
        return Waiting(int(written), orders, "") if written.isdigit() else Waiting(helper, orders, written)

    def _forget(self, mine: socket.socket) -> None:
        signal.set_wakeup_fd(-1)
        for held in (self._control, self._wake, self._waker, mine, *(one.leash for one in self._running)):
            held.close()

    def _reap(self) -> None:
        while select.select([self._wake], [], [], 0)[0]:
            self._wake.recv(4096)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            pass
        left = []
        for one in self._running:
            if _alive(one.pid):
                left.append(one)
                continue
            if one.folder is not None:
                self._free(one.folder)
            one.leash.close()
        self._running = left


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _alive(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _import(module: str) -> None:
    if module != "components.sandbox.probe":
        for name in _WARM:
            if importlib.util.find_spec(name.partition(".")[0]) is not None:
                importlib.import_module(name)
    importlib.import_module(module)
    worker.warm()


def main(config: dict[str, Any]) -> None:
    """Be a zygote until the host is gone."""
    os.umask(0o077)
    kernel.rename("cells")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=config["control"])
    kernel.adopt_orphans()
    _import(config["module"])
    places.leave_project()
    gc.collect()
    gc.disable()
    gc.freeze()
    Zygote(control, config["tier"], config["base"]).serve()


def start() -> NoReturn:
    """Be the zygote that the command line describes."""
    main(json.loads(sys.argv[-1]))
    sys.exit(0)
