"""Our choices of a group as their files have them, interpolations and all, and what they say of themselves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.text.structured import read_yaml
from runner.config.choices import choices
from runner.config.roots import CONF


@dataclass(frozen=True)
class Described:
    """A choice: ``node`` is what its file holds above what it is based on, ``text`` the comment at its head."""

    name: str
    node: Mapping[str, Any]
    text: str


def described(group: str) -> Iterator[Described]:
    """The choices of a group, by name."""
    for name, text in choices([CONF])[group].items():
        yield Described(name, _content(CONF / group / f"{name}.yaml"), text)


def _content(path: Path) -> dict[str, Any]:
    """What a file holds above the files that it is based on; what those bring elsewhere is left out."""
    node = read_yaml(path) or {}
    found: dict[str, Any] = {}
    for base in node.get("defaults", ()):
        name, _, package = base.partition("@") if isinstance(base, str) else ("_self_", "", "")
        if name != "_self_" and package in ("", "_here_"):
            found |= _content(CONF / f"{name[1:]}.yaml" if name.startswith("/") else path.with_name(f"{name}.yaml"))
    return {**found, **node}
