"""The file of a bundle: a zip that is the same for the same content, and in which nothing is trusted.

``bundle.json`` names every other member with its size and SHA-256, and has a digest of itself. A member that was
changed can still be read as far as it goes, so that what it spoils can be named. ``journal.jsonl`` has a line per entry
of the journal: key and checksum in hexadecimal digits, then the payload, which is JSON without line breaks.
"""

import io
import json
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

import orjson
from annotated_types import MinLen
from pydantic import BaseModel, ValidationError

from components.core.errors import ConfigError
from runner.config.schema import Slug
from runner.storage.journal import Journal

LIST, JOURNAL = "bundle.json", "journal.jsonl"
SCHEMA = 1
_TIME = (1980, 1, 1, 0, 0, 0)
_MAX_MEMBERS, _MAX_BYTES, _FREE_BYTES, _MAX_RATIO = 100_000, 1 << 36, 1 << 28, 200
_CHUNK = 1 << 16
_MAX_LIST_CHUNKS = 1 << 12
_MAX_LINE = 1 << 28  # bytes of a line of the journal


class RunEntry(BaseModel):
    """A run of a bundle. ``own``: custom prompt sets, name in the bundle -> name at the time; ``prompts``: digests."""

    label: str
    own: dict[str, str]
    prompts: dict[str, str]


class Head(BaseModel):
    """The fields of ``bundle.json`` that are read; ``members``: name -> size and SHA-256."""

    name: Slug
    runs: Annotated[list[RunEntry], MinLen(1)]
    members: dict[str, list[int | str]]


