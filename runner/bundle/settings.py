"""The config of a run in a bundle: written without this machine's folders, and on another machine resolved, and refused
where it names code that is not ours.

In a bundle's config ``{bundle}/...`` is in the bundle and ``{CLINICAL_DATA_DIR}/...`` is below that variable; any other
path of the packer's machine is ``{named}/...``, which the command line of the replay names.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.traits import code_settings
from runner.config.targets import locate

DATA = "CLINICAL_DATA_DIR"
TRUST = "bundle.trust"
BUNDLE, BELOW, NAMED = "{bundle}/", "{CLINICAL_DATA_DIR}/", "{named}/"
_OWN = ("run", "tracking")  # parts of a config that the replay sets itself


def nodes(node: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted key and value of everything in a config, the whole before its parts."""
    yield key, node
    if isinstance(node, Mapping):
        for name, inner in node.items():
            yield from nodes(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(node, list | tuple):
        for number, inner in enumerate(node):
            yield from nodes(inner, f"{key}[{number}]")


def texts(node: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Dotted key and value of every text in a config."""
    return ((place, one) for place, one in nodes(node, key) if isinstance(one, str))


def _mapped(node: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """A part of a config with every text replaced by ``change(key, text)``, but for what the replay sets itself."""
    if isinstance(node, Mapping) and key not in _OWN:
        return {name: _mapped(inner, change, f"{key}.{name}" if key else name) for name, inner in node.items()}
    if isinstance(node, list | tuple):
        return [_mapped(inner, change, f"{key}[{number}]") for number, inner in enumerate(node)]
    return change(key, node) if isinstance(node, str) else node


def local_paths(cfg: Mapping[str, Any]) -> dict[str, Path]:
    """The paths of this machine in a config, by key, but for folders that are written to."""
    named = [(key, text) for name, node in cfg.items() if name not in _OWN for key, text in texts(node, name)]
    return {k: Path(text) for k, text in named if not _is_cache(k) and (_leads_out(text) or _exists(k, text))}


def portable(cfg: Mapping[str, Any], packed: Mapping[str, str]) -> dict[str, Any]:
    """The config without this machine's paths. ``packed``: key -> where in the bundle its files are."""
    paths = local_paths(cfg)

    def change(key: str, text: str) -> str:
        if key in packed:
            return BUNDLE + packed[key]
        if key in paths:
            here, root = paths[key].resolve(), os.environ.get(DATA)
            if root and here.is_relative_to(home := Path(root).resolve()):
                return BELOW + here.relative_to(home).as_posix()
            return NAMED + paths[key].name
        if _is_cache(key) and _leads_out(text):
            return f"outputs/.cache/{Path(text).name}"
        return text

    return dict(_mapped(cfg, change))


def resolve_config(cfg: Mapping[str, Any], bundle: Path, paths: Mapping[str, str]) -> dict[str, Any]:
    """The config of a bundle with paths of this machine. ``paths``: key -> path, of the command line. Raises
    ConfigError for a path that is not given here, and for one that points outside the bundle or the data."""

    def change(key: str, text: str) -> str:
        if key in paths:
            return paths[key]
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

    if unknown := sorted(paths.keys() - {key for key, text in texts(cfg) if text.startswith((BUNDLE, BELOW, NAMED))}):
        raise ConfigError(f"{unknown[0]}: a replay accepts no setting that could change its results")
    return dict(_mapped(cfg, change))


def _is_cache(key: str) -> bool:
    """A folder that is written to; what was there before changes nothing."""
    return key.rpartition(".")[2] == "cache"


def _exists(key: str, text: str) -> bool:
    """Whether a text names something that exists below the working folder."""
    is_path = "/" in text or key.rpartition(".")[2] == "path"
    with suppress(OSError, ValueError):  # too long for a name, or none
        return is_path and not text.startswith(("outputs/", "http://", "https://")) and Path(text).exists()
    return False


def _leads_out(text: str) -> bool:
    return text.startswith(("/", "~/")) or ".." in text.split("/")


def refuse_foreign_code(cfg: Mapping[str, Any], own_prompts: bool) -> None:
    """Raises ConfigError for a config that names code from outside the project, as ``takes_code`` of the parts
    declares. Templates are code, too: the prompts of a user's own folder are rendered by an engine that can call
    functions. ``cfg`` has the paths of this machine; ``own_prompts``: the bundle itself says that it has some."""
    if allowed := cfg["run"].get("allow_targets"):
        what = f"parts of the packages {', '.join(map(str, allowed))}"
    elif own_prompts:
        what = "custom prompts"
    else:
        what = next(_code_in(cfg), "")
    if what:
        raise ConfigError(f"the bundle would run its author's code here ({what}); if you trust it: {TRUST}=true")


def _code_in(cfg: Mapping[str, Any]) -> Iterator[str]:
    """Folders of prompts, and the arguments of parts that name code, where they differ from their defaults."""
    for key, node in nodes(cfg):
        if isinstance(node, str) and "/" in node:
            with suppress(OSError, ValueError):  # not the name of a folder
                if any(Path(node).glob("*.jinja")):
                    yield "custom prompts"
        if not isinstance(node, Mapping) or "_target_" not in node:
            continue
        kind = locate(node["_target_"], ())
        if not isinstance(kind, type):
            yield f"{key}._target_={node['_target_']}, a function"
            continue
        defaults = {one.name: one.default for one in fields(kind)} if is_dataclass(kind) else {}
        for name in code_settings(kind):
            if name in node and node[name] != defaults.get(name, MISSING):
                yield f"{key}.{name}={node[name]!r:.100}"
