"""Runs untrusted code: separate processes without network, files, rights and memory of each other.

What a cell does wrong is a result (``Ran``), what the machine cannot do is a ``SandboxError``.
Requirements: specification of EHRAgent, section 10.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from components.sandbox import detect, landlock, seccomp
from components.sandbox.api import CellError, Library, Limits, Ran, SandboxError, Status, Tier
from components.sandbox.episode import Episode
from components.sandbox.session import Session
from components.sandbox.warm import check, shared

__all__ = ["CellError", "Library", "Limits", "Ran", "Sandbox", "SandboxError", "Session", "Status"]

_WEAK: tuple[Tier, ...] = ("landlock", "rlimits")


@dataclass
class Sandbox:
    """A place where cells run. Nothing starts before the first use; one zygote per process and library module.

    ``auto`` takes the first of namespaces, bwrap, landlock that its self-test cannot break out of; rlimits, which hold
    nothing back but consumption, are used only with ``unsafe_local``. ``strict`` also refuses landlock: sizes of
    known files can be read, and the scratch folder is the machine's. ``max_running`` cells run at once on an event loop
    (None: one per CPU).
    """

    takes_code: ClassVar[Sequence[str]] = (
        "unsafe_local",
    )  # a config from elsewhere must not set these without consent

    backend: Literal["auto", "namespaces", "bwrap", "landlock", "rlimits"] = "auto"
    strict: bool = False
    unsafe_local: bool = False
    limits: Limits = field(default_factory=Limits)
    max_running: Annotated[int, Ge(1)] | None = None
    _tier: Tier | None = field(default=None, init=False, repr=False)
    _sessions: set[Session] = field(default_factory=set, init=False, repr=False)
    _kills: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.strict and (self.backend in _WEAK or self.unsafe_local):
            what = f"backend {self.backend!r}" if self.backend in _WEAK else "unsafe_local"
            raise ConfigError(f"a strict sandbox has no {what}: take auto, namespaces or bwrap, without unsafe_local")
        if self.backend == "rlimits" and not self.unsafe_local:
            raise ConfigError("backend 'rlimits' holds no hostile code: it needs unsafe_local: true")

    def open(self, library: Library, keep: bool = False) -> Session:
        """Cells of one episode; with ``keep`` variables survive from cell to cell. Raises ConfigError, SandboxError."""
        tier = self._chosen()
        check(library)

        def start() -> Episode:
            return Episode(shared(tier, library, self.limits), library, self.limits, keep)

        session = Session(start, self.limits, self.max_running, self._count, self._sessions.discard)
        self._sessions.add(session)
        return session

    def _count(self, ran: Ran) -> None:
        if ran.status in ("timeout", "killed") or (ran.error is not None and ran.error.type == "Protocol"):
            self._kills[ran.status] += 1

    def _chosen(self) -> Tier:
        if self._tier is None:
            self._tier = self._choose()
        return self._tier

    def _choose(self) -> Tier:
        if reason := detect.supported():
            raise ConfigError(f"{reason}: code cannot be run here")
        refused = []
        for tier in self._candidates():
            if tier == "rlimits":
                return tier
            found = detect.tested(tier)
            if not found.reason:
                return tier
            refused.append(f"{tier}: {found.reason}")
        held = "a strict sandbox needs" if self.strict else "code can be run with"
        raise ConfigError(
            f"no sandbox holds here ({'; '.join(refused)}): {held} unprivileged user namespaces or bubblewrap"
            + ("" if self.strict else ", Landlock, or unsafe_local: true where the code is trusted")
        )

    def _candidates(self) -> list[Tier]:
        if self.backend != "auto":
            return [self.backend]
        return [
            tier
            for tier in detect.ORDER
            if (tier != "rlimits" or self.unsafe_local) and not (self.strict and tier in _WEAK)
        ]

    def report(self) -> Mapping[str, Any]:
        """What holds code here, for the record: tier, why stronger ones do not, rules, limits, kills so far.

        Runs the self-tests when they have not run. Raises ConfigError where nothing, or nothing strict, can hold code.
        """
        tier = self._chosen()
        stronger = [one for one in self._candidates() if detect.ORDER.index(one) < detect.ORDER.index(tier)]
        return {
            "tier": tier,
            "uid": os.getuid(),
            "landlock": landlock.abi(),
            "rules": "" if tier == "rlimits" else seccomp.digest(),
            "self_test": "none: unsafe_local" if tier == "rlimits" else "held",
            "refused": {one: detect.tested(one).reason for one in stronger},
            "strict": self.strict,
            "unsafe_local": tier == "rlimits",
            "limits": asdict(self.limits),
            "kills": dict(self._kills),
        }

    def close(self) -> None:
        """Kill all cells and sessions; returns when they are gone. May be called again, and used again after.

        The process from which episodes are forked waits for other sandboxes until this process ends.
        """
        for session in list(self._sessions):
            session.close()
