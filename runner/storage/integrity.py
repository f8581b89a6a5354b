"""Whether a run folder still has what its run wrote: sizes and digests of records and texts are in the manifest."""

import hashlib
from pathlib import Path

from components.core.errors import ConfigError
from runner.storage import manifest, records
from runner.storage.resume import CONFIG
from runner.storage.schema import FileDigest


def digests_of(folder: Path) -> dict[str, FileDigest]:
    """Name -> size in bytes and SHA-256 of the records and the files of texts."""
    paths = [folder / records.FILE, *sorted(folder.glob("texts-*.jsonl.gz"))]
    return {path.name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in paths if path.exists()}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def changed_files(folder: Path, *, contents: bool = False) -> list[str]:
    """A line for each file that is missing or has another size, or with ``contents`` another digest, than the run
    wrote. Raises ConfigError for a damaged manifest."""
    found = []
    for name, wrote in (manifest.read(folder).get("files") or {}).items():
        path = folder / name
        if not path.exists():
            found.append(f"{path} is missing; its run wrote {wrote['bytes']:,} bytes")
        elif (size := path.stat().st_size) != wrote["bytes"]:
            found.append(f"{path} has {size:,} bytes; its run wrote {wrote['bytes']:,}")
        elif contents and _sha256(path) != wrote["sha256"]:
            found.append(f"{path} was changed: it has another SHA-256 than its run wrote")
    return found


def verify(folder: Path) -> str:
    """Compare all with the manifest, and look up every text that a record refers to. Returns what was compared. Raises
    ConfigError, a line for each difference."""
    notes, found = manifest.read(folder), changed_files(folder, contents=True)
    if (known := notes.get("config")) and manifest.digest((folder / CONFIG).read_bytes()) != known[-1]:
        found.append(f"{folder / CONFIG} was changed after its run wrote it")
    if not found and (lost := records.lost_texts(folder)):
        found.append(f"{folder}: {len(lost)} texts of its records are in no texts-*.jsonl.gz")
    if found:
        raise ConfigError("\n".join(found))
    without = "; it has no digests, since it did not end or is of an earlier version"
    return f"{folder}: config, records and texts are as its run wrote them{'' if notes.get('files') else without}"
