"""The warm process from which episodes are forked: a clean interpreter with the libraries imported, without secrets.

It never runs code of cells. For every episode the host sends two descriptors: the channel, which goes to the episode's
supervisor, and a leash. When the host lets go of the leash the episode is killed; when the episode and all of its
processes are gone this process lets go of its end.
"""

from __future__ import annotations

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from components.sandbox import bwrap, kernel, places, worker
from components.sandbox.child import Ending
from components.sandbox.confining import Episode, live
from components.sandbox.frames import FrameError, Reader, pack
from components.sandbox.scratch import remove, remove_inside

_WARM = (
    "pandas", "numpy", "pyarrow.acero", "sqlite3", "datetime", "calendar", "math", "statistics", "decimal", "fractions",
    "re", "json", "collections", "itertools", "functools", "operator", "string", "textwrap", "bisect", "heapq", "copy",
    "time", "csv", "dateutil.parser", "encodings.idna", "zoneinfo", "typing", "unicodedata", "difflib",
)  # fmt: skip
_REQUEST_BYTES = 1 << 20


@dataclass
class Running:
    """An episode that was forked: its supervisor, its end of the leash and its folder."""

    pid: int
    leash: socket.socket
    folder: str | None
    doomed: bool = False


class Zygote:
    """Forks episodes and sees that nothing of them stays."""

    def __init__(self, control: socket.socket, tier: str, base: str | None) -> None:
        self._control, self._tier, self._base = control, tier, base
        self._running: list[Running] = []
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
            self._reap()
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
        ready = {descriptor for descriptor, _ in poll.poll(None if held == self._running else 20)}
        for one in held:
            if one.leash.fileno() in ready:
                one.doomed = True
                _kill(one.pid)
        return self._control.fileno() not in ready or self._open()

    def _open(self) -> bool:
        """Fork an episode. False when the host is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._control, _REQUEST_BYTES, 2)
        if not data:
            return False
        channel, leash = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        reader = Reader(_REQUEST_BYTES)
        try:
            reader.feed(data)
            asked = reader.take()
        except FrameError:
            asked = None
        if asked is not None and (self._tier != "bwrap" or self._slots):
            folder = self._folder()
            episode = Episode.read(asked, self._tier, folder)
            self._running.append(Running(self._fork(episode, channel, leash), leash, folder))
        elif asked is not None:
            channel.sendall(pack({"fatal": f"more than {bwrap.SLOTS} episodes at once"}))
        channel.close()
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

    def _fork(self, episode: Episode, channel: socket.socket, leash: socket.socket) -> int:
        """Fork the supervisor, in a process group of its own. Its number as seen from here."""
        told, telling = os.pipe()
        helper = os.fork()
        if not helper:
            with Ending():
                self._forget(leash)
                os.close(told)
                live(episode, channel, telling, self._readable)
        os.close(telling)
        pid = os.read(told, 32)
        os.close(told)
        return int(pid) if pid else helper

    def _forget(self, leash: socket.socket) -> None:
        signal.set_wakeup_fd(-1)
        for held in (self._control, self._wake, self._waker, leash, *(one.leash for one in self._running)):
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
    """Be a zygote as the command line says."""
    main(json.loads(sys.argv[-1]))
    sys.exit(0)
