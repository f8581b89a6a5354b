"""Folders that the project writes, each file in one move: what loaders cache, and what a stage makes.

A cache is named by its content; a stage's folder is locked for one process at a time and can be resumed.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import orjson

from components.core.errors import ConfigError
from components.files.rows import content_key

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
            raise ConfigError(f"{self.path} is in use by another process") from None
        finally:
            os.close(handle)

    def notes(self, begun: str, key: str) -> dict[str, Any]:
        """The manifest; empty when there is none. Raises ConfigError for one of other settings; ``key`` names others. A
        folder with other files is not written to."""
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
            other = f"choose another {key}, or delete it to begin again"
            raise ConfigError(f"{self.path} was started with other settings, data or prompts; {other}")
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


T = TypeVar("T")


def keep_documents(cache: Path, documents: Mapping[str, str]) -> Path:
    """Return an absolute folder that holds just these texts under these file names. Raises ConfigError."""
    digest = content_key(*(part for pair in documents.items() for part in pair))
    folder = cache.expanduser().resolve() / digest
    if folder.is_dir():
        there = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        if there != {name: text.encode() for name, text in documents.items()}:
            raise ConfigError(f"dataset.cache: {folder} was changed since it was written; delete it")
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{digest}.", dir=folder.parent))
        try:
            for name, text in documents.items():
                (made / name).write_bytes(text.encode())
            made.chmod(0o755)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        if not folder.is_dir():  # else another process was quicker
            raise ConfigError(f"dataset.cache: cannot write {folder}: {error.strerror}") from None
    return folder


def keep_json(cache: Path, key: str, make: Callable[[], T]) -> T:
    """Return the JSON value that is kept under a key, made first where there is none. Raises ConfigError."""
    path = cache.expanduser() / f"{key}.json"
    if not path.is_file():
        raw = orjson.dumps(make())
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, made = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(raw)
            os.replace(made, path)
        except OSError as error:
            raise ConfigError(f"dataset.cache: cannot write {path}: {error.strerror}") from None
    found: T = orjson.loads(path.read_bytes())
    return found
