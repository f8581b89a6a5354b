"""What hostile cells are after, laid out around a sandbox: secrets, files to change, servers to reach."""

import ctypes
import hashlib
import os
import secrets
import selectors
import shutil
import socket
import sqlite3
import struct
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.components.sandbox.attacks.calls import syscall

DATABASE = "mimic_iii"
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.shmat.restype = ctypes.c_void_p
_ROWS = [(number, number % 40, "M" if number % 3 else "F") for number in range(300)]


class Ground:
    """A folder with one data file that cells may read, and next to it all that they may not read or change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secret = os.environ["OPENAI_API_KEY"]
        self.data = folder / "readable"
        self.file = self.data / "hospital.sqlite"
        self.tmp = folder / "tmp"
        self.reached: list[str] = []  # which servers a cell got through to
        self.facts: dict[str, Any] = {}
        lay(folder)
        _put(folder / "gold.json", self.secret)
        _put(folder / "work" / "notes.txt", self.secret)
        _put(folder / "home" / ".netrc", self.secret)
        self.tmp.mkdir(exist_ok=True)
        self.columns = next(path for path in (folder / "columns").iterdir() if path.is_dir())
        self._serve()
        self._keep_in_kernel()

    def snapshot(self) -> dict[str, tuple[Any, ...]]:
        """Every file that no cell may change: what it holds, its rights and its time."""
        found = {}
        for root, folders, files in os.walk(self.folder):
            if Path(root) == self.folder:
                folders.remove("tmp")
            for name in [*folders, *files]:
                path = os.path.join(root, name)
                known = os.lstat(path)
                metadata = (known.st_mode, known.st_uid, known.st_nlink, known.st_mtime_ns)
                held = b""
                if name in files and not os.path.islink(path) and not path.endswith(".sock"):
                    held = hashlib.sha256(Path(path).read_bytes()).digest() + repr(os.listxattr(path)).encode()
                found[path] = (*metadata, held)
        return found

    def _serve(self) -> None:
        """Listen on everything that a process of this machine could reach; every client is sent the secret."""
        chosen, token = selectors.DefaultSelector(), secrets.token_hex(6)
        inside, outside = self.data.parent / "columns" / "inside.sock", self.folder / "outside.sock"
        places: list[tuple[str, int, int, Any]] = [
            ("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0wards-{token}"),
            ("abstract_datagram", socket.AF_UNIX, socket.SOCK_DGRAM, f"\0wards-d-{token}"),
            ("unix", socket.AF_UNIX, socket.SOCK_STREAM, str(outside)),
            ("unix_readable", socket.AF_UNIX, socket.SOCK_STREAM, str(inside)),
        ]
        for path in (inside, outside):
            path.unlink(missing_ok=True)
        for name, family, kind, address in places:
            server = socket.socket(family, kind)
            server.bind(address)
            if kind == socket.SOCK_STREAM:
                server.listen(64)
            chosen.register(server, selectors.EVENT_READ, name)
            self.facts[name.upper()] = server.getsockname()[1] if family == socket.AF_INET else address
        for path in (inside, outside):
            path.chmod(0o777)
        threading.Thread(target=self._answer, args=(chosen,), daemon=True).start()

    def _answer(self, chosen: selectors.BaseSelector) -> None:
        while True:
            for key, _ in chosen.select():
                server: Any = key.fileobj
                self.reached.append(key.data)
                if server.type == socket.SOCK_STREAM:
                    with server.accept()[0] as client:
                        client.sendall(self.secret.encode())
                else:
                    _, sender = server.recvfrom(100)
                    if sender:
                        server.sendto(self.secret.encode(), sender)

    def _keep_in_kernel(self) -> None:
        """Leave the secret in shared memory, in a key, in an inheritable file; name a file by its handle."""
        secret = self.secret.encode()
        segment = syscall("shmget", 0, 4096, 0o1666)
        address = _LIBC.shmat(segment, None, 0)
        ctypes.memmove(address, secret, len(secret))
        _LIBC.shmctl(segment, 0, None)  # gone with the last process that holds it
        syscall("keyctl", 1, 0)  # a session of keys of our own
        key = syscall("add_key", b"user", b"ward", secret, len(secret), -3)
        syscall("keyctl", 5, key, 0x3F3F3F3F)
        descriptor = os.open(self.folder / "gold.json", os.O_RDONLY)
        os.set_inheritable(descriptor, True)
        shared = Path("/dev/shm") / f"wards-{os.getpid()}"
        shared.write_text(self.secret)
        handle, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128)), ctypes.c_int()
        place = os.fsencode(self.folder / "gold.json")
        _LIBC.name_to_handle_at(-100, place, handle, ctypes.byref(mount), 0)
        size = struct.unpack("I", handle.raw[:4])[0]
        self.facts |= {"SEGMENT": segment, "KEY": key, "INHERITED": descriptor, "SHARED": str(shared)}
        self.facts |= {"HANDLE": handle.raw[: 8 + size].hex(), "DEVICE": os.stat(self.folder).st_dev}


def lay(folder: Path) -> Path:
    """Make again what cells try to change; everyone may write to it, so that nothing but the sandbox holds.

    Returns the file of the database.
    """
    data, canary = folder / "readable", folder / "canary"
    for place in (data, canary):
        shutil.rmtree(place, ignore_errors=True)
    _put(canary / "canary.txt", "sings")
    _put(data / "table.csv", "a,b\n1,2\n")
    with closing(sqlite3.connect(data / "hospital.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE patients (ROW_ID INTEGER, SUBJECT_ID INTEGER, GENDER TEXT)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?)", _ROWS)
    (data / "link.json").symlink_to("../gold.json")
    for place in (data, canary):
        place.chmod(0o777)
        for path in place.iterdir():
            if not path.is_symlink():
                path.chmod(0o666)
    return data / "hospital.sqlite"


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
