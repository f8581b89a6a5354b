"""Folders of memories: found by their name or by the recipe that made them, written once."""

import asyncio
import fcntl
import hashlib
import json
import os
import re
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.core.redaction import without
from runner.storage import manifest
from runner.storage.records import secrets_in_json

_NAME = re.compile(r"[0-9a-f]{16}")

_MARKS = (manifest.FILE, "provenance.json", "long_term", "experience", "examples.json")


def find_named(root: Path, path: str) -> Path:
    """The folder that ``memory.path`` names, here or below ``run.memory``. Raises ConfigError."""
    folders = [folder for folder in (Path(path), root / path) if folder.is_dir()] if path else []
    for folder in folders:
        if _is_memory(folder):
            return folder
    if folders:
        raise ConfigError(f"memory.path: {folders[0]} is not a memory: it has none of {', '.join(_MARKS)}")
    raise ConfigError(f"memory.path: there is no memory {path!r}, here or in {root}")


def _is_memory(folder: Path) -> bool:
    return any((folder / name).exists() for name in _MARKS)


def find_recorded(cfg: Mapping[str, Any], run: Path, digest: str | None) -> Path | None:
    """The folder of the memory with this digest that a run in the folder ``run`` had: its config names it from a folder
    above the run, or from here. None for a memory that was not learnt. Raises ConfigError if a named one is missing."""
    if not isinstance(memory := cfg.get("memory"), Mapping):
        return None
    root, named = Path(str(cfg["run"].get("memory"))), memory.get("path")
    names = [Path(str(named)), root / str(named)] if named else []
    names += [root / digest] if isinstance(digest, str) else []
    folders = (home / name for home in (*run.resolve().parents, Path.cwd()) for name in names)
    found = next((folder for folder in folders if _is_memory(folder) and digest_of(folder) == digest), None)
    if named and found is None:
        raise ConfigError(f"{run}: its memory {named} is missing or was changed ({digest} is recorded): restore it")
    return found


def check_writable(root: Path) -> None:
    """Whether ``run.memory`` can hold memories. Raises ConfigError."""
    there = next(folder for folder in (root, *root.resolve().parents) if folder.exists())
    if not there.is_dir():
        raise ConfigError(f"run.memory: {root} is not a folder: {there} is a file")
    if not root.exists() and not os.access(there, os.W_OK):
        raise ConfigError(f"run.memory: {root} cannot be made: {there} is read-only")


def find_by_recipe(root: Path, recipe: str) -> Path | None:
    """The memory that came of a recipe, when it is there and whole; what the note says is not a path."""
    note = root / "recipes" / recipe
    try:
        name = note.read_bytes().strip().decode("ascii") if note.is_file() else ""
    except UnicodeDecodeError:
        return None
    folder = root / name
    if not _NAME.fullmatch(name) or not folder.is_dir():
        return None
    if not (folder / manifest.FILE).is_file():
        raise ConfigError(f"memory {folder} has no {manifest.FILE}; delete the folder to make it again")
    return folder


@asynccontextmanager
async def lock_recipe(root: Path, recipe: str) -> AsyncIterator[None]:
    """One process at a time makes the memory of a recipe; the others wait, and find it."""
    note = root / "recipes" / recipe
    note.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(note, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(0.2)
        yield
    finally:
        os.close(handle)


def save(
    root: Path, recipe: str, files: Mapping[str, Any], notes: Mapping[str, Any], key_variables: Collection[str] = ()
) -> Path:
    """Write a memory in one move, and which recipe it came of. Secrets that a server returned are hidden as in
    records."""
    secrets = secrets_in_json(key_variables)
    written = {name: orjson.dumps(value, option=orjson.OPT_INDENT_2) for name, value in files.items()}
    texts = {name: without(text.decode(), secrets).encode() for name, text in written.items()}
    digest = _digest(texts)
    folder = root / digest
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=root, prefix=".making-") as made:
            fresh = Path(made) / "memory"
            for name, text in texts.items():
                (fresh / name).parent.mkdir(parents=True, exist_ok=True)
                (fresh / name).write_bytes(text)
            whole = json.dumps({"digest": digest, "recipe": recipe, **notes}, indent=1, default=str)
            (fresh / manifest.FILE).write_text(whole + "\n", encoding="utf-8")
            try:
                fresh.rename(folder)
            except OSError:  # the same memory, of another recipe, came first
                if not folder.is_dir():
                    raise
    (root / "recipes" / recipe).write_text(digest, encoding="utf-8")
    return folder


def digest_of(folder: Path) -> str:
    """The digest of a memory's files. Raises ConfigError when they are not those that its manifest names."""
    paths = sorted(path for path in folder.rglob("*.json") if path.name != manifest.FILE and path.is_file())
    digest = _digest({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})
    was = manifest.read_learnt(folder).get("digest", digest)
    if was != digest:
        raise ConfigError(
            f"memory {folder} was changed: its manifest names {was}, its files are {digest}; delete the folder"
        )
    return digest


def _digest(texts: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256(b"\0".join(name.encode() + b"\0" + text for name, text in sorted(texts.items())))
    return whole.hexdigest()[:16]
