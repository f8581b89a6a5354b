"""The command that starts a zygote inside bubblewrap: namespaces by a program that the machine trusts with them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from components.sandbox import places

BASE = "/cells"
_BYTES = 1 << 30  # of all episodes together; the supervisor watches each


def found() -> str | None:
    """The path of bubblewrap."""
    return shutil.which("bwrap")


def command(readable: Sequence[str], module: str) -> list[str]:
    """Bubblewrap with its arguments; what to run follows. ``BASE`` is the one folder that can be written, in memory.

    Episodes are held by Landlock and the call filter inside: they do not see the package of the library's ``module``
    nor each other's folders.
    """
    program = found()
    assert program is not None, "components.sandbox.detect asks before"
    line: list[str] = [program, "--unshare-all", "--uid", "65534", "--gid", "65534", "--clearenv"]
    packages = {str(places.project() / name) for name in ("components", module.partition(".")[0])}
    paths = places.outermost([*places.interpreter(), *(one for one in packages if os.path.isdir(one)), *readable])
    for path in paths:
        line += ["--ro-bind", path, path]
    for name in ("lib", "lib32", "lib64"):
        line += ["--ro-bind-try", f"/{name}", f"/{name}"]
    for path in places.DEVICES:
        line += ["--dev-bind", path, path]
    return [*line, "--proc", "/proc", "--size", str(_BYTES), "--tmpfs", BASE, "--remount-ro", "/", "--chdir", "/"]
