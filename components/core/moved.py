"""Names of classes that configs had before, and what they are now.

``moved.txt`` has a line per module that moved: old module, new module (both below ``components``), and its classes.
Below the empty line are modules that had moved before: their names are not the first ones of their classes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError

_ONCE, _AGAIN = (
    {
        f"components.{old}.{name}": f"components.{new}.{name}"
        for old, new, *names in map(str.split, lines.splitlines())
        for name in names
    }
    for lines in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n\n")
)
NEW = _ONCE | _AGAIN  # old name -> present name
_FIRST = {new: old for old, new in _ONCE.items()}
_FIRST |= {old: _FIRST[new] for old, new in _AGAIN.items()}


def renew(node: Any) -> Any:
    """A stored config with the present names of the classes in it. Raises ConfigError for that of an imported log."""
    refuse_imported(node)
    return _renamed(node, NEW)


def refuse_imported(node: Any) -> None:
    """Raises ConfigError for the config of a run that another tool made."""
    if isinstance(node, Mapping) and (tool := node.get("imported")):
        raise ConfigError(f"the run was imported from a log of {tool}: it can be read and compared, not run or scored")


def as_first_named(node: Any) -> Any:
    """A config with the original names of its classes, so that digests do not change."""
    return _renamed(node, _FIRST)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, Mapping):
        return {
            key: names.get(value, value) if key == "_target_" and isinstance(value, str) else _renamed(value, names)
            for key, value in node.items()
        }
    return [_renamed(value, names) for value in node] if isinstance(node, list | tuple) else node
