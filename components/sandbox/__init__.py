"""Runs untrusted code: separate processes without network, files, rights and memory of each other.

What a cell does wrong is a result, what the machine cannot do a SandboxError. See docs/papers/ehragent.md, section 3.
"""

import asyncio
import os
import sys
import tempfile
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from shutil import which
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from components.sandbox import kernel, paths, seccomp
from components.sandbox.api import CellError, Library, Limits, Ran, SandboxError, Status, Tier, failed
from components.sandbox.episode import LOST, Episode
from components.sandbox.process import Gone, ZygoteProcess, shared

__all__ = ["CellError", "Library", "Limits", "Ran", "Sandbox", "SandboxError", "Session", "Status"]

ORDER: tuple[Tier, ...] = ("namespaces", "bwrap", "landlock", "rlimits")
_LIMITS = Limits(wall_seconds=10.0, cpu_seconds=10.0)
_LIBRARY = Library("components.sandbox.probe", {})
_CELL = Path(__file__).with_name("self_test.txt")
_WEAK: tuple[Tier, ...] = ("landlock", "rlimits")
_slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int | None, asyncio.Semaphore]] = (
    weakref.WeakKeyDictionary()
)


@dataclass
class Sandbox:
    """Runs cells. Nothing starts before the first use; one zygote per process and library module.

    ``auto`` takes the first of namespaces, bwrap, landlock whose self-test passes; rlimits, which only limit
    consumption, need ``unsafe_local``. ``strict`` also refuses landlock: sizes of known files can be read, and the
    scratch folder is the machine's. ``max_running`` cells run at once on an event loop (None: one per CPU).
    """

    takes_code: ClassVar[Sequence[str]] = ("unsafe_local",)  # a config from elsewhere must not set it without consent

    backend: Literal["auto", "namespaces", "bwrap", "landlock", "rlimits"] = "auto"
    strict: bool = False
    unsafe_local: bool = False
    limits: Limits = field(default_factory=Limits)
    max_running: Annotated[int, Ge(1)] | None = None
    sessions: "set[Session]" = field(default_factory=set, init=False, repr=False)
    kills: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.strict and (self.backend in _WEAK or self.unsafe_local):
            what = f"backend {self.backend!r}" if self.backend in _WEAK else "unsafe_local"
            raise ConfigError(f"a strict sandbox excludes {what}: use auto, namespaces or bwrap, without unsafe_local")
        if self.backend == "rlimits" and not self.unsafe_local:
            raise ConfigError("backend 'rlimits' does not confine hostile code: it needs unsafe_local: true")

    def open(self, library: Library, keep: bool = False) -> "Session":
        """Cells of one episode; with ``keep`` variables survive from cell to cell. Raises ConfigError, SandboxError."""
        tier = self._tier
        for path in library.readable:
            if not path.exists():
                raise SandboxError(f"{path} does not exist: a cell could not read it")
        session = Session(self, tier, library, keep)
        self.sessions.add(session)
        return session

    @cached_property
    def _tier(self) -> Tier:
        if sys.platform != "linux":
            raise ConfigError(f"the sandbox needs Linux, this is {sys.platform}: code cannot be run here")
        if (machine := os.uname().machine) not in seccomp.ARCHITECTURES:
            known = "the sandbox knows the system calls of x86_64 and aarch64"
            raise ConfigError(f"{known}, this is {machine}: code cannot be run here")
        refused = []
        for tier in self._candidates():
            if tier == "rlimits" or not (reason := flaw(tier)):
                return tier
            refused.append(f"{tier}: {reason}")
        needs = "a strict sandbox needs" if self.strict else "code can be run with"
        raise ConfigError(
            f"no sandbox works here ({'; '.join(refused)}): {needs} unprivileged user namespaces or bubblewrap"
            + ("" if self.strict else ", Landlock, or unsafe_local: true where the code is trusted")
        )

    def _candidates(self) -> list[Tier]:
        if self.backend != "auto":
            return [self.backend]
        refused = set(_WEAK) if self.strict else set() if self.unsafe_local else {"rlimits"}
        return [tier for tier in ORDER if tier not in refused]

    def report(self) -> Mapping[str, Any]:
        """What confines code here, for the record, and kills so far. Runs the self-tests first. Raises ConfigError."""
        tier, candidates = self._tier, self._candidates()
        return {
            "tier": tier,
            "uid": os.getuid(),
            "landlock": kernel.landlock_version(),
            "rules": "" if tier == "rlimits" else seccomp.digest(),
            "self_test": "none: unsafe_local" if tier == "rlimits" else "held",
            "refused": {one: flaw(one) for one in candidates[: candidates.index(tier)]},
            "strict": self.strict,
            "unsafe_local": tier == "rlimits",
            "limits": asdict(self.limits),
            "kills": dict(self.kills),
        }

    def close(self) -> None:
        """Kill all cells and sessions; returns when they are gone. It can be used again; its zygote stays."""
        for session in list(self.sessions):
            session.close()


