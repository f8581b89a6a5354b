"""The log of a study, ``NAME.log.jsonl`` next to its file: runs that began, deviations, looks at results, analyses.

A line holds the digest of the line before it, and the first one is about what was frozen: a line that is changed or
removed later is found, unless all lines after it are rewritten, too.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from runner.storage import disk, manifest, records
from runner.storage.schema import Manifest
from runner.study.frozen import Frozen
from runner.terminal.command import print_note

Event = Mapping[str, Any]


def add(study: Path, event: Event) -> None:
    """Append an event with its time. Raises ConfigError for a log that was changed, OSError."""
    path = file_of(study)
    with disk.locked(path):
        lines = _lines(path)
        line = json.dumps({"time": manifest.now(), **event, "before": _digest(lines)}, ensure_ascii=False)
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def note_begin(folder: Path, notes: Manifest) -> None:
    """Log that a run of a study began, or was resumed, and how it deviates. Raises ConfigError, OSError."""
    if (of := notes.get("protocol")) is not None:
        event = "resumed" if notes["resumed"] else "run"
        facts = {key: of[key] for key in ("arm", "seed", "deviations", "reason")}
        add(Path(of["study"]), {"event": event, "id": notes["id"], "folder": str(folder.absolute()), **facts})


def file_of(study: Path) -> Path:
    """The log's place."""
    return study.with_suffix(".log.jsonl")


def events(study: Path) -> list[Event]:
    """All events, the first one first. Raises ConfigError for a log that was changed."""
    path = file_of(study)
    return [json.loads(line) for line in _lines(path)] if path.exists() else []


def _lines(path: Path) -> list[str]:
    """The lines of a log whose digests are right. Raises ConfigError."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        try:
            before = json.loads(line)["before"]
        except (ValueError, KeyError, TypeError):
            before = None
        if before != _digest(lines[number - 1 : number]):
            raise ConfigError(f"{path}:{number + 1}: it does not follow the line before: put the log back from a copy")
    return lines


def _digest(lines: Sequence[str]) -> str:
    return sha256(lines[-1].encode()).hexdigest() if lines else ""


def runs_of(study: Path, folders: Iterable[Path] = ()) -> dict[tuple[str, int], list[Path]]:
    """(arm, seed) -> the folders of the runs that began under a study, in that order; where one was moved, that of
    ``folders`` with its id. Those of ``folders`` that are of the study and not in its log come last."""
    given = {notes["id"]: (folder, notes["protocol"]) for folder in folders
             if "protocol" in (notes := manifest.read(folder))}  # fmt: skip
    found: dict[tuple[str, int], list[Path]] = {}
    for event in events(study):
        if event["event"] == "run":
            folder, _ = given.pop(event["id"], (Path(event["folder"]), None))
            here = manifest.read(folder).get("id") == event["id"]
            found.setdefault((event["arm"], event["seed"]), []).extend([folder] if here else [])
    for folder, of in given.values():  # merged of parts
        if of["frozen"] == Frozen.read(study).digest:
            found.setdefault((of["arm"], of["seed"]), []).append(folder)
    return found


def looks(study: Path) -> list[tuple[Event, bool]]:
    """The looks at results before all was run, and whether each was planned: of each planned number of samples it is
    the first look from there on, repeated as long as no sample is added."""
    planned_at, found = Frozen.read(study).study.looks, list[tuple[Event, bool]]()
    for event in events(study):
        if event["event"] == "look":
            n, before = min(event["n"].values()), [min(one["n"].values()) for one, _ in found]
            planned = any(look <= n and all(of < look or of == n for of in before) for look in planned_at)
            found.append((event, planned))
    return found


def note_look(folders: Sequence[Path]) -> None:
    """Log that results of runs of a frozen study are looked at before all planned runs are whole."""
    facts = [manifest.read(folder).get("protocol") for folder in folders]
    for study in dict.fromkeys(Path(one["study"]) for one in facts if one):
        if study.exists():
            note_analysis(study, folders, always=False)
        else:
            print_note(f"note: {study}, under whose protocol this was run, is not here: this look is not logged")


def note_analysis(study: Path, folders: Sequence[Path], always: bool = True) -> None:
    """Log an analysis of a study: a look where planned runs are not whole."""
    frozen, runs = Frozen.read(study), runs_of(study, folders)
    done = {key: max(map(records.count, runs.get(key, ())), default=0) for key in frozen.episodes}
    early = any(done[key] < planned for key, planned in frozen.episodes.items())
    if early or always:
        n = {f"{arm}, seed {seed}": of for (arm, seed), of in done.items()}
        add(study, {"event": "look" if early else "analysis", "command": manifest.command_line(), "n": n})
