"""Shards of one run as one run folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from components.errors import ConfigError
from runner import manifest
from runner.records import FILE, read
from runner.resume import differences

_SAME = ("name", "choices", "seed", "epochs", "limit", "prompts", "scorers", "identities", "memory")


def merge(folders: Sequence[Path], new: Path) -> Path:
    """Put the records and texts of several folders into a new one. Raises ConfigError, naming the difference,
    when they are not shards of one run or a sample stands in two of them."""
    if new.exists():
        raise ConfigError(f"--merge {new}: the folder exists; name a new one")
    notes = [manifest.read(folder) for folder in folders]
    for folder, other in zip(folders[1:], notes[1:], strict=True):
        for key in _SAME:
            if other.get(key) != notes[0].get(key):
                raise ConfigError(
                    f"{folder} is no shard of {folders[0]}: {key} is {other.get(key)}, not {notes[0].get(key)}"
                )
    _check_config(folders)
    _check_shards(notes)
    seen: dict[tuple[str, int], Path] = {}
    for folder in folders:
        for record in read(folder):
            if (first := seen.setdefault((record["sample_id"], record["epoch"]), folder)) != folder:
                raise ConfigError(f"sample {record['sample_id']!r} stands in {first} and in {folder}")
    new.mkdir(parents=True)
    with (new / FILE).open("wb") as out:
        for n, folder in enumerate(folders):
            out.write((folder / FILE).read_bytes())
            for path in sorted(folder.glob("texts-*.jsonl.gz")):
                shutil.copyfile(path, new / f"texts-{n:02}{path.name.removeprefix('texts-')}")
    config = yaml.safe_load((folders[0] / "config.yaml").read_text(encoding="utf-8"))
    config["run"]["shard"] = None
    (new / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
    counts = {key: sum(note["counts"][key] for note in notes) for key in ("finished", "wanted", "errored")}
    status = "complete" if all(note["status"] == "complete" for note in notes) else "partial"
    merged = notes[0] | {"id": new.name, "status": status, "counts": counts, "shard": None, "mlflow": None}
    merged["sessions"] = [session for note in notes for session in note["sessions"]]
    merged["calls"] = {key: sum(note["calls"][key] for note in notes) for key in ("sent", "from_journal")}
    merged["dataset"] = notes[0]["dataset"] | {"samples": sum(note["dataset"]["samples"] for note in notes)}
    manifest.write(new, merged)
    return new


def _check_config(folders: Sequence[Path]) -> None:
    """Raises ConfigError when two folders' configs differ in more than the shard."""
    first, *others = [yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8")) for folder in folders]
    for folder, other in zip(folders[1:], others, strict=True):
        if changes := differences(first, other):
            raise ConfigError(f"{folder} is no shard of {folders[0]}: {'; '.join(changes[:3])}")


def _check_shards(notes: Sequence[Mapping[str, Any]]) -> None:
    """Raises ConfigError unless every one of the n shards is there once, over the same data."""
    if len({note["dataset"]["fingerprint"] for note in notes}) > 1:
        raise ConfigError("the shards were run on different data (dataset fingerprints differ)")
    shards = [str(note["shard"]) for note in notes]
    n = shards[0].partition("/")[2]
    if sorted(shards) != sorted(f"{i + 1}/{n}" for i in range(int(n or 0))):
        raise ConfigError(f"the shards are {', '.join(shards)}; to merge them all of i/{n or 'n'} must be there once")
