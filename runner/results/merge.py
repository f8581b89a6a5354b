"""Shards of one run as one run folder."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from components.errors import ConfigError
from runner import manifest
from runner.records import FILE, read

_SAME = ("name", "choices", "seed", "epochs", "limit", "prompts", "scorers")


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
    shutil.copyfile(folders[0] / "config.yaml", new / "config.yaml")
    counts = {key: sum(note["counts"][key] for note in notes) for key in ("finished", "wanted", "errored")}
    status = "complete" if all(note["status"] == "complete" for note in notes) else "partial"
    merged = notes[0] | {"id": new.name, "status": status, "counts": counts, "shard": None, "mlflow": None}
    merged["dataset"] = notes[0]["dataset"] | {"samples": sum(note["dataset"]["samples"] for note in notes)}
    manifest.write(new, merged)
    return new
