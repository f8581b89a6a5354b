"""The command that starts a zygote inside bubblewrap: namespaces by a program that the machine trusts with them."""

import os
import shutil
from collections.abc import Mapping, Sequence

from components.sandbox import places

BASE = "/cells"
SLOTS = 128  # episodes at once in one zygote


def found() -> str | None:
    """The path of bubblewrap."""
    return shutil.which("bwrap")


def command(readable: Sequence[str], module: str, environment: Mapping[str, str], scratch_bytes: int) -> list[str]:
    """Bubblewrap with its arguments; what to run follows.

    Only the folders of ``BASE`` can be written, one for each episode: file systems in memory of ``scratch_bytes``.
    Episodes are held by Landlock and the call filter inside: they do not see the package of the library's ``module``
    nor each other's folders.
    """
    program = found()
    assert program is not None, "components.sandbox.detect asks before"
    line: list[str] = [program, "--unshare-all", "--uid", "65534", "--gid", "65534", "--clearenv"]
    for name, value in environment.items():
        line += ["--setenv", name, value]
    packages = {str(places.project() / name) for name in ("components", module.partition(".")[0])}
    paths = places.outermost([*places.interpreter(), *(one for one in packages if os.path.isdir(one)), *readable])
    for path in paths:
        line += ["--ro-bind", path, path]
    for name in ("lib", "lib32", "lib64"):
        line += ["--ro-bind-try", f"/{name}", f"/{name}"]
    for path in places.DEVICES:
        line += ["--dev-bind", path, path]
    for slot in slots():
        line += ["--size", str(scratch_bytes), "--tmpfs", slot]
    return [*line, "--proc", "/proc", "--remount-ro", "/", "--chdir", "/"]


def slots() -> list[str]:
    """The folders of episodes."""
    return [f"{BASE}/{number}" for number in range(SLOTS)]
