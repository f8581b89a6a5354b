"""Whether a run folder still has what its run wrote: sizes and digests of its files are in the manifest."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from components.core.errors import ConfigError
from runner.storage import disk, manifest, records
from runner.storage.resume import CONFIG
from runner.storage.schema import FileDigest

METRICS = "metrics.json"


class Damaged(ConfigError):
    """A run folder is not as its run wrote it."""


class Change(NamedTuple):
    """A file that was changed after its run wrote it, and the message about it."""

    name: str
    line: str


def digests_of(folder: Path) -> dict[str, FileDigest]:
    """Name -> size in bytes and SHA-256 of the records, the metrics and the files of texts."""
    paths = [folder / records.FILE, folder / METRICS, *sorted(folder.glob("texts-*.jsonl.gz"))]
    return {path.name: _digest(path) for path in paths if path.exists()}


def _digest(path: Path) -> FileDigest:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def changed_files(folder: Path, *, apart: str = "") -> list[Change]:
    """Each file, ``apart`` from one, that is missing or has another size or digest than the run wrote. Raises
    ConfigError for a damaged manifest."""
    found = []
    for name, wrote in (manifest.read(folder).get("files") or {}).items():
        path = folder / name
        if name == apart:
            continue
        if Path(name).name != name or not path.is_file():  # nothing else than a file in the folder is opened
            line = f"{path} is missing; its run wrote {wrote['bytes']:,} bytes"
        elif (size := path.stat().st_size) != wrote["bytes"]:
            line = f"{path} has {size:,} bytes; its run wrote {wrote['bytes']:,}"
        elif _digest(path) != wrote:
            line = f"{path} was changed: it has another SHA-256 than its run wrote"
        else:
            continue
        found.append(Change(name, line))
    return found


def write_metrics(folder: Path, text: str) -> None:
    """Replace metrics that were computed again, and their digest where the manifest has digests. Other metrics than the
    run's are not written while another of its files was changed, and none while its process writes them itself."""
    with disk.folder_lock(folder) as is_free:
        if not is_free:
            return
        notes, data = manifest.read(folder), text.encode()
        now: FileDigest = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        if (files := notes.get("files")) and files.get(METRICS) != now:
            if changed_files(folder, apart=METRICS):
                return
            manifest.write(folder, notes | {"files": files | {METRICS: now}})
        disk.replace(folder / METRICS, text)


def _changes(folder: Path) -> list[Change]:
    """Each file, the config too, that is not as the run wrote it."""
    known, found = manifest.read(folder).get("config"), changed_files(folder)
    if known and manifest.digest((folder / CONFIG).read_bytes()) != known[-1]:
        found.append(Change(CONFIG, f"{folder / CONFIG} was changed after its run wrote it"))
    return found


def refuse_changed(folder: Path) -> None:
    """Raises Damaged, a line with what to do, where a file is not as the run wrote it."""
    _refuse(folder, _changes(folder))


def _refuse(folder: Path, found: Sequence[Change]) -> None:
    if found:
        more = f" (and {len(found) - 1} more: python -m runner.report verify {folder})" if found[1:] else ""
        again = {CONFIG: "", METRICS: f", or compute it again: python -m runner.report table {folder}"}
        resume = f", or delete {records.FILE} and resume the run: the journal answers its calls"
        raise Damaged(f"{found[0].line}{more}; restore it{again.get(found[0].name, resume)}")


def refuse_changed_records(folder: Path) -> None:
    """The same of records and their texts, which a resumed run would take as its own. Without the file of records it
    has none: all samples are run again."""
    if (folder / records.FILE).exists():
        _refuse(folder, changed_files(folder, apart=METRICS))


def verify(folder: Path) -> str:
    """Compare all with the manifest, and look up every text that a record refers to. Returns what was compared. Raises
    ConfigError, a line for each difference, and for a run that has finished without digests."""
    notes = manifest.read_begun(folder)
    found = [change.line for change in _changes(folder)]
    if not found and (lost := records.lost_texts(folder)):
        found.append(f"{folder}: {len(lost)} texts of its records are missing from texts-*.jsonl.gz")
    if found:
        raise ConfigError("\n".join(found))
    if notes.get("files"):
        return f"{folder}: config, records, metrics and texts are as its run wrote them"
    if notes.get("counts"):
        raise ConfigError(f"{folder}: its run has finished, but its manifest has no digests: nothing can be compared")
    return (
        f"{folder}: the config is as its run wrote it and no text of its records is missing; nothing else can be "
        "compared, because the run has not finished"
    )
