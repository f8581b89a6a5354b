"""Requests and results of a run in the sandbox, and their frames between processes: a length and one JSON object.

Shared by host and workers, so it imports little. Frames are checked as text that hostile code may have written; the
host, the zygote and supervisors, which run no such code, send each other JSON in single messages.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt

Status = Literal["ok", "no_answer", "error", "timeout", "killed", "too_large"]
Tier = Literal["namespaces", "bwrap", "landlock", "rlimits"]
_HEAD = struct.Struct(">I")
MESSAGE_BYTES = 1 << 20  # more than a socket holds
MESSAGE_CHARS = 4000  # of an exception's text, of the line and of the traceback
_WORKER_STATUSES = ("ok", "no_answer", "error", "too_large")  # the others are found by the supervisor and the host
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_FIELDS = {"status": str, "answer": str, "output": str, "error": dict | None, "seconds": int | float, "token": str}
_ERROR_FIELDS = {"type": str, "kind": str, "message": str, "line_no": int | None, "line": str, "traceback": str}


class SandboxError(Exception):
    """The machine cannot run the cell: no memory to fork, the sandbox's own process ended twice."""

    label = "unavailable"


@dataclass(frozen=True)
class Limits:
    """What one cell may use. ``memory_bytes`` is address space, ``output_bytes`` standard output, cut beyond; an
    ``answer`` above ``answer_bytes`` is too large. Wall and CPU time are checked every quarter of a second."""

    wall_seconds: Annotated[float, Gt(0)] = 30.0
    cpu_seconds: Annotated[float, Gt(0)] = 20.0
    memory_bytes: Annotated[int, Ge(64 << 20)] = 2 << 30
    file_bytes: Annotated[int, Ge(0)] = 10 << 20
    scratch_bytes: Annotated[int, Ge(4096)] = 64 << 20
    open_files: Annotated[int, Ge(16)] = 64
    output_bytes: Annotated[int, Ge(0)] = 64 << 10
    answer_bytes: Annotated[int, Ge(1)] = 64 << 10

    @property
    def too_long(self) -> str:
        """The message for a cell that takes too long; the same for both limits, since which comes first is chance."""
        return f"the cell took longer than {self.wall_seconds:g} s, or more than {self.cpu_seconds:g} s of CPU"


@dataclass(frozen=True)
class Library:
    """What every cell's namespace holds in addition to the builtins: ``module``, imported before any episode, defines
    ``names(**arguments) -> dict``, called once per episode in the confined process. ``arguments`` are JSON values,
    ``readable`` what cells may read in addition. ``rehearsal`` is a cell that warms a worker's memory before its
    own."""

    module: str
    arguments: Mapping[str, Any]
    readable: tuple[Path, ...] = ()
    rehearsal: str = ""


@dataclass(frozen=True)
class CellError:
    """What went wrong. ``kind`` is the exception's attribute of that name when it is a text; ``line_no`` (from 1) and
    ``line`` are the innermost ones of the cell. Limits have the types Timeout, Killed, TooLarge and Protocol."""

    type: str
    kind: str
    message: str
    line_no: int | None = None
    line: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Ran:
    """One executed cell: ``answer`` is ``str(answer)``, ``output`` its standard output (data, not protocol),
    ``seconds`` the wall time in the worker. ``error`` is None for the statuses ok and no_answer only."""

    status: Status
    answer: str = ""
    output: str = ""
    error: CellError | None = None
    seconds: float = 0.0

    @property
    def broken(self) -> bool:
        """Whether the worker had to be ended."""
        return self.status in ("timeout", "killed") or (self.error is not None and self.error.type == "Protocol")


def failed(status: Status, kind: str, text: str) -> Ran:
    """The result of a cell that returned none."""
    return Ran(status, error=CellError(kind, "", text))


class FrameError(ValueError):
    """Bytes that are not a frame, or a frame that is not a result."""


def cap(answer_bytes: int) -> int:
    """The most bytes that a result may take: JSON writes one byte of text as up to six."""
    return 6 * (answer_bytes + 16 * MESSAGE_CHARS) + 4096


def plain(text: str) -> str:
    """The same text with what cannot be encoded as escapes."""
    return str.encode(text, "utf-8", "backslashreplace").decode()


def pack(value: Mapping[str, Any]) -> bytes:
    """A frame."""
    body = _encode(value).encode("utf-8", "replace")
    return _HEAD.pack(len(body)) + body


def pack_ran(ran: Ran, token: str) -> bytes:
    """The frame of a result; ``token`` is what the cell came with."""
    return pack({**vars(ran), "error": ran.error and vars(ran.error), "token": token})


class Reader:
    """Collects bytes until a frame is whole. Raises FrameError above ``limit`` bytes, before they are collected."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.rest = bytearray()

    def feed(self, data: bytes) -> None:
        """Add what was received."""
        self.rest += data
        if len(self.rest) > self._limit + _HEAD.size:
            raise FrameError("more bytes than a reply may have")

    def take(self) -> dict[str, Any] | None:
        """The next whole frame; None when bytes are missing."""
        if len(self.rest) < _HEAD.size:
            return None
        (size,) = _HEAD.unpack_from(self.rest)
        if size > self._limit:
            raise FrameError(f"a frame of {size} bytes")
        if len(self.rest) < _HEAD.size + size:
            return None
        body = bytes(self.rest[_HEAD.size : _HEAD.size + size])
        del self.rest[: _HEAD.size + size]
        try:  # int refuses the words for numbers that are none
            value = json.loads(body.decode(), parse_constant=int, object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            raise FrameError(f"no JSON: {type(error).__name__}") from None
        if not isinstance(value, dict):
            raise FrameError("no JSON object")
        return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise FrameError("a key is duplicated")
    return value


def _typed(value: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    if set(value) != set(fields):
        raise FrameError("other fields than a result has")
    for name, kind in fields.items():
        if not isinstance(value[name], kind) or isinstance(value[name], bool):
            raise FrameError(f"{name} has another type")
        if isinstance(value[name], str) and plain(value[name]) != value[name]:
            raise FrameError(f"{name} is not a text")


def read_ran(value: Mapping[str, Any], token: str, answer_bytes: int) -> Ran:
    """The result in a worker's frame; that it is this cell's, sizes and types are checked. Raises FrameError."""
    _typed(value, _FIELDS)
    if value["token"] != token:
        raise FrameError("the result of another cell")
    error = value["error"]
    if error is not None:
        _typed(error, _ERROR_FIELDS)
        error = CellError(**error)
        if max(map(len, (error.type, error.kind, error.message, error.line, error.traceback))) > 2 * MESSAGE_CHARS:
            raise FrameError("an error longer than it may be")
    if value["status"] not in _WORKER_STATUSES or (error is None) != (value["status"] in ("ok", "no_answer")):
        raise FrameError("a status that a worker cannot have")
    if len(value["answer"].encode()) > answer_bytes or value["output"]:
        raise FrameError("a text longer than it may be")
    if not 0 <= value["seconds"] < 1e9:
        raise FrameError("no such time")
    return Ran(value["status"], value["answer"], "", error, float(value["seconds"]))
