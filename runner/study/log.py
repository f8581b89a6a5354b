"""The log of a study, ``NAME.log.jsonl`` next to its file: what was frozen, runs that began, deviations, looks.

A line holds the digest of the line before it, and the first one is about what was frozen: a line that is changed, or
removed before others, is found, unless all lines after it are rewritten, too. The last lines have none after them: so a
run's manifest holds the digest of the last line that was there when it began, resumed and ended.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from runner.storage import disk, manifest
from runner.storage.schema import Manifest
from runner.storage.texts import without_surrogates
from runner.terminal.command import print_note

Event = Mapping[str, Any]


def file_of(study: Path) -> Path:
    """The log's place."""
    return study.with_suffix(".log.jsonl")


def add(study: Path, event: Event) -> None:
    """Append an event with its time. Raises ConfigError for a log that was changed, OSError."""
    path = file_of(study)
    with disk.locked(path):
        lines = _lines(path)
        facts = {"time": manifest.now(), **event, "before": _digest(lines)}
        line = without_surrogates(json.dumps(facts, ensure_ascii=False))  # words and paths may be no UTF-8
        with path.open("ab") as file:
            disk.append(file.fileno(), f"{line}\n".encode(), path)


def note_begin(folder: Path, notes: Manifest) -> None:
    """Log that a study's run or a part of it began or was resumed, and how it deviates. Raises ConfigError, OSError."""
    if (facts := notes.get("protocol")) is not None and is_here(Path(facts["study"]), str(folder)):
        event = "part" if notes["shard"] else "resumed" if notes["resumed"] else "run"
        kept = {key: facts[key] for key in ("arm", "seed", "deviations", "reason")}
        add(Path(facts["study"]), {"event": event, "id": notes["id"], "folder": str(folder.absolute()), **kept})


def note_end(notes: Manifest) -> None:
    """Keep in the manifest of a study's run the log's last line."""
    if (facts := notes.get("protocol")) is not None:
        facts["log"] = last(Path(facts["study"]), facts.get("log", ""))


def last(study: Path, seen: str) -> str:
    """The digest of the last line; that of a line that was ``seen`` and is not there any more: it proves that the log
    was cut. Empty without both."""
    path = file_of(study)
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1] if path.exists() else []
    return seen if seen and all(_digest([line]) != seen for line in lines) else _digest(lines)


def has(study: Path, digest: str) -> bool:
    """Whether a line with this digest is there. Raises ConfigError for a log that was changed."""
    return digest in {_digest([line]) for line in _lines(file_of(study))}


def is_here(study: Path, what: str) -> bool:
    """Whether a study is where a run says that it is; if not, it is printed that ``what`` is not logged."""
    if not (found := study.exists()):
        print_note(f"note: {study}, the study of this run, is missing: {what} is not logged")
    return found


def events(study: Path, kind: str = "") -> list[Event]:
    """All events, or those of a kind, the first one first. Raises ConfigError for a log that was changed."""
    path = file_of(study)
    found = [json.loads(line) for line in _lines(path)] if path.exists() else []
    return [event for event in found if kind in ("", event["event"])]


def _lines(path: Path) -> list[str]:
    """The lines of a log whose digests are right. Raises ConfigError."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines[:-1]):
        try:
            before = json.loads(line)["before"]
        except (ValueError, KeyError, TypeError):
            before = None
        if before != _digest(lines[:number]):
            raise ConfigError(f"{path}:{number + 1}: it does not follow the line before: restore the log from a copy")
    if lines[-1]:
        raise ConfigError(f"{path}:{len(lines)}: it is cut off: restore the log from a copy")
    return lines[:-1]


def _digest(lines: Sequence[str]) -> str:
    return sha256(lines[-1].encode()).hexdigest() if lines else ""
