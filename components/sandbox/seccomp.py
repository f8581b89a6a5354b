"""A system-call filter for cells, written as BPF: what is not needed to compute is refused.

No new process or thread, no program, no socket (a stream pair aside), no memory file, no file made without a name, no
mount, no signal to others, no change of mode, owner or times, no limit raised. Refused calls fail with EPERM; calls
newer than the list, and clone3, with ENOSYS, so that the C library takes the older way.
"""

import csv
import ctypes
import errno
import hashlib
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from components.sandbox.kernel import syscall

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
