"""Which run folders a name on the command line means, and how they were configured."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ConfigError
from components.text.yaml_text import read_yaml
from runner.storage import manifest
from runner.storage.records import FILE
from runner.storage.resume import setting
from runner.terminal.output import aside


def run_folders(folder: Path) -> list[Path]:
    """The folder, or the runs of a sweep's folder in the order of its jobs, without numbers in that in which they
    began; of one that has no records yet it says so. Raises ConfigError for one that is neither."""
    found = [folder]
    try:
        if not (folder / FILE).is_file():
            begun = sorted({path.parent for name in (FILE, manifest.FILE) for path in folder.glob(f"*/{name}")})
            below = [path for path in begun if (path / FILE).is_file()]
            found = sorted(below, key=_place) or found
            for path in begun if below else ():
                if path not in below:
                    aside(f"note: {path} has no {FILE} and is left out; {setting('run.resume', path)} runs it")
        return [_checked(one) for one in found]
    except (OSError, ValueError) as error:
        raise ConfigError(f"{str(folder)[:200]!r} cannot be read as a folder: {error}") from None


def config_of(folder: Path) -> dict[str, Any]:
    """A run's config. Raises ConfigError."""
    path = folder / "config.yaml"
    try:
        found = read_yaml(path)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{path} is not the config of a run: it holds {type(found).__name__}, not names and values")
    if not isinstance(compare := found.get("compare") or {}, dict):
        raise ConfigError(f"{path} is not the config of a run: compare is {compare!r:.40}, not names and values")
    return found


def _place(folder: Path) -> tuple[float, str]:
    """The number of a sweep's job, and when it began."""
    notes = manifest.read(folder)
    number = notes.get("number")
    return inf if number is None else number, str(notes.get("start", ""))


def _checked(folder: Path) -> Path:
    for name in (FILE, manifest.FILE, "config.yaml"):
        if not (folder / name).is_file():
            raise ConfigError(f"{folder} is no run folder: it has no {name}")
    return folder
