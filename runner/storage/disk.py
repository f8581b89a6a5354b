"""Files that a run needs: one that cannot be written is named, and ends the run."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from components.core.errors import ConfigError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_HINTS = {
    **dict.fromkeys(FULL, "; free space on its disk"),
    **dict.fromkeys(
        (errno.ENOLCK, errno.EOPNOTSUPP), "; its file system has no locks (flock): mount NFS with them, or name another"
    ),
}


class Unwritable(OSError):
    """A file that the run needs cannot be written; what is finished stays valid."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path} cannot be written: {error.strerror or error}{_HINTS.get(error.errno or 0, '')}")
        self.errno = error.errno


def append(file: int, data: bytes, path: Path) -> None:
    """Write all with one call, or leave the file as it was. Raises Unwritable."""
    end = os.fstat(file)
    try:
        if not end.st_nlink:
            raise FileNotFoundError(errno.ENOENT, "it was removed; the journal has its calls")
        if os.write(file, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        os.ftruncate(file, end.st_size)
        raise Unwritable(path, error) from None


def replace(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace a file by a text atomically. ``mode``: of a new file. Raises Unwritable, and leaves no part."""
    fresh = path.with_name(path.name + ".tmp")
    try:
        fresh.touch(mode)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise Unwritable(path, error) from None


@contextmanager
def locked(path: Path, mode: int = 0o666) -> Iterator[None]:
    """Hold an exclusive lock against threads and processes. ``mode``: of the lock's file, where it is made."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)  # explicitly: a child forked meanwhile has the file open too
        os.close(file)


def lock_folder(folder: Path) -> int | None:
    """An open file that holds a run folder's lock; None where another process has it. Raises OSError."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return file


@contextmanager
def folder_lock(folder: Path) -> Iterator[bool]:
    """Hold a run folder's lock; False where another process has it. Raises OSError."""
    file = lock_folder(folder)
    try:
        yield file is not None
    finally:
        if file is not None:
            os.close(file)


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Around work in a folder of one command at a time. Raises ConfigError."""
    with folder_lock(folder) as is_free:
        if not is_free:
            raise ConfigError(f"{folder} is in use by another process; wait for it")
        yield
