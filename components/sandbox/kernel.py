"""Linux calls that the standard library of Python 3.11 lacks, through ctypes; errors are OSError.

Landlock (the kernel's Documentation/userspace-api/landlock.rst): a process may read some paths, write one folder, and
access nothing else of the file system. It does not govern changes of mode, owner or times of files that can be named. A
filter of system calls, written as BPF, refuses what is not needed to compute: no new process or thread, no program, no
socket (a stream pair aside), no memory file, no file made without a name, no mount, no signal to others, no change of
mode, owner or times, no limit raised: with EPERM; newer calls and clone3 with ENOSYS, so that libc takes another way.
"""

import csv
import ctypes
import errno
import hashlib
import os
import stat
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
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
_ANY = 0x7F5A3C96  # placeholder for the number of a process: no process has it, and no other instruction
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_KILL, _ERROR, _ALLOWED = 0x80000000, 0x00050000, (_RETURN, 0, 0, 0x7FFF0000)
_NAMELESS = 0x400000  # the bit of O_TMPFILE
_NEWER = 403  # from here on all machines have the same numbers
_X32 = 0x40000000
_IOCTLS = (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONBIO FIONREAD FIONCLEX FIOCLEX
_FCNTLS_REFUSED = (8, 10, 15, 1024, 1026, 1033)  # SETOWN SETSIG SETOWN_EX SETLEASE NOTIFY ADD_SEALS
_PRCTLS = (3, 15, 16, 0x53564D41)  # GET_DUMPABLE SET_NAME GET_NAME SET_VMA
_SECCOMP, _SET_FILTER, _ALL_THREADS = {"x86_64": 317, "aarch64": 277}, 1, 1
Instruction = tuple[int, int, int, int]
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


@cache
def numbers(machine: str) -> Mapping[str, int]:
    """Name -> number of the calls in syscalls.csv (source: the kernel's asm/unistd_64.h and asm-generic/unistd.h)."""
    with Path(__file__).with_name("syscalls.csv").open(newline="") as file:
        return {row["name"]: int(row[machine]) for row in csv.DictReader(file) if row[machine]}


def _argument(n: int, high: bool = False) -> Instruction:
    return (_LOAD, 0, 0, 16 + 8 * n + 4 * high)


def _refuse(number: int = errno.EPERM) -> Instruction:
    return (_RETURN, 0, 0, _ERROR | number)


def _one_of(n: int, values: Sequence[int], then: Instruction, other: Instruction) -> list[Instruction]:
    jumps = [(_EQUAL, len(values) - k, 0, value) for k, value in enumerate(values)]
    return [_argument(n), *jumps, other, then]


def _null(n: int) -> list[Instruction]:
    """Allow when the pointer is null."""
    return [_argument(n), (_EQUAL, 0, 2, 0), _argument(n, high=True), (_EQUAL, 1, 0, 0), _refuse(), _ALLOWED]


def _without(n: int, bits: int) -> list[Instruction]:
    """Allow when none of the bits is set."""
    return [_argument(n), (_AND, 0, 0, bits), (_EQUAL, 0, 1, 0), _ALLOWED, _refuse()]


def checks(pid: int) -> dict[str, list[Instruction]]:
    """Calls allowed for some arguments only, with the instructions that decide; the kernel reads an int's low half."""
    own_process = _one_of(0, (pid,), _ALLOWED, _refuse())
    stream_type = [_argument(1), (_AND, 0, 0, 0xF), (_EQUAL, 1, 0, 1), _refuse(), _ALLOWED]
    return {
        "clone": [_refuse()],
        "clone3": [_refuse(errno.ENOSYS)],
        "ioctl": _one_of(1, _IOCTLS, _ALLOWED, _refuse(errno.ENOTTY)),
        "fcntl": _one_of(1, _FCNTLS_REFUSED, _refuse(), _ALLOWED),
        "prctl": _one_of(0, _PRCTLS, _ALLOWED, _refuse()),
        "prlimit64": _null(2),
        "kill": own_process,
        "tgkill": own_process,
        "socketpair": [_argument(0), (_EQUAL, 0, 3, 1), *stream_type],
        "sendto": _null(4),
        "open": _without(1, _NAMELESS),
        "openat": _without(2, _NAMELESS),
    }


def program(pid: int, machine: str) -> bytes:
    """The filter for a process that may signal itself only."""
    return _any_process(machine).replace(_ANY.to_bytes(4, sys.byteorder), pid.to_bytes(4, sys.byteorder))


@cache
def _any_process(machine: str) -> bytes:
    code: list[Instruction] = [
        (_LOAD, 0, 0, 4), (_EQUAL, 1, 0, ARCHITECTURES[machine]), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32), _refuse(),
    ]  # fmt: skip
    known, checked = numbers(machine), checks(_ANY)
    for name, decision in checked.items():
        if name in known:
            code += [(_EQUAL, 0, len(decision), known[name]), *decision]
    plain = sorted(number for name, number in known.items() if name not in checked)
    code += [(_EQUAL, len(plain) - k + 2, 0, number) for k, number in enumerate(plain)]
    code += [(_AT_LEAST, 0, 1, _NEWER), _refuse(errno.ENOSYS), _refuse(), _ALLOWED]
    return b"".join(struct.pack("=HBBI", *one) for one in code)


def digest() -> str:
    """A hash of the rules on this machine, without the process' own number."""
    return hashlib.sha256(program(0, os.uname().machine)).hexdigest()[:16]


def install() -> None:
    """Filter this process, all of its threads, for good. Raises OSError where the kernel has no filters."""
    rules = program(os.getpid(), os.uname().machine)
    buffer = ctypes.create_string_buffer(rules, len(rules))
    head = struct.pack("HxxxxxxP", len(rules) // 8, ctypes.addressof(buffer))
    syscall(_SECCOMP[os.uname().machine], _SET_FILTER, _ALL_THREADS, ctypes.create_string_buffer(head, len(head)))
