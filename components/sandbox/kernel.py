"""Linux calls that the standard library of Python 3.11 lacks, through ctypes; errors are OSError."""

import ctypes
import os
from typing import Any

NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18,
)  # fmt: skip
_MNT_DETACH, _AT_FDCWD, _AT_RECURSIVE = 2, -100, 0x8000
_PDEATHSIG, _SET_NAME, _CAPBSET_DROP, _SUBREAPER, _NO_NEW_PRIVS, _AMBIENT, _AMBIENT_CLEAR = 1, 15, 24, 36, 38, 47, 4
_CAPSET = {"x86_64": 126, "aarch64": 91}
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442  # the same number on every machine, as are all newer calls
_libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: Any) -> int:
    """A system call by its number. Integers go as 64 bits, the rest as ctypes converts them. Raises OSError."""
    given = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *given), f"syscall {number}")


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int = 0, third: int = 0) -> int:
    """Set something about this process."""
    given = [ctypes.c_ulong(one) for one in (value, third, 0, 0)]
    return _checked(_libc.prctl(ctypes.c_int(option), *given), f"prctl {option}")


def rename(name: str) -> None:
    """Set the name under which this process is listed; at most 15 bytes."""
    _checked(_libc.prctl(ctypes.c_int(_SET_NAME), name.encode(), *(ctypes.c_ulong(0),) * 3), "prctl")


def unshare(flags: int) -> None:
    """New namespaces for this process; the PID one is its children's."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount, bind or change a mount."""
    given = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _checked(_libc.mount(*given, ctypes.c_ulong(flags), data.encode() or None), f"mount on {target}")


def set_mount(target: str, attributes: int) -> None:
    """Set attributes (the low bits of mount flags) on a mount and all below it; Linux 5.12."""
    asked = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    path = ctypes.c_char_p(os.fsencode(target))
    syscall(_MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, asked, ctypes.sizeof(asked))


def detach(target: str) -> None:
    """Unmount now; what is still open in it lives on until it is closed."""
    _checked(_libc.umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make ``new`` the root; the previous root is at ``old``."""
    syscall(_PIVOT_ROOT[os.uname().machine], ctypes.c_char_p(os.fsencode(new)), ctypes.c_char_p(os.fsencode(old)))


def die_with_parent(signal: int) -> None:
    """Get a signal when the thread that forked this process ends."""
    prctl(_PDEATHSIG, signal)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ended."""
    prctl(_SUBREAPER, 1)


def no_new_privileges() -> None:
    """No later call gives rights."""
    prctl(_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up all capabilities for good."""
    for number in range(64):
        try:
            prctl(_CAPBSET_DROP, number)
        except OSError:  # beyond the last one, or it is not ours to drop
            break
    prctl(_AMBIENT, _AMBIENT_CLEAR)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    syscall(_CAPSET[os.uname().machine], head, (ctypes.c_uint32 * 6)())
