"""The warm process from which episodes are forked: a clean interpreter with the libraries imported, without secrets.

It never runs code of cells. For every episode the host sends two descriptors: the channel, which goes to the episode's
supervisor, and a leash. When the host closes its end of the leash the episode is killed; when all of it is gone this
process closes its own end. One process waits for the next episode; it is forked while there is nothing else to do.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import random
import select
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from components.sandbox import kernel, namespaces, paths, worker
from components.sandbox.api import MESSAGE_BYTES, Limits, Tier
from components.sandbox.supervisor import Supervisor
from components.sandbox.worker import Clean, Settings

_WARM = (
    "pandas", "numpy", "pyarrow.acero", "sqlite3", "datetime", "calendar", "math", "statistics", "decimal", "fractions",
    "re", "json", "collections", "itertools", "functools", "operator", "string", "textwrap", "bisect", "heapq", "copy",
    "time", "csv", "dateutil.parser", "encodings.idna", "zoneinfo", "typing", "unicodedata", "difflib",
)  # fmt: skip
_LOOK_MS = 20.0  # between looks at episodes that are ending, and until there is nothing else to do


@dataclass(frozen=True)
class Waiting:
    """A process that waits for an episode; ``failed``: why it cannot."""

    pid: int
    orders: socket.socket
    failed: str


@dataclass
class Running:
    """An episode that was forked: its supervisor, this process' end of the leash, and its folder."""

    pid: int
    leash: socket.socket
    folder: str | None
    doomed: bool = False


