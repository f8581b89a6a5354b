"""Paths in a config: written into a bundle without this machine's folders, and found again on another one.

In a bundle's config ``{bundle}/...`` is what came along and ``{CLINICAL_DATA_DIR}/...`` stands below that variable; any
other path of the packer's machine is ``{named}/...``, which the command line of the replay names.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError

DATA = "CLINICAL_DATA_DIR"
BUNDLE, BELOW, NAMED = "{bundle}/", "{CLINICAL_DATA_DIR}/", "{named}/"
APART = ("run", "tracking")  # of a config: the replay has its own


def texts(node: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Dotted key and value of every text in a config."""
    if isinstance(node, Mapping):
        for name, inner in node.items():
            yield from texts(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(node, list | tuple):
        for number, inner in enumerate(node):
            yield from texts(inner, f"{key}[{number}]")
    elif isinstance(node, str):
        yield key, node


def mapped(node: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """The config with every text put through ``change(key, text)``."""
    if isinstance(node, Mapping):
        return {name: mapped(inner, change, f"{key}.{name}" if key else str(name)) for name, inner in node.items()}
    if isinstance(node, list | tuple):
        return [mapped(inner, change, f"{key}[{number}]") for number, inner in enumerate(node)]
    return change(key, node) if isinstance(node, str) else node


def outside(cfg: Mapping[str, Any]) -> dict[str, Path]:
    """Key -> path of what a config names on this machine, but for folders that are written to."""
    own = {name: node for name, node in cfg.items() if name not in APART}
    named = [(key, text) for key, text in texts(own) if not _is_cache(key)]
    return {key: Path(text) for key, text in named if _leads_out(text) or _is_path(key, text)}


def portable(cfg: Mapping[str, Any], brought: Mapping[str, str]) -> dict[str, Any]:
    """The config without this machine's paths. ``brought``: key -> where in the bundle what it names is."""
    paths = outside(cfg)

    def change(key: str, text: str) -> str:
        if key in brought:
            return BUNDLE + brought[key]
        if key in paths:
            return _below(paths[key]) or NAMED + paths[key].name
        if _is_cache(key) and _leads_out(text):
            return f"outputs/.cache/{Path(text).name}"
        return text

    return {name: node if name in APART else mapped(node, change, name) for name, node in cfg.items()}


def found(cfg: Mapping[str, Any], bundle: Path, given: Mapping[str, str]) -> dict[str, Any]:
    """The config of a bundle with paths of this machine. ``given``: key -> path, of the command line.

    Raises ConfigError for a path that nobody names here, and for one that leads out of the bundle or of the data.
    """

    def change(key: str, text: str) -> str:
        if key in given:
            return given[key]
        if text.startswith(BUNDLE):
            place = (bundle / text.removeprefix(BUNDLE)).resolve()
            if not place.is_relative_to(bundle.resolve()):
                raise ConfigError(f"the bundle is refused: {key} leads out of it: {text!r:.200}")
            return str(place)
        if text.startswith(BELOW) or text == BELOW[:-1]:
            if _leads_out(below := text[len(BELOW) :]):
                raise ConfigError(f"the bundle is refused: {key} leads out of {DATA}: {text!r:.200}")
            if root := os.environ.get(DATA):
                return str(Path(root) / below)
            raise ConfigError(f"the bundle does not hold {key}: set {DATA} to the folder of your data, or {key}=PATH")
        if text.startswith(NAMED):
            raise ConfigError(f"the bundle does not hold {key}, which was called {Path(text).name!r}: give {key}=PATH")
        if _leads_out(text):
            raise ConfigError(f"the bundle is refused: {key} names a path of this machine: {text!r:.200}")
        return text

    if strangers := sorted(given.keys() - {key for key, text in texts(cfg) if text.startswith((BUNDLE, BELOW, NAMED))}):
        raise ConfigError(f"{strangers[0]}: a replay takes nothing that could change what the bundle says")
    return {name: node if name in APART else mapped(node, change, name) for name, node in cfg.items()}


def _below(path: Path) -> str | None:
    """The path below the folder of the data, where it is there."""
    if not (root := os.environ.get(DATA)):
        return None
    here, home = path.resolve(), Path(root).resolve()
    return BELOW + here.relative_to(home).as_posix() if here.is_relative_to(home) else None


def _is_cache(key: str) -> bool:
    """A folder that is written to; what was there before changes nothing."""
    return key.rpartition(".")[2] == "cache"


def _is_path(key: str, text: str) -> bool:
    """Whether a text names what is there, below the working folder."""
    wanted = "/" in text or key.rpartition(".")[2] == "path"
    if not wanted or "\0" in text or text.startswith(("outputs/", "http://", "https://")):
        return False
    try:
        return Path(text).exists()
    except OSError:  # too long for a name
        return False


def _leads_out(text: str) -> bool:
    return text.startswith(("/", "~/")) or ".." in text.split("/")
