"""Which tier works on this machine: each is tried with a cell that attacks it, and used only when all attacks fail."""

import asyncio
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from pathlib import Path
from shutil import which

from components.sandbox import kernel, paths
from components.sandbox.api import Library, Limits, Ran, SandboxError, Tier
from components.sandbox.episode import Episode
from components.sandbox.process import Gone, ZygoteProcess

ORDER: tuple[Tier, ...] = ("namespaces", "bwrap", "landlock", "rlimits")
_LIMITS = Limits(wall_seconds=10.0, cpu_seconds=10.0)
_LIBRARY = Library("components.sandbox.probe", {})
_CELL = Path(__file__).with_name("self_test.txt")


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
        try:
            ran = _run(tier, cell)
        except (SandboxError, TimeoutError, Gone) as error:
            return f"cannot be set up: {error}"
    if ran.status != "ok":
        return f"the self-test ended with {ran.status}: {ran.error.message if ran.error else ''}"
    return "" if ran.answer == "held" else f"the self-test got through: {ran.answer}"


def _run(tier: Tier, cell: str) -> Ran:
    """Run a cell on a separate event loop, since the caller may be on one. Raises Gone, SandboxError, TimeoutError."""

    async def once() -> Ran:
        with closing(Episode(zygote, _LIBRARY, _LIMITS, keep=False)) as episode:
            await episode.begin()
            return await episode.run(cell)

    with closing(ZygoteProcess(tier, _LIBRARY.module, scratch_bytes=_LIMITS.scratch_bytes)) as zygote:
        try:
            with ThreadPoolExecutor(1) as thread:
                return thread.submit(asyncio.run, once()).result()
        except Gone as error:
            raise Gone(f"{error}{zygote.last_output()}") from error
