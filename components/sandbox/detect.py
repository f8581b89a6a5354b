"""Which tier holds on this machine: each is tried with cells that attack it, and used only when all of them fail."""

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from components.sandbox import bwrap, landlock, places, seccomp
from components.sandbox.api import Library, Limits, SandboxError, Tier
from components.sandbox.episode import Episode
from components.sandbox.warm import Gone, Warm

ORDER: tuple[Tier, ...] = ("namespaces", "bwrap", "landlock", "rlimits")
_LIMITS = Limits(wall_seconds=10.0, cpu_seconds=10.0)
_CELL = """
import ctypes, os, socket
answer = []
def tried(name, attack):
    try:
        attack()
    except OSError:
        return
    answer.append(name)
def fork():
    if not os.fork():
        os._exit(0)
def memory_file():
    os.close(os.memfd_create("m"))
tried("socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close())
tried("unix socket", lambda: socket.socket(socket.AF_UNIX).close())
tried("fork", fork)
tried("memory file", memory_file)
tried("write outside", lambda: open({outside!r}, "w").close())
tried("read outside", lambda: open({secret!r}).close())
tried("read the project", lambda: open({source!r}).close())
tried("read the host's environment", lambda: open("/proc/{parent}/environ").close())
tried("signal", lambda: os.kill({parent}, 0))
with open("inside", "w") as file:
    file.write("x")
answer = ", ".join(answer) or "held"
"""


@dataclass(frozen=True)
class Found:
    """What the self-test of a tier found. ``reason`` is empty where it holds; ``open`` are attacks that worked."""

    tier: Tier
    reason: str = ""
    open: tuple[str, ...] = field(default=())


def supported() -> str:
    """Why this machine cannot hold code at all; empty where it may."""
    if sys.platform != "linux":
        return f"the sandbox needs Linux, this is {sys.platform}"
    if not seccomp.supported():
        return f"the sandbox knows the system calls of x86_64 and aarch64, this is {os.uname().machine}"
    return ""


@cache
def tested(tier: Tier) -> Found:
    """Try a tier, once per process."""
    if tier == "bwrap" and bwrap.found() is None:
        return Found(tier, "bwrap is not installed")
    if tier in ("bwrap", "landlock") and landlock.abi() < landlock.LEAST:
        return Found(tier, f"Landlock has version {landlock.abi()}, needed is {landlock.LEAST} (Linux 6.2)")
    with tempfile.TemporaryDirectory(prefix="wardround-probe-") as folder:
        secret = Path(folder, "secret")
        secret.write_text("secret")
        places_of: Mapping[str, object] = {
            "outside": str(Path(folder, "outside")), "secret": str(secret), "parent": os.getpid(),
            "source": str(places.project() / "components" / "core" / "types.py"),
        }  # fmt: skip
        return _attacked(tier, _CELL.format(**places_of))


def _attacked(tier: Tier, cell: str) -> Found:
    try:
        warm = Warm(tier, "components.sandbox.probe", scratch_bytes=_LIMITS.scratch_bytes)
    except SandboxError as error:
        return Found(tier, str(error))
    try:
        episode = Episode(warm, Library("components.sandbox.probe", {}), _LIMITS, keep=False)
        try:
            ran = episode.run_here(cell)
        finally:
            episode.close()
    except Gone as error:
        return Found(tier, f"cannot be set up: {error}{warm.last_output()}")
    except (SandboxError, TimeoutError) as error:
        return Found(tier, f"cannot be set up: {error}")
    finally:
        warm.close()
    if ran.status != "ok":
        return Found(tier, f"the self-test ended with {ran.status}: {ran.error.message if ran.error else ''}")
    if ran.answer == "held":
        return Found(tier)
    return Found(tier, f"the self-test got through: {ran.answer}", tuple(ran.answer.split(", ")))
