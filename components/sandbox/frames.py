"""Frames between processes: a length and one JSON object, checked as text that somebody hostile may have written."""

import json
import struct
from collections.abc import Mapping
from typing import Any

from components.sandbox.api import CellError, Ran

_HEAD = struct.Struct(">I")
MESSAGE_CHARS = 4000  # of an exception's text, of the line and of the traceback
_WORKER_STATUSES = ("ok", "no_answer", "error", "too_large")  # the others are found by the supervisor and the host
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_FIELDS = {"status": str, "answer": str, "output": str, "error": dict | None, "seconds": int | float, "token": str}
_ERROR_FIELDS = {"type": str, "kind": str, "message": str, "line_no": int | None, "line": str, "traceback": str}


class FrameError(ValueError):
    """Bytes that are not a frame, or a frame that is not a result."""


def cap(answer_bytes: int) -> int:
    """The most bytes that a result may take: JSON writes one byte of text as up to six."""
    return 6 * (answer_bytes + 16 * MESSAGE_CHARS) + 4096


def plain(text: str) -> str:
    """The same text with what cannot be encoded written out."""
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
        return _parse(body)


def _constant(text: str) -> Any:
    raise FrameError(f"{text} is not JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise FrameError("a key is duplicated")
    return found


def _parse(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body.decode(), parse_constant=_constant, object_pairs_hook=_pairs)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"no JSON: {type(error).__name__}") from None
    if not isinstance(value, dict):
        raise FrameError("no JSON object")
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
