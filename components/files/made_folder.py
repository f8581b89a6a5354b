"""The folder that a stage of its own makes and resumes: one process at a time, each file in one move."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError

MANIFEST = "manifest.json"
NEW = "new"  # the status of a folder in which nothing is finished yet: other settings may begin it again
_LOCK = ".lock"
_OURS = (_LOCK, f"{MANIFEST}.tmp")  # what a folder may hold before its first manifest


@dataclass(frozen=True)
class MadeFolder:
    """A folder with a manifest, in which ``begun`` says by which settings it was begun."""

    path: Path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock it for this process. Raises ConfigError when another one holds it, or it cannot be written."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise ConfigError(f"cannot write {self.path}: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise ConfigError(f"another process is at work in {self.path}") from None
        finally:
            os.close(handle)

    def notes(self, begun: str, key: str) -> dict[str, Any]:
        """The manifest; empty when there is none. Raises ConfigError for one of other settings; ``key`` names others.

        Anything else that is in the folder is somebody's, and nothing is written among it.
        """
        path = self.path / MANIFEST
        if not path.is_file():
            if strange := sorted(one.name for one in self.path.iterdir() if one.name not in _OURS):
                raise ConfigError(f"{self.path} holds {strange[0]} and no {MANIFEST}; choose another {key}")
            return {}
        try:
            found = json.loads(path.read_bytes())
            was, status = found["begun"], found["status"]
        except (ValueError, KeyError, TypeError):
            raise ConfigError(f"{path} is damaged; delete {self.path}, or choose another {key}") from None
        if status == NEW:
            return {}
        if was != begun:
            raise ConfigError(
                f"{self.path} was begun with other settings, data or prompts; choose another {key},"
                " or delete it to begin again"
            )
        return dict(found)

    def note(self, notes: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        self.write(MANIFEST, json.dumps(notes, indent=1, ensure_ascii=False, default=str) + "\n")

    def write(self, name: str, text: str) -> None:
        """Write a file, or replace it."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".tmp")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
