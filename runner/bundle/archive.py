"""The file of a bundle: a zip that is the same for the same content, and that is read as a stranger's.

``bundle.json`` names every other member with its size and SHA-256, and has a digest of itself. A member that was
changed can still be read as far as it goes, so that what it spoils can be named.
"""

import hashlib
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError

LIST = "bundle.json"
SCHEMA = 1
_TIME = (1980, 1, 1, 0, 0, 0)
_LOCAL = struct.Struct("<4s22sHH")  # of a local header: signature, what the directory says too, lengths
_MOST_MEMBERS, _MOST_BYTES, _FREE_BYTES, _RATIO = 100_000, 1 << 36, 1 << 28, 200
_LIST_BYTES = 1 << 28
_CHUNK = 1 << 16


def write(target: Path, head: Mapping[str, Any], members: Mapping[str, bytes | Path]) -> None:
    """Write a bundle in one move. ``head``: what ``bundle.json`` says beside the list of members."""
    for name in members:
        if (wrong := _wrong_name(name)) is not None:
            raise ConfigError(f"a bundle cannot hold {name!r}: {wrong}")
    listed = {name: _listed(members[name]) for name in sorted(members)}
    whole = {"schema": SCHEMA, **head, "members": listed}
    told = json.dumps({**whole, "digest": _digest(whole)}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(target.name + ".tmp")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in [(LIST, told.encode()), *sorted(members.items())]:
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
    head: Mapping[str, Any]
    infos: Mapping[str, zipfile.ZipInfo]

    @classmethod
    def open(cls, path: Path) -> "Archive":
        """Look at the directory and the list of members. Raises ConfigError for what is no bundle, or a trap."""
        try:
            with zipfile.ZipFile(path) as archive:
                found = archive.infolist()
        except (OSError, zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError) as error:
            raise ConfigError(f"{path} is no bundle: {error}") from None
        infos = _checked(path, found)
        if LIST not in infos:
            raise ConfigError(f"{path} is no bundle: it has no {LIST}")
        head = _head(path, b"".join(_inflated(path, infos[LIST], _LIST_BYTES)))
        if odd := sorted((infos.keys() - {LIST}) ^ head["members"].keys()):
            where = "is not in its list" if odd[0] in infos else "is in its list and not there"
            raise ConfigError(f"{path}: {odd[0]!r} {where}: this is not what was packed")
        return cls(path, head, infos)

    def extract(self, folder: Path) -> list[str]:
        """Write all members below ``folder``. Returns the names of those that are not what was packed."""
        changed = []
        for name, listed in self.head["members"].items():
            place, sha, size = folder / name, hashlib.sha256(), 0
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as out:
                for chunk in _inflated(self.path, self.infos[name], self.infos[name].file_size):
                    out.write(chunk)
                    sha.update(chunk)
                    size += len(chunk)
            if [size, sha.hexdigest()] != listed:
                changed.append(name)
        return changed


def _listed(content: bytes | Path) -> list[Any]:
    sha, size = hashlib.sha256(), 0
    for chunk in _chunks(content):
        sha.update(chunk)
        size += len(chunk)
    return [size, sha.hexdigest()]


def _chunks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _digest(whole: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _wrong_name(name: str) -> str | None:
    """Why a member may not be called so; None where it may."""
    parts = name.split("/")
    if not name or name.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "it leads out of the bundle"
    if any(ord(char) < 32 or char in "\\:" for char in name) or any(len(part.encode()) > 255 for part in parts):
        return "such a name is no file's everywhere"
    return None


def _checked(path: Path, found: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """The members by name. Raises ConfigError for names that lead out, come twice, or are no files, and for bombs."""
    if len(found) > _MOST_MEMBERS:
        raise ConfigError(f"{path} is refused: it has {len(found):,} members, at most {_MOST_MEMBERS:,} are read")
    infos: dict[str, zipfile.ZipInfo] = {}
    seen: set[str] = set()
    for info in found:
        name, kind = info.orig_filename, stat.S_IFMT(info.external_attr >> 16)
        wrong = _wrong_name(name)
        if name.lower() in seen:
            wrong = "it is there twice"
        elif kind not in (0, stat.S_IFREG):
            wrong = "it is a link or something else that is no file"
        elif info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            wrong = "it is encrypted, or compressed in a way that no bundle uses"
        if wrong:
            raise ConfigError(f"{path} is refused: member {name!r:.120}: {wrong}")
        seen.add(name.lower())
        infos[name] = info
    for name in infos:
        steps = name.lower().split("/")
        if above := next((a for n in range(1, len(steps)) if (a := "/".join(steps[:n])) in seen), None):
            raise ConfigError(f"{path} is refused: member {name!r:.120}: {above!r} is a file, not a folder")
    total = sum(info.file_size for info in found)
    if total > min(_MOST_BYTES, max(_FREE_BYTES, _RATIO * path.stat().st_size)):
        raise ConfigError(f"{path} is refused: it would be {total:,} bytes when unpacked")
    return infos


def _head(path: Path, text: bytes) -> dict[str, Any]:
    """What ``bundle.json`` says. Raises ConfigError where it is not what was written."""
    try:
        head = json.loads(text)
        said = head.pop("digest")
        if _digest(head) != said:
            raise ValueError("its digest is not that of what it says")
        if head["schema"] != SCHEMA:
            raise ConfigError(f"{path} has schema {head['schema']!r}, this version reads {SCHEMA}")
        if not isinstance(head["members"], dict) or not isinstance(head["runs"], list) or not head["runs"]:
            raise ValueError("it has no runs")
        for one in head["runs"]:
            if _wrong_name(one["label"]) or "/" in one["label"]:
                raise ConfigError(f"{path} is refused: a run is called {one['label']!r:.120}")
            if not all(isinstance(one[key], dict) for key in ("own", "prompts")):
                raise ValueError(f"the prompts of {one['label']} are no mapping")
        if len({one["label"].lower() for one in head["runs"]}) < len(head["runs"]):
            raise ConfigError(f"{path} is refused: two of its runs are called the same")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path}: {LIST} is not what was packed: {error}") from None
    return dict(head)


def _inflated(path: Path, info: zipfile.ZipInfo, most: int) -> Iterator[bytes]:
    """The content as far as it can be read, never more than ``most`` bytes; no checksum is asked here."""
    inflate = zlib.decompressobj(-15) if info.compress_type == zipfile.ZIP_DEFLATED else None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        signature, _, name, extra = _LOCAL.unpack(file.read(_LOCAL.size).ljust(_LOCAL.size, b"\0"))
        if signature != b"PK\3\4" or file.read(name) != info.orig_filename.encode():
            return
        file.seek(extra, 1)
        left, most = info.compress_size, min(most, info.file_size)
        while most > 0 and left > 0 and (chunk := file.read(min(_CHUNK, left))):
            left -= len(chunk)
            try:
                for piece in [chunk] if inflate is None else _pieces(inflate, chunk):
                    yield piece[:most]
                    most -= len(piece[:most])
                    if most <= 0:
                        return
            except zlib.error:
                return


def _pieces(inflate: Any, chunk: bytes) -> Iterator[bytes]:
    """A chunk inflated, in pieces of bounded size."""
    while chunk:
        if not (piece := inflate.decompress(chunk, _CHUNK)):
            return
        yield piece
        chunk = inflate.unconsumed_tail
