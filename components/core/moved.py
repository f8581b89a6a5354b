"""Names of classes that configs had before, and what they are now.

``moved.txt`` has a line per module that moved: old module, new module (both below ``components``), and its classes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_LINES = [line.split() for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()]
NEW = {f"components.{old}.{name}": f"components.{new}.{name}" for old, new, *names in _LINES for name in names}
_BY_CLASS = {new: [old for old, other in NEW.items() if other == new] for new in NEW.values()}
# Of a class that moved twice, the first name has no family before its module: components.datasets, not components.cab.
_FIRST = {name: min(olds, key=len) for new, olds in _BY_CLASS.items() for name in (new, *olds)}


def renewed(node: Any) -> Any:
    """A stored config with the present names of the classes in it."""
    return _renamed(node, NEW)


def as_first_named(node: Any) -> Any:
    """A config with the names that its classes had first: what a digest identifies keeps its digest."""
    return _renamed(node, _FIRST)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, Mapping):
        return {
            key: names.get(value, value) if key == "_target_" and isinstance(value, str) else _renamed(value, names)
            for key, value in node.items()
        }
    return [_renamed(value, names) for value in node] if isinstance(node, list | tuple) else node