class Zygote:
    """Forks episodes and ensures that nothing of them stays."""

    def __init__(self, control: socket.socket, tier: Tier, base: str | None) -> None:
        self._control, self._tier, self._base = control, tier, base
        self._running: list[Running] = []
        self._next: Waiting | None = None
        self._readable = paths.interpreter()
        self._slots = list(paths.BWRAP_SLOTS) if tier == "bwrap" else []
        self._wake, self._waker = socket.socketpair()
        for end in (self._wake, self._waker):
            end.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until the host is gone; then nothing is left."""
        while True:
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            poll.register(self._wake, select.POLLIN)
            alive = [one for one in self._running if not one.doomed]
            for one in alive:
                poll.register(one.leash, select.POLLIN)
            idle = self._next is not None and alive == self._running
            ready = {descriptor for descriptor, _ in poll.poll(None if idle else _LOOK_MS)}
            if not ready and self._next is None:
                self._next = self._fork()
            for one in alive:
                if one.leash.fileno() in ready:
                    one.doomed = True
                    _kill(one.pid)
            self._reap()
            if self._control.fileno() in ready and not self._open():
                break
        for pid in [one.pid for one in self._running] + ([self._next.pid] if self._next else []):
            _kill(pid)
        while self._running:
            select.select([self._wake], [], [], 0.05)
            self._reap()
        if self._base is not None:
            paths.remove(Path(self._base))

    def _open(self) -> bool:
        """Give the requested episode to the process that waits. False when the host is gone."""
        if not self._control.recv(1, socket.MSG_PEEK):
            return False
        if self._next is not None and not _alive(self._next.pid):
            self._next.orders.close()
            self._next = None
        waiting = self._next or self._fork()  # before there are descriptors that it must not have
        self._next = None
        data, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 2)
        channel, leash = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        with channel:
            if self._tier == "bwrap" and not self._slots:
                channel.send(json.dumps({"fatal": f"more than {len(paths.BWRAP_SLOTS)} episodes at once"}).encode())
                leash.close()
                self._next = waiting
            else:
                folder = self._slots.pop() if self._slots else self._base and tempfile.mkdtemp(dir=self._base)
                self._running.append(Running(waiting.pid, leash, folder))
                request = {**json.loads(data), "folder": folder}
                try:
                    if waiting.failed:
                        raise OSError(waiting.failed)
                    socket.send_fds(waiting.orders, [json.dumps(request).encode()], [channel.fileno()])
                except OSError as error:
                    channel.send(json.dumps({"fatal": f"{type(error).__name__}: {error}"}).encode())
                waiting.orders.close()
        return True

    def _fork(self) -> Waiting:
        """Fork a process for an episode, in a separate process group."""
        orders, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        helper = os.fork()
        if not helper:
            try:
                signal.set_wakeup_fd(-1)
                for end in (self._control, self._wake, self._waker, orders, *(one.leash for one in self._running)):
                    end.close()
                _wait_for_episode(self._tier, inside, self._readable)
            finally:
                os._exit(1)
        inside.close()
        report = orders.recv(MESSAGE_BYTES).decode()
        return Waiting(int(report), orders, "") if report.isdigit() else Waiting(helper, orders, report or "it ended")

    def _reap(self) -> None:
        while select.select([self._wake], [], [], 0)[0]:
            self._wake.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        for one in [one for one in self._running if not _alive(one.pid)]:
            self._running.remove(one)
            if one.folder is not None and self._tier == "bwrap":
                paths.remove_inside(Path(one.folder))
                self._slots.append(one.folder)
            elif one.folder is not None:
                paths.remove(Path(one.folder))
            one.leash.close()


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _alive(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _wait_for_episode(tier: Tier, orders: socket.socket, readable: list[str]) -> None:
    """Be a process that waits for an episode, not yet confined, and then its supervisor. It sends its number, or why it
    cannot, through ``orders`` once it leads its process group; then one request comes, with the channel to the host."""
    kernel.prctl(kernel.SET_NAME, "cells-waiting")
    try:
        if tier == "namespaces":
            namespaces.enter()
            maker = os.pidfd_open(os.getpid())
            if inside := os.fork():
                os.setpgid(inside, inside)
                orders.send(str(inside).encode())
                return
            select.select([maker], [], [])  # the zygote is the parent from here on
            os.close(maker)
        else:
            os.setpgid(0, 0)
            orders.send(str(os.getpid()).encode())
    except OSError as error:
        orders.send(f"OSError: {error}".encode())
        return
    kernel.prctl(kernel.PARENT_DEATH_SIGNAL, signal.SIGKILL)
    data, descriptors, _, _ = socket.recv_fds(orders, MESSAGE_BYTES, 1)
    orders.close()
    if not data:
        return
    kernel.prctl(kernel.SET_NAME, "cells-episode")
    channel = socket.socket(fileno=descriptors[0])
    try:
        _supervise(tier, json.loads(data), channel, readable)
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        channel.send(json.dumps({"fatal": text[:2000]}).encode())
        raise


def _supervise(tier: Tier, request: Mapping[str, Any], channel: socket.socket, readable: list[str]) -> NoReturn:
    limits, own, folder = Limits(**request["limits"]), request["readable"], request["folder"]
    scratch: paths.Folder
    if tier == "namespaces":
        namespaces.build_root([*readable, *own], paths.HIDDEN)
        scratch = mounted = paths.Memory(limits.scratch_bytes, paths.SCRATCH)
        mounted.mount()
        os.chdir(mounted.path)
    else:
        kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if tier != "rlimits":
            allowed = paths.without([*readable, *map(os.path.realpath, own)], paths.HIDDEN)
            kernel.restrict_paths(allowed, [folder, *paths.DEVICES])
        scratch = (paths.Mounted if tier == "bwrap" else paths.Folder)(limits.scratch_bytes, folder)
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # the zygote has another
    random.seed(worker.SEED)
    names = importlib.import_module(request["module"]).names(**request["arguments"])
    table = {scratch.path: paths.SCRATCH, sys.prefix: "/python", sys.base_prefix: "/python"}
    table |= {os.path.dirname(path): "/data" for path in own if os.path.dirname(path) != "/"}
    shown_as = {path: name for path, name in table.items() if path != name}
    settings = Settings(limits, request["keep"], tier, scratch.path, request["rehearsal"], Clean(shown_as))
    supervisor = Supervisor(channel, names, settings, scratch)
    channel.send(json.dumps({"ready": shown_as}).encode())
    supervisor.serve()


def start() -> NoReturn:
    """Be the zygote that the last argument of the command line describes, until the host is gone."""
    config = json.loads(sys.argv[-1])
    os.umask(0o077)
    kernel.prctl(kernel.SET_NAME, "cells")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=config["control"])
    kernel.prctl(kernel.CHILD_SUBREAPER, 1)
    importlib.import_module(config["module"])
    if config["module"] != "components.sandbox.probe":
        for name in _WARM:
            if importlib.util.find_spec(name.partition(".")[0]) is not None:
                importlib.import_module(name)
    worker.warm()
    paths.leave_project()
    gc.collect()
    gc.disable()
    gc.freeze()
    Zygote(control, config["tier"], config["base"]).serve()
    sys.exit(0)
