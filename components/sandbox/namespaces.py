"""A process tree of its own: user, PID, mount, network, IPC, UTS and cgroup namespaces, with a root that holds the
readable paths and an empty scratch folder in memory. Works as root and as an ordinary user; leaves nothing behind.
"""

import os
import sys
from collections.abc import Iterable, Sequence

from components.sandbox import kernel as k
from components.sandbox.places import DEVICES, outermost, within

SCRATCH = "/scratch"
_ROOT = "/proc"  # a folder that is always there; its content is not needed inside
_INSIDE = 65534
_ATTRIBUTES = k.MS_NOSUID | k.MS_NODEV
_LINKS = ("lib", "lib32", "lib64")
_INODES = 4096


def enter() -> None:
    """Leave all of the machine's namespaces; children of this process are in the new PID namespace."""
    uid, gid = os.getuid(), os.getgid()
    os.chdir(sys.base_prefix)  # stays reachable below a home that others may not enter
    k.unshare(k.NEWUSER | k.NEWNS | k.NEWPID | k.NEWNET | k.NEWIPC | k.NEWUTS | k.NEWCGROUP)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{_INSIDE} {uid} 1"), ("gid_map", f"{_INSIDE} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def build(readable: Sequence[str], refused: Iterable[str], scratch_bytes: int) -> None:
    """Change the root to one that holds only what may be read. Raises OSError.

    Args:
        readable: absolute paths; they are at the same place inside, read-only.
        refused: folders that are empty inside although they lie below a readable one.
        scratch_bytes: size of the scratch folder.
    """
    k.mount(None, "/", None, k.MS_REC | k.MS_PRIVATE)
    k.mount("tmpfs", _ROOT, "tmpfs", _ATTRIBUTES, "size=1m,mode=755")
    kept = outermost(readable)
    for path in (*kept, *DEVICES):
        _bind(path, 0 if path in DEVICES else k.MS_NODEV)
    for path in refused:
        if any(within(path, other) for other in kept) and os.path.isdir(path):
            k.mount("tmpfs", _ROOT + path, "tmpfs", _ATTRIBUTES | k.MS_RDONLY, "size=4k,mode=755")
    for name in _LINKS:
        if os.path.islink(f"/{name}") and not os.path.lexists(f"{_ROOT}/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{_ROOT}/{name}")
    os.mkdir(_ROOT + SCRATCH)
    os.mkdir(f"{_ROOT}/.old")
    k.pivot_root(_ROOT, f"{_ROOT}/.old")
    os.chdir("/")
    k.detach("/.old")
    os.rmdir("/.old")
    k.mount(None, "/", None, k.MS_REMOUNT | k.MS_BIND | k.MS_RDONLY | _ATTRIBUTES)
    new_scratch(scratch_bytes)


def _bind(path: str, attributes: int) -> None:
    target, source = _ROOT + path, "." if path == sys.base_prefix else os.path.realpath(path)
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "x"):
            pass
    k.mount(source, target, None, k.MS_BIND | k.MS_REC)
    k.set_mount(target, k.MS_RDONLY | k.MS_NOSUID | attributes)


def new_scratch(size: int) -> None:
    """An empty scratch folder over what was there."""
    k.mount("tmpfs", SCRATCH, "tmpfs", _ATTRIBUTES | k.MS_NOEXEC, f"size={size},nr_inodes={_INODES},mode=700")


def renew_scratch(size: int) -> None:
    """Replace the scratch folder by an empty one; what is still open in the old one goes with its process."""
    k.detach(SCRATCH)
    new_scratch(size)
