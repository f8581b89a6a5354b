"""From a process that was just forked to the supervisor of an episode, held by its tier."""

import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from components.sandbox import kernel, landlock, namespaces, places
from components.sandbox.api import Limits, Tier
from components.sandbox.child import Ending
from components.sandbox.frames import pack
from components.sandbox.raised import Clean
from components.sandbox.scratch import Folder, Memory, Mounted, Scratch
from components.sandbox.supervisor import HostGone, Supervisor
from components.sandbox.worker import SEED, Settings

REQUEST_BYTES = 1 << 20  # more than a socket holds: a request is one message


@dataclass(frozen=True)
class Episode:
    """What the host asks for."""

    tier: Tier
    module: str
    arguments: Mapping[str, Any]
    readable: tuple[str, ...]
    rehearsal: str
    limits: Limits
    keep: bool
    folder: str | None

    @classmethod
    def read(cls, asked: Mapping[str, Any], tier: Tier) -> "Episode":
        """From the host's request, to which the zygote added the folder."""
        return cls(
            tier, asked["module"], asked["arguments"], tuple(asked["readable"]),
            asked["rehearsal"], Limits(**asked["limits"]), asked["keep"], asked["folder"],
        )  # fmt: skip


class _Telling:
    """Reports to the host why there is no supervisor; ends the process in any case."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with Ending():
            if kind is not None and not issubclass(kind, HostGone):
                where = traceback.extract_tb(_)[-1]
                text = f"{kind.__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
                self._channel.sendall(pack({"fatal": text[:2000]}))


def become_supervisor(tier: Tier, orders: socket.socket, report: int, readable: list[str]) -> None:
    """Be a process that waits for an episode, outside of what the tier leaves, and then its supervisor.

    Args:
        tier: how it is held.
        orders: from the zygote; one request comes, with the channel to the host.
        report: descriptor to which the process' number is written once it leads its process group, or why there
            is none.
        readable: the folders of the interpreter.
    """
    kernel.rename("cells-waiting")
    try:
        if not _lead(tier, report):
            return
    except OSError as error:
        os.write(report, f"OSError: {error}".encode())
        return
    os.close(report)
    kernel.die_with_parent(signal.SIGKILL)
    request, descriptors, _, _ = socket.recv_fds(orders, REQUEST_BYTES, 1)
    orders.close()
    if not request:
        return
    kernel.rename("cells-episode")
    channel = socket.socket(fileno=descriptors[0])
    with _Telling(channel):
        episode = Episode.read(json.loads(request), tier)
        _supervise(episode, channel, _confine(episode, readable))


def _lead(tier: Tier, report: int) -> bool:
    """Lead a process group, in namespaces of its own where the tier is made of them; False in who made them."""
    if tier != "namespaces":
        os.setpgid(0, 0)
        os.write(report, str(os.getpid()).encode())
        return True
    namespaces.enter()
    maker = os.pidfd_open(os.getpid())
    pid = os.fork()
    if pid:
        os.setpgid(pid, pid)
        os.write(report, str(pid).encode())
        return False
    select.select([maker], [], [])  # the zygote is the parent from here on
    os.close(maker)
    return True


def _confine(episode: Episode, readable: list[str]) -> Scratch:
    limits = episode.limits
    if episode.tier == "namespaces":
        namespaces.build([*readable, *episode.readable], places.hidden(), limits.scratch_bytes)
        os.chdir(namespaces.SCRATCH)
        return Memory(limits.scratch_bytes)
    assert episode.folder is not None, "a tier without a file system of its own is given a folder"
    kernel.no_new_privileges()
    if episode.tier != "rlimits":
        allowed = places.without([*readable, *map(os.path.realpath, episode.readable)], places.hidden())
        landlock.restrict(allowed, [episode.folder, *places.DEVICES], landlock.abi())
    return (Mounted if episode.tier == "bwrap" else Folder)(limits.scratch_bytes, episode.folder)


def _paths(episode: Episode, scratch: Scratch) -> dict[str, str]:
    table = {scratch.path: namespaces.SCRATCH, sys.prefix: "/python", sys.base_prefix: "/python"}
    table |= {os.path.dirname(path): "/data" for path in episode.readable if os.path.dirname(path) != "/"}
    return {path: name for path, name in table.items() if path != name}


def _supervise(episode: Episode, channel: socket.socket, scratch: Scratch) -> NoReturn:
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # the zygote has another
    random.seed(SEED)
    names = importlib.import_module(episode.module).names(**episode.arguments)
    paths = _paths(episode, scratch)
    settings = Settings(episode.limits, episode.keep, episode.tier, scratch.path, episode.rehearsal, Clean(paths))
    supervisor = Supervisor(channel, names, settings, scratch)
    channel.sendall(pack({"ready": paths}))
    supervisor.serve()
