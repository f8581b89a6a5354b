"""The words of a command that replays a bundle: folders, tracking and paths, and nothing that changes a score."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ConfigError
from runner.bundle.trust import WORD
from runner.config.composed import resolve_choice

REPLAY = "run.replay"
_FOLDERS = ("hydra.run.dir", "hydra.sweep.dir")
_KEY = re.compile(r"[A-Za-z_]\w*([.\[][\w\].-]+)*")


@dataclass(frozen=True)
class Words:
    """What was given beside the bundle. ``paths``: key of the config -> what it names here."""

    bundle: Path
    folder: Path | None = None
    tracking: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    trusted: bool = False

    @classmethod
    def of(cls, words: Sequence[str]) -> "Words":
        """Read a command line. Raises ConfigError for a word that a replay does not take."""
        pairs: dict[str, str] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or not _KEY.fullmatch(key):
                raise ConfigError(f"{word}: a bundle is replayed as it is, all of its runs; leave this out")
            if key in pairs:
                raise ConfigError(f"{key} is given twice")
            pairs[key] = plain(value)
        bundle, trusted = Path(pairs.pop(REPLAY)), pairs.pop(WORD.partition("=")[0], "false")
        if trusted not in ("true", "false"):
            raise ConfigError(f"{WORD.partition('=')[0]}: found {trusted!r}, it should be true or false")
        folders = [Path(folder) for key in _FOLDERS if (folder := pairs.pop(key, None)) is not None]
        if len(folders) > 1:
            raise ConfigError(f"give one of {' and '.join(_FOLDERS)}")
        changed = [key for key in pairs if key.startswith("tracking.")]
        changes = {key.partition(".")[2]: yaml.safe_load(pairs.pop(key)) for key in changed}
        tracking = resolve_choice("tracking", pairs.pop("tracking", "off"), changes)
        return cls(bundle, folders[0] if folders else None, tracking, pairs, trusted == "true")


def plain(value: str) -> str:
    """A value without the quotes that Hydra takes for its own."""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1].replace(f"\\{value[0]}", value[0]) if quoted else value
