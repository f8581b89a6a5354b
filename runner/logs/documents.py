"""JSON files of other tools, read within bounds of size and depth: nothing in them is trusted."""

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from components.core.errors import ConfigError

MAX_BYTES = 1 << 29  # of a document, or of a line
_MAX_VALUES = 1 << 24  # of a document, a gigabyte or two in memory; commas and brackets are counted, also in texts
_MAX_MEMBERS = 500_000
_ZSTD = 93  # the compression of inspect_ai's archives, which zipfile reads from Python 3.14 on
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, NotImplementedError)


def parse(text: bytes, name: object, max_values: int = _MAX_VALUES) -> Any:
    """The value of a JSON text; ``?`` replaces lone surrogates. Raises ConfigError."""
    if (n := sum(map(text.count, (b",", b"[", b"{")))) > max_values:
        raise ConfigError(f"{name} is refused: it has {n:,} values, at most {max_values:,} are read")
    with suppress(orjson.JSONDecodeError):  # it refuses NaN, which these tools write, and lone surrogates
        return orjson.loads(text)
    try:
        return json.loads(json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name} is not readable JSON: {str(error)[:200]}") from None


def document(path: Path, max_bytes: int = MAX_BYTES) -> Any:
    """The value in a JSON file. Raises ConfigError."""
    if not path.is_file():
        raise ConfigError(f"there is no file {path}")
    if (size := path.stat().st_size) > max_bytes:
        raise ConfigError(f"{path} is refused: it has {size:,} bytes, at most {max_bytes:,} are read")
    return parse(path.read_bytes(), path)


def lines(path: Path, max_bytes: int = MAX_BYTES) -> Iterator[Any]:
    """The values in a file of JSON lines. Raises ConfigError."""
    with path.open("rb") as file:
        for n, line in enumerate(iter(lambda: file.readline(max_bytes + 1), b""), 1):
            if len(line) > max_bytes:
                raise ConfigError(f"{path}:{n} is refused: a line has at most {max_bytes:,} bytes")
            if line.strip():
                yield parse(line, f"{path}:{n}")


class Archive:
    """A zip of JSON files of at most ``max_bytes`` each; ``free_bytes`` of them, and whatever a ``max_ratio`` of the
    archive's size covers, are unpacked. Raises ConfigError for what is not one, or is larger."""

    def __init__(
        self, path: Path, max_bytes: int = MAX_BYTES, free_bytes: int = 1 << 30, max_ratio: int = 1_000
    ) -> None:
        self._path, self._max_bytes = path, max_bytes
        try:
            self._zip = zipfile.ZipFile(path)
        except _DAMAGED as error:
            raise ConfigError(f"{path} is not a zip archive: {error}") from None
        self.infos = {info.filename: info for info in self._zip.infolist()}  # of a name that is there twice the last
        total = sum(info.file_size for info in self.infos.values())
        if len(self.infos) > _MAX_MEMBERS or total > max(free_bytes, max_ratio * path.stat().st_size):
            raise ConfigError(f"{path} is refused: {len(self.infos):,} members of {total:,} bytes when unpacked")

    def read(self, name: str) -> Any:
        """The value in a member. Raises ConfigError."""
        info, where = self.infos[name], f"{self._path}: {name!r:.120}"
        if info.file_size > self._max_bytes:
            bound = f"at most {self._max_bytes:,} are read"
            raise ConfigError(f"{where} is refused: it has {info.file_size:,} bytes, {bound}")
        try:
            text = self._unpack(info)
        except _DAMAGED as error:
            raise ConfigError(f"{where} is damaged: {error}") from None
        if len(text) != info.file_size:
            raise ConfigError(f"{where} is damaged: its size is not the {info.file_size:,} bytes that it states")
        return parse(text, where)

    def _unpack(self, info: zipfile.ZipInfo) -> bytes:
        """A member's bytes, at most one more than it states."""
        if info.compress_type != _ZSTD:
            with self._zip.open(info) as file:
                return file.read(info.file_size + 1)
        packed = copy(info)
        packed.compress_type, packed.file_size, packed.CRC = zipfile.ZIP_STORED, info.compress_size, None  # type: ignore[assignment]
        with self._zip.open(packed) as file, pa.CompressedInputStream(file, "zstd") as stream:
            text: bytes = stream.read(info.file_size + 1)
            return text
