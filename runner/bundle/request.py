"""The command that replays a bundle: its words, and code in a bundle that is refused unless the bundle is trusted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Self

import yaml

from components.core.errors import ConfigError
from components.core.traits import code_settings
from runner.bundle.paths import texts
from runner.config.composed import resolve_choice
from runner.config.targets import locate

_BUNDLE, _TRUST = "run.replay", "bundle.trust"
_FOLDERS = ("hydra.run.dir", "hydra.sweep.dir")
_KEY = re.compile(r"[A-Za-z_]\w*([.\[][\w\].-]+)*")


@dataclass(frozen=True)
class Request:
    """What the command line names. ``paths``: key of the config -> path on this machine."""

    bundle: Path
    folder: Path | None = None
    tracking: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    trusted: bool = False

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """Read a command line: folders, tracking and paths. Raises ConfigError for any other word."""
        pairs: dict[str, str] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or not _KEY.fullmatch(key):
                raise ConfigError(f"{word}: a bundle is replayed as it is, all of its runs; leave this out")
            if key in pairs:
                raise ConfigError(f"{key} is given twice")
            pairs[key] = _unquoted(value)
        bundle, trusted = Path(pairs.pop(_BUNDLE)), pairs.pop(_TRUST, "false")
        if trusted not in ("true", "false"):
            raise ConfigError(f"{_TRUST}: found {trusted!r}, it should be true or false")
        folders = [Path(folder) for key in _FOLDERS if (folder := pairs.pop(key, None)) is not None]
        if len(folders) > 1:
            raise ConfigError(f"give one of {' and '.join(_FOLDERS)}")
        keys = [key for key in pairs if key.startswith("tracking.")]
        changes = {key.partition(".")[2]: yaml.safe_load(pairs.pop(key)) for key in keys}
        tracking = resolve_choice("tracking", pairs.pop("tracking", "off"), changes)
        return cls(bundle, folders[0] if folders else None, tracking, pairs, trusted == "true")


def _unquoted(value: str) -> str:
    """A value without the quotes of Hydra's grammar."""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1].replace(f"\\{value[0]}", value[0]) if quoted else value


def refuse_foreign_code(cfg: Mapping[str, Any], own_prompts: bool) -> None:
    """Raises ConfigError for a config that names code which is not ours, as ``takes_code`` of the parts says.

    Templates are code, too: the prompts of a user's own folder are rendered by an engine that can call functions.
    ``cfg`` has the paths of this machine; ``own_prompts``: the bundle itself says that it has some.
    """
    if allowed := cfg["run"].get("allow_targets"):
        what = f"parts of the packages {', '.join(map(str, allowed))}"
    elif own_prompts or any("/" in text and _has_templates(Path(text)) for _, text in texts(cfg)):
        what = "prompts that are not ours"
    else:
        what = next(_code_in(cfg, ""), "")
    if what:
        raise ConfigError(f"the bundle would run its maker's own code here ({what}); if you trust it: {_TRUST}=true")


def _has_templates(folder: Path) -> bool:
    try:
        return any(folder.glob("*.jinja"))
    except (OSError, ValueError):  # not the name of a folder
        return False


def _code_in(node: Any, key: str) -> Iterator[str]:
    """The arguments of parts that name code, where they differ from their defaults."""
    if isinstance(node, Mapping):
        if "_target_" in node:
            kind = locate(node["_target_"], ())
            if not isinstance(kind, type):
                yield f"{key}._target_={node['_target_']}, a function"
            defaults = {one.name: one.default for one in fields(kind)} if is_dataclass(kind) else {}
            for name in code_settings(kind) if isinstance(kind, type) else ():
                if name in node and node[name] != defaults.get(name, MISSING):
                    yield f"{key}.{name}={node[name]!r:.100}"
        for name, inner in node.items():
            yield from _code_in(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(node, list | tuple):
        for number, inner in enumerate(node):
            yield from _code_in(inner, f"{key}[{number}]")
