"""What a loader makes from its data and keeps in a cache folder, named by its content; written in one move."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import orjson

from components.core.errors import ConfigError

T = TypeVar("T")


def content_key(*parts: str) -> str:
    """Return 16 hexadecimal digits that identify texts in this order."""
    return sha256(orjson.dumps(parts)).hexdigest()[:16]


def keep_documents(cache: Path, documents: Mapping[str, str]) -> Path:
    """Return an absolute folder that holds these texts under these file names, and nothing else.

    Raises ConfigError when the cache cannot be written.
    """
    digest = content_key(*(part for pair in documents.items() for part in pair))
    folder = cache.expanduser().resolve() / digest
    if folder.is_dir():
        return _unchanged(folder, documents)
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


def _unchanged(folder: Path, documents: Mapping[str, str]) -> Path:
    """The folder, when it still holds what was written. Raises ConfigError."""
    there = {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}
    if there != {name: text.encode() for name, text in documents.items()}:
        raise ConfigError(f"dataset.cache: {folder} was changed since it was written; delete it")
    return folder


def keep_json(cache: Path, key: str, make: Callable[[], T]) -> T:
    """Return the JSON value that is kept under a key, made and kept first where there is none.

    Raises ConfigError when the cache cannot be written.
    """
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