class Session:
    """An episode's cells. A worker that dies, hangs or misbehaves is a result; the next cell has a new one."""

    def __init__(self, sandbox: Sandbox, tier: Tier, library: Library, keep: bool) -> None:
        self._sandbox, self._tier, self._library, self._keep = sandbox, tier, library, keep
        self._episode: Episode | None = None
        self._closed = False
        self._locks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = weakref.WeakKeyDictionary()

    async def run(self, cell: str) -> Ran:
        """Run a cell, after earlier ones. Raises SandboxError when the machine cannot."""
        lock = self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with lock, running_slots(self._sandbox.max_running):
            episode = await self._begun()
            try:
                ran = await episode.run(cell)
            except TimeoutError:
                self._drop()
                ran = failed("timeout", "Timeout", self._sandbox.limits.too_long + LOST)
            except Gone as gone:
                self._refuse_closed()
                self._drop()
                ran = failed("killed", "Killed", f"the worker was ended: {gone}{LOST}")
            except BaseException:  # cancelled in the middle of a cell: the channel is of no more use
                self._drop()
                raise
        if ran.broken:
            self._sandbox.kills[ran.status] += 1
        return ran

    async def _begun(self) -> Episode:
        reason = ""
        for last in (False, True):
            self._refuse_closed()
            try:
                if self._episode is None or not self._episode.zygote.alive:
                    self._drop()
                    zygote = shared(self._tier, self._library, self._sandbox.limits)
                    self._episode = Episode(zygote, self._library, self._sandbox.limits, self._keep)
                await self._episode.begin()
                return self._episode
            except (Gone, TimeoutError) as error:
                reason = str(error) or "it took too long"
                if last and self._episode is not None:
                    reason += self._episode.zygote.last_output()
                self._drop()
            except BaseException:
                self._drop()
                raise
        raise SandboxError(f"two attempts to start a worker failed: {reason}")

    def _refuse_closed(self) -> None:
        if self._closed:
            raise SandboxError("the session is closed")

    def _drop(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.close()

    def close(self) -> None:
        """Kill everything of the episode; returns when it is gone. May be called again."""
        self._closed = True
        self._drop()
        self._sandbox.sessions.discard(self)


def running_slots(n: int | None) -> asyncio.Semaphore:
    """At most ``n`` cells at once (None: one per CPU) on the running event loop, first come first served."""
    slots = _slots.setdefault(asyncio.get_running_loop(), {})
    return slots.setdefault(n, asyncio.Semaphore(n or len(os.sched_getaffinity(0))))


@cache
def flaw(tier: Tier) -> str:
    """Why a tier cannot be used here, tried once per process; empty where its self-test passes."""
    if tier == "bwrap" and which("bwrap") is None:
        return "bwrap is not installed"
    if tier in ("bwrap", "landlock") and kernel.landlock_version() < kernel.LEAST_LANDLOCK:
        return f"Landlock has version {kernel.landlock_version()}, needed is {kernel.LEAST_LANDLOCK} (Linux 6.2)"
    with tempfile.TemporaryDirectory(prefix="wardround-probe-") as folder:
        secret, outside = Path(folder, "secret"), Path(folder, "outside")
        secret.write_text("secret")
        source = str(paths.PROJECT / "components" / "core" / "types.py")
        cell = _CELL.read_text().format(outside=str(outside), secret=str(secret), parent=os.getpid(), source=source)

        async def once(zygote: ZygoteProcess) -> Ran:
            with closing(Episode(zygote, _LIBRARY, _LIMITS, keep=False)) as episode:
                try:
                    await episode.begin()
                    return await episode.run(cell)
                except Gone as error:
                    raise SandboxError(f"{error}{zygote.last_output()}") from error

        try:  # on a separate event loop, since the caller may be on one
            started = ZygoteProcess(tier, _LIBRARY.module, scratch_bytes=_LIMITS.scratch_bytes)
            with closing(started), ThreadPoolExecutor(1) as thread:
                ran = thread.submit(asyncio.run, once(started)).result()
        except (SandboxError, TimeoutError) as error:
            return f"cannot be set up: {error}"
    if ran.status != "ok":
        return f"the self-test ended with {ran.status}: {ran.error.message if ran.error else ''}"
    return "" if ran.answer == "held" else f"the self-test got through: {ran.answer}"
