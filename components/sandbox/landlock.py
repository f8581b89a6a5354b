"""Landlock: a process may read some paths and write one folder, and nothing else of the file system.

Source: the kernel's Documentation/userspace-api/landlock.rst. Changing mode, owner or times of files that can be named
is not governed by Landlock; components.sandbox.seccomp refuses those calls.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from components.sandbox import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR, _WRITE_FILE = 1 << 2, 1 << 3, 1 << 1
_REMOVE, _MAKE = 0x30, 0x1180  # folders and files; to make folders, files, symbolic links
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
LEAST = 3  # below, a file that may be opened for reading can be truncated


def abi() -> int:
    """The version of the kernel's Landlock; 0 where there is none."""
    try:
        return kernel.syscall(_CREATE, ctypes.c_void_p(None), 0, 1)
    except OSError:
        return 0


def restrict(readable: Iterable[str], writable: Iterable[str], version: int) -> None:
    """Hold this process and its children for good. Raises OSError.

    Args:
        readable: files and folders (with all below) that may be read; those not there are passed over.
        writable: folders that may be written, without devices and sockets, and device files.
        version: of the kernel's Landlock, at least ``LEAST``.
    """
    handled = (1 << 13) - 1 | _REFER | _TRUNCATE | (_IOCTL if version >= 5 else 0)
    rules = struct.pack("QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    rules = rules[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = kernel.syscall(_CREATE, ctypes.create_string_buffer(rules, len(rules)), len(rules), 0)
    write = _READ_FILE | _READ_DIR | _WRITE_FILE | _REMOVE | _MAKE | _REFER | _TRUNCATE
    for path in readable:
        _allow(ruleset, path, _READ_FILE | _READ_DIR)
    for path in writable:
        _allow(ruleset, path, write)
    kernel.syscall(_RESTRICT, ruleset, 0)
    os.close(ruleset)


def keep_names() -> None:
    """From here on nothing can be removed or renamed by this process: no file can be held that has no name.

    With components.sandbox.seccomp, which refuses files made without one, all that is written can be seen and counted.
    """
    ruleset = kernel.syscall(_CREATE, ctypes.create_string_buffer(struct.pack("Q", _REMOVE), 8), 8, 0)
    kernel.syscall(_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(opened).st_mode):
        access &= _READ_FILE | _WRITE_FILE | _TRUNCATE
    rule = struct.pack("=Qi", access, opened)
    kernel.syscall(_ADD, ruleset, 1, ctypes.create_string_buffer(rule, len(rule)), 0)
    os.close(opened)
