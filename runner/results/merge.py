"""Shards of one run as one run folder."""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ConfigError
from runner.results.runs import config_of, leaves
from runner.storage import manifest
from runner.storage.integrity import digests_of
from runner.storage.records import FILE, read
from runner.storage.resume import differences, setting

_CALLS = ("sent", "from_journal", "separate")
_SAME = ("name", "choices", "seed", "epochs", "limit", "prompts", "scorers", "identities", "memory")


def merge(folders: Sequence[Path], new: Path, ids: Sequence[str] = ()) -> Path:
    """Put the records and texts of several folders into a new one. Raises ConfigError, naming the difference, when they
    are not shards of one run or a sample is in two of them. Records are in the order of ``ids``, the whole run's
    samples; without it as the shards took turns."""
    if new.exists():
        raise ConfigError(f"merge {new}: the folder exists; name a new one")
    notes = [manifest.read(folder) for folder in folders]
    if unfinished := [folder for folder, note in zip(folders, notes, strict=True) if not note.get("counts")]:
        raise ConfigError(f"merge: {unfinished[0]} has not finished: {setting('run.resume', unfinished[0])} resumes it")
    mine, *others = (dict(pair for key in _SAME for pair in leaves(note.get(key), key)) for note in notes)
    for folder, other in zip(folders[1:], others, strict=True):
        both = [(key, other.get(key, "not set"), mine.get(key, "not set")) for key in dict.fromkeys([*other, *mine])]
        changes = [f"{key} is {is_here}, not {is_there}" for key, is_here, is_there in both if is_here != is_there]
        if changes := changes or differences(config_of(folders[0]), config_of(folder)):
            raise ConfigError(f"{folder} is not a shard of {folders[0]}: {'; '.join(changes[:3])}")
    if len({note["dataset"]["fingerprint"] for note in notes}) > 1:
        raise ConfigError("the shards were run on different data (dataset fingerprints differ)")
    shards = [str(note["shard"]) for note in notes]
    whole = shards[0].partition("/")[2]
    if sorted(shards) != sorted(f"{i + 1}/{whole}" for i in range(int(whole or 0))):
        needed = f"to merge, give each of i/{whole or 'n'} once"
        raise ConfigError(f"the shards are {', '.join(shards)}; {needed}")
    lines = _lines(folders, ids)
    new.mkdir(parents=True)
    with ExitStack() as stack, (new / FILE).open("wb") as out:  # one at a time: together they may not fit into memory
        files = [stack.enter_context((folder / FILE).open("rb")) for folder in folders]
        for _, n, _, begin, end in lines:
            files[n].seek(begin)
            out.write(files[n].read(end - begin))
    for n, folder in enumerate(folders):
        for path in sorted(folder.glob("texts-*.jsonl.gz")):
            shutil.copyfile(path, new / f"texts-{n:04}-{path.name.removeprefix('texts-')}")
    config = config_of(folders[0])
    config["run"]["shard"] = None
    (new / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
    manifest.write(new, _merge_notes(notes) | {"files": digests_of(new)})
    return new


def _lines(folders: Sequence[Path], ids: Sequence[str]) -> list[tuple[int, int, int, int, int]]:
    """The records of all folders in order: position in the whole, number of the folder, epoch, first and last byte in
    its file. Raises ConfigError for one that is in two folders."""
    ranks = {name: n for n, name in enumerate(ids)}
    lines = []
    seen: dict[tuple[str, int], Path] = {}
    for n, folder in enumerate(folders):
        turns: dict[str, int] = {}
        begin = 0
        with (folder / FILE).open("rb") as file:
            for record, line in zip(read(folder), file, strict=False):  # a torn last line is not a record
                name, epoch = record["sample_id"], record["epoch"]
                if (first := seen.setdefault((name, epoch), folder)) != folder:
                    raise ConfigError(f"sample {name!r} is in {first} and in {folder}")
                turn = turns.setdefault(name, len(turns))
                lines.append((ranks.get(name, turn), n, epoch, begin, begin + len(line)))
                begin += len(line)
    return sorted(lines)


def _merge_notes(notes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = max(notes, key=lambda note: len(note.get("protocol", {}).get("deviations", ())))  # from what was frozen
    states = {str(note["status"]) for note in notes}
    errors, kills = Counter[str](), Counter[str]()
    for note in notes:
        errors.update(note.get("errors") or {})
        kills.update((note.get("sandbox") or {}).get("kills") or {})
    return {
        **first,
        "id": manifest.digest(" ".join(str(note.get("id")) for note in notes).encode())[:32],
        "status": "complete" if states == {"complete"} else "budget" if "budget" in states else "partial",
        "stopped": next((note["stopped"] for note in notes if note.get("stopped")), None),
        "start": min(note["start"] for note in notes),
        "end": max((note["end"] for note in notes if note.get("end")), default=None),
        "counts": {key: sum(note["counts"][key] for note in notes) for key in ("finished", "wanted", "errored")},
        "errors": dict(errors.most_common(5)),
        "sessions": [session for note in notes for session in note["sessions"]],
        "calls": {**{key: sum(note["calls"].get(key, 0) for note in notes) for key in _CALLS}, "models": {}},
        "spent": manifest.spent([note["spent"] for note in notes]),
        "sandbox": first.get("sandbox") and {**first["sandbox"], "kills": dict(kills)},
        "notes": list(dict.fromkeys(text for note in notes for text in note["notes"])),
        "dataset": {**first["dataset"], "samples": sum(note["dataset"]["samples"] for note in notes)},
        "shard": None,
        "config": None,
        "mlflow": None,
    }
