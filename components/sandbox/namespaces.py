"""A process tree of its own: user, PID, mount, network, IPC, UTS and cgroup namespaces, with a root that holds the
readable paths and an empty scratch folder in memory. Works as root and as an ordinary user; leaves nothing behind.

Made here for each episode, or by bubblewrap, a program that the machine trusts with namespaces, for a whole zygote.
"""

import os
import shutil
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence

from components.sandbox import kernel as k
from components.sandbox.paths import BWRAP_SLOTS, DEVICES, PROJECT, SCRATCH, interpreter, outermost, within

_ROOT = "/proc"  # a folder that is always there; its content is not needed inside

_INSIDE = 65534

_ATTRIBUTES = k.MS_NOSUID | k.MS_NODEV

_LINKS = ("lib", "lib32", "lib64")


def enter() -> None:
    """Leave all of the machine's namespaces; children of this process are in the new PID namespace."""
    uid, gid = os.getuid(), os.getgid()
    os.chdir(sys.base_prefix)  # stays reachable below a home that others may not enter
    k.unshare(k.NEWUSER | k.NEWNS | k.NEWPID | k.NEWNET | k.NEWIPC | k.NEWUTS | k.NEWCGROUP)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{_INSIDE} {uid} 1"), ("gid_map", f"{_INSIDE} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def build_root(readable: Sequence[str], refused: Iterable[str]) -> None:
    """Change the root to one that holds only what may be read, and an empty folder for scratch. Raises OSError.
    Readable paths are at the same place inside; refused folders below them are empty there."""
    k.mount(None, "/", None, k.MS_REC | k.MS_PRIVATE, None)
    k.mount("tmpfs", _ROOT, "tmpfs", _ATTRIBUTES, "size=1m,mode=755")
    bound = outermost(readable)
    for path in (*bound, *DEVICES):
        target, source = _ROOT + path, "." if path == sys.base_prefix else os.path.realpath(path)
        if os.path.isdir(source):
            os.makedirs(target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_EXCL))
        k.mount(source, target, None, k.MS_BIND | k.MS_REC, None)
        attributes = k.MS_RDONLY | k.MS_NOSUID | (0 if path in DEVICES else k.MS_NODEV)
        wanted = struct.pack("QQQQ", attributes, 0, 0, 0)  # for this mount and all below it
        k.syscall(k.MOUNT_SETATTR, k.AT_FDCWD, target, k.AT_RECURSIVE, wanted, len(wanted))
    for path in refused:
        if any(within(path, other) for other in bound) and os.path.isdir(path):
            k.mount("tmpfs", _ROOT + path, "tmpfs", _ATTRIBUTES | k.MS_RDONLY, "size=4k,mode=755")
    for name in _LINKS:
        if os.path.islink(f"/{name}") and not os.path.lexists(f"{_ROOT}/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{_ROOT}/{name}")
    os.mkdir(_ROOT + SCRATCH)
    os.mkdir(f"{_ROOT}/.old")
    k.syscall(k.PIVOT_ROOT[os.uname().machine], _ROOT, f"{_ROOT}/.old")
    os.chdir("/")
    k.unmount("/.old", k.DETACH)
    os.rmdir("/.old")
    k.mount(None, "/", None, k.MS_REMOUNT | k.MS_BIND | k.MS_RDONLY | _ATTRIBUTES, None)


def bwrap_command(
    readable: Sequence[str], module: str, environment: Mapping[str, str], scratch_bytes: int
) -> list[str]:
    """Bubblewrap with its arguments; what to run follows. Only ``BWRAP_SLOTS``, file systems in memory, can be written;
    Landlock and the call filter inside keep episodes from each other's, and from the library's package."""
    inside = str(_INSIDE)
    line = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--uid", inside, "--gid", inside, "--clearenv"]
    for name, value in environment.items():
        line += ["--setenv", name, value]
    packages = {str(PROJECT / name) for name in ("components", module.partition(".")[0])}
    for path in outermost([*interpreter(), *filter(os.path.isdir, packages), *readable]):
        line += ["--ro-bind", path, path]
    for name in _LINKS:
        line += ["--ro-bind-try", f"/{name}", f"/{name}"]
    for path in DEVICES:
        line += ["--dev-bind", path, path]
    for slot in BWRAP_SLOTS:
        line += ["--size", str(scratch_bytes), "--tmpfs", slot]
    return [*line, "--proc", "/proc", "--remount-ro", "/", "--chdir", "/"]