def write(target: Path, head: Mapping[str, Any], members: Mapping[str, bytes | Path]) -> None:
    """Write a bundle in one move. ``head``: what ``bundle.json`` holds besides the list of members."""
    for name in members:
        if (wrong := _wrong_name(name)) is not None:
            raise ConfigError(f"a bundle cannot hold {name!r}: {wrong}")
    listed = {name: _size_and_digest(_chunks(members[name])) for name in sorted(members)}
    whole = {"schema": SCHEMA, **head, "members": listed}
    text = json.dumps({**whole, "digest": _digest(whole)}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(target.name + ".tmp")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in [(LIST, text.encode()), *sorted(members.items())]:
            info = zipfile.ZipInfo(name, _TIME)
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            with archive.open(info, "w", force_zip64=True) as out:
                for chunk in _chunks(content):
                    out.write(chunk)
    fresh.replace(target)


@dataclass(frozen=True)
class Archive:
    """A bundle that was opened: ``head`` is its ``bundle.json``. Nothing in it is trusted."""

    path: Path
    head: Head
    infos: Mapping[str, zipfile.ZipInfo]

    @classmethod
    def open(cls, path: Path) -> "Archive":
        """Read the directory and the list of members. Raises ConfigError for what is not a bundle, or is hostile."""
        try:
            with zipfile.ZipFile(path) as archive:
                members = _checked(path, archive.infolist())
                if LIST not in members:
                    raise ConfigError(f"{path} is not a bundle: it has no {LIST}")
                text = b"".join(islice(_content(archive, members[LIST]), _MAX_LIST_CHUNKS))
        except FileNotFoundError:
            raise ConfigError(f"there is no bundle {path}; python -m runner.report bundle makes one") from None
        except (OSError, zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError) as error:
            raise ConfigError(f"{path} is not a bundle: {error}") from None
        head = _head(path, text)
        if odd := sorted((members.keys() - {LIST}) ^ head.members.keys()):
            where = "is not in its list" if odd[0] in members else "is in its list and missing"
            raise ConfigError(f"{path}: {odd[0]!r} {where}: changed after it was packed")
        return cls(path, head, members)

    def extract(self, folder: Path) -> list[str]:
        """Write all members below ``folder``. Returns the names of those that were changed after packing."""
        changed = []
        with zipfile.ZipFile(self.path) as archive:
            for name, listed in self.head.members.items():
                place = folder / name
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("xb") as out:
                    if _size_and_digest(_content(archive, self.infos[name]), out) != listed:
                        changed.append(name)
        return changed


def _size_and_digest(chunks: Iterable[bytes], out: IO[bytes] | None = None) -> list[Any]:
    """Size and SHA-256 of a content, which is also written to ``out``."""
    sha, size = sha256(), 0
    for chunk in chunks:
        sha.update(chunk)
        size += len(chunk)
        if out is not None:
            out.write(chunk)
    return [size, sha.hexdigest()]


def _chunks(content: bytes | Path) -> Iterator[bytes]:
    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content as far as it can be read, at most of the size in the directory."""
    info.CRC = None  # type: ignore[assignment]  # then zipfile does not stop at a changed content: its digest decides
    try:
        with archive.open(info) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):  # whatever is wrong in it
        return


def _digest(whole: Mapping[str, Any]) -> str:
    return sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _wrong_name(name: str) -> str | None:
    """Why a member may not be called so; None where it may."""
    parts = name.split("/")
    if not name or name.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "it points outside the bundle"
    if any(ord(char) < 32 or char in "\\:" for char in name) or any(len(part.encode()) > 255 for part in parts):
        return "such a name is not valid on every system"
    return None


def _checked(path: Path, members: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """The members by name. Raises ConfigError for hostile or duplicate names, what is not a file, and bombs."""
    if len(members) > _MAX_MEMBERS:
        raise ConfigError(f"{path} is refused: it has {len(members):,} members, at most {_MAX_MEMBERS:,} are read")
    infos: dict[str, zipfile.ZipInfo] = {}
    seen: set[str] = set()
    for info in members:
        name, kind = info.orig_filename, stat.S_IFMT(info.external_attr >> 16)
        wrong = _wrong_name(name)
        if name.lower() in seen:
            wrong = "it is duplicated"
        elif kind not in (0, stat.S_IFREG):
            wrong = "it is not a regular file"
        elif info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            wrong = "it is encrypted, or its compression is not supported"
        if wrong:
            raise ConfigError(f"{path} is refused: member {name!r:.120}: {wrong}")
        seen.add(name.lower())
        infos[name] = info
    for name in infos:
        steps = name.lower().split("/")
        if above := next((a for n in range(1, len(steps)) if (a := "/".join(steps[:n])) in seen), None):
            raise ConfigError(f"{path} is refused: member {name!r:.120}: {above!r} is a file, not a folder")
    total = sum(info.file_size for info in members)
    if total > min(_MAX_BYTES, max(_FREE_BYTES, _MAX_RATIO * path.stat().st_size)):
        raise ConfigError(f"{path} is refused: it would be {total:,} bytes when unpacked")
    return infos


def _head(path: Path, text: bytes) -> Head:
    """The content of ``bundle.json``. Raises ConfigError where it is not what was written."""
    try:
        head = json.loads(text)
        if head.pop("digest") != _digest(head):
            raise ValueError("its digest does not match its content")
        if head["schema"] != SCHEMA:
            raise ConfigError(f"{path} has schema {head['schema']!r}, this version reads {SCHEMA}")
        checked = Head.model_validate(head, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{path}: {LIST} was changed after it was packed: {where!r:.120}: {first['msg']}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path}: {LIST} was changed after it was packed: {error}") from None
    labels = [one.label for one in checked.runs]
    if odd := [label for label in labels if _wrong_name(label) or "/" in label]:
        raise ConfigError(f"{path} is refused: a run is called {odd[0]!r:.120}")
    if len({label.lower() for label in labels}) < len(labels):
        raise ConfigError(f"{path} is refused: two of its runs have the same name")
    return checked


def journal_lines(entries: Mapping[bytes, bytes]) -> bytes:
    """The content of ``journal.jsonl``, calls in the order of their places. Raises ConfigError."""
    if odd := next((key for key, payload in entries.items() if b"\n" in payload), None):
        raise ConfigError(f"the journal's entry {odd.hex()} is not a line of JSON")
    heads = {key: orjson.loads(payload) for key, payload in entries.items()}  # what tools returned has no place: last
    ordered = sorted(entries, key=lambda key: (0, *heads[key]["at"], key) if "at" in heads[key] else (1, key))
    lines = ((key.hex().encode(), _checksum(key, entries[key]), entries[key]) for key in ordered)
    return b"".join(b"%s %s %s\n" % line for line in lines)


def restore_journal(path: Path, folder: Path) -> None:
    """Write the whole entries of a ``journal.jsonl`` into a journal."""
    with Journal(folder) as journal, path.open("rb") as lines:
        while line := lines.readline(_MAX_LINE):
            name, _, rest = line.rstrip(b"\n").partition(b" ")
            checksum, _, payload = rest.partition(b" ")
            with suppress(ValueError):  # a damaged line
                key = bytes.fromhex(name.decode("ascii"))
                orjson.loads(payload)
                if len(key) == 32 and checksum == _checksum(key, payload):
                    journal.put(key, payload)


def _checksum(key: bytes, payload: bytes) -> bytes:
    return sha256(key + payload).hexdigest()[:16].encode()
