"""What a loader makes from its data and keeps in a cache folder, named by its content; written in one move."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import orjson

from components.core.errors import ConfigError


def content_key(*parts: str) -> str:
    """16 hexadecimal digits that identify texts in this order."""
    return sha256(orjson.dumps(parts)).hexdigest()[:16]


def kept_documents(cache: Path, documents: Mapping[str, str]) -> Path:
    """An absolute folder that holds these texts under these file names, and nothing else.

    Raises ConfigError when the cache cannot be written.
    """
    digest = content_key(*(part for pair in documents.items() for part in pair))
    folder = cache.expanduser().resolve() / digest
    if folder.is_dir():
        return _whole(folder, documents)
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


def _whole(folder: Path, documents: Mapping[str, str]) -> Path:
    """The folder, when it still holds what was written. Raises ConfigError."""
    there = {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}
    if there != {name: text.encode() for name, text in documents.items()}:
        raise ConfigError(f"dataset.cache: {folder} was changed since it was written; delete it")
    return folder


def kept_bytes(cache: Path, name: str) -> bytes | None:
    """The file that was kept under this name; None when there is none."""
    path = cache.expanduser() / name
    return path.read_bytes() if path.is_file() else None


def keep_bytes(cache: Path, name: str, raw: bytes) -> None:
    """Keep a file. Raises ConfigError when the cache cannot be written."""
    folder = cache.expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(prefix=f"{name}.", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        os.replace(made, folder / name)
    except OSError as error:
        raise ConfigError(f"dataset.cache: cannot write {folder / name}: {error.strerror}") from None
