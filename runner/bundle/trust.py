"""What of a stranger's bundle could run a stranger's code here, beside what is in it for anyone to read."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.traits import code_settings
from runner.bundle.places import texts
from runner.config.targets import locate

WORD = "bundle.trust=true"


def refuse_strangers(cfg: Mapping[str, Any], own_prompts: bool) -> None:
    """Raises ConfigError for a config that names code which is not ours, as ``takes_code`` of the parts says.

    Templates are code, too: the prompts of a user's own folder are rendered by an engine that can call functions.
    ``cfg`` has the paths of this machine; ``own_prompts``: the bundle says itself that it brings some.
    """
    allowed = cfg["run"].get("allow_targets") or ()
    what = f"parts of the packages {', '.join(map(str, allowed))}" if allowed else ""
    what = what or ("prompts that are not ours" if own_prompts or _own_prompts(cfg) else "")
    what = what or next(_programs(cfg, ""), "")
    if what:
        raise ConfigError(f"the bundle would run its maker's own code here ({what}); if you trust it: {WORD}")


def _own_prompts(cfg: Mapping[str, Any]) -> bool:
    """Whether anything names a folder with templates, wherever it is and whatever the bundle calls it."""
    return any("/" in text and _has_templates(Path(text)) for _, text in texts(cfg))


def _has_templates(folder: Path) -> bool:
    try:
        return any(folder.glob("*.jinja"))
    except (OSError, ValueError):  # no name of a folder
        return False


def _programs(node: Any, key: str) -> Iterator[str]:
    """The arguments of parts that name code, where they are not what they are by default."""
    if isinstance(node, Mapping):
        if "_target_" in node:
            kind = locate(node["_target_"], ())
            if not isinstance(kind, type):
                yield f"{key}._target_={node['_target_']}, a function"
            usual = {one.name: one.default for one in fields(kind)} if is_dataclass(kind) else {}
            for name in code_settings(kind) if isinstance(kind, type) else ():
                if name in node and node[name] != usual.get(name, MISSING):
                    yield f"{key}.{name}={node[name]!r:.100}"
        for name, inner in node.items():
            yield from _programs(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(node, list | tuple):
        for number, inner in enumerate(node):
            yield from _programs(inner, f"{key}[{number}]")
