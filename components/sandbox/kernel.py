"""Linux calls that the standard library of Python 3.11 lacks, through ctypes; errors are OSError.

Landlock (the kernel's Documentation/userspace-api/landlock.rst): a process may read some paths, write one folder, and
access nothing else of the file system. It does not govern changes of mode, owner or times of files that can be named.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from functools import partial
from typing import Any

NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18,
)  # fmt: skip
PARENT_DEATH_SIGNAL, SET_NAME, CHILD_SUBREAPER, NO_NEW_PRIVILEGES = 1, 15, 36, 38  # options of prctl
_DROP_BOUNDING, _AMBIENT, _AMBIENT_CLEAR = 24, 47, 4
DETACH = 2  # unmount now; what is still open in it stays until it is closed
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
_CAPSET = {"x86_64": 126, "aarch64": 91}
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
MOUNT_SETATTR = 442  # the same number on every machine, as are all newer calls; Linux 5.12
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ_FILE, _READ_DIR, _WRITE_FILE = 1 << 2, 1 << 3, 1 << 1
_REMOVE, _MAKE = 0x30, 0x1180  # folders and files; to make folders, files, symbolic links
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
LEAST_LANDLOCK = 3  # below, a file that may be opened for reading can be truncated
_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library. Integers go as 64 bits, texts as paths, None as a null. Raises OSError."""
    passed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result: int = getattr(_libc, name)(*(os.fsencode(one) if isinstance(one, str) else one for one in passed))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}{arguments}: {os.strerror(number)}")
    return result


syscall = partial(call, "syscall")  # number, arguments
prctl = partial(call, "prctl")  # option, value
unshare = partial(call, "unshare")  # flags: new namespaces for this process; the PID one is its children's
mount = partial(call, "mount")  # source, target, type, flags, data
unmount = partial(call, "umount2")  # target, flags


def drop_capabilities() -> None:
    """Give up all capabilities for good."""
    for number in range(64):
        try:
            prctl(_DROP_BOUNDING, number, 0, 0, 0)
        except OSError:  # beyond the last one, or this process may not drop it
            break
    prctl(_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    syscall(_CAPSET[os.uname().machine], head, (ctypes.c_uint32 * 6)())


def landlock_version() -> int:
    """The version of the kernel's Landlock; 0 where there is none."""
    try:
        return syscall(_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def restrict_paths(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Restrict this process and its children for good; missing readable paths are skipped. In writable folders no
    device or socket can be made. Needs Landlock of at least ``LEAST_LANDLOCK``. Raises OSError."""
    version = landlock_version()
    handled = (1 << 13) - 1 | _REFER | _TRUNCATE | (_IOCTL if version >= 5 else 0)
    rules = struct.pack("QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    reading = _READ_FILE | _READ_DIR
    writing = reading | _WRITE_FILE | _REMOVE | _MAKE | _REFER | _TRUNCATE
    allowed = [*((path, reading) for path in readable), *((path, writing) for path in writable)]
    _restrict(rules[: 8 if version < 4 else 16 if version < 6 else 24], allowed)


def keep_names() -> None:
    """From here on this process can remove or rename nothing: no file without a name can be kept open. With the call
    filter, which refuses files made without one, all that is written can be seen and counted."""
    _restrict(struct.pack("Q", _REMOVE), ())


def _restrict(handled: bytes, allowed: Iterable[tuple[str, int]]) -> None:
    """Refuse what is handled, but for the access to paths that is allowed."""
    ruleset = syscall(_CREATE_RULESET, ctypes.create_string_buffer(handled, len(handled)), len(handled), 0)
    for path, access in allowed:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            access &= _READ_FILE | _WRITE_FILE | _TRUNCATE
        rule = struct.pack("=Qi", access, opened)
        syscall(_ADD_RULE, ruleset, 1, ctypes.create_string_buffer(rule, len(rule)), 0)
        os.close(opened)
    syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
