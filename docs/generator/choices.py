"""The choices of conf/: one YAML file each, described by its comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
APART = ("papers", "settings")  # data and machinery, which are not chosen
_KEY = re.compile(r"^(?P<indent>\s*)(?P<key>[\w./@-]+):(?:\s|$)")
_COMMENT = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\"'#]|(?<=\S)#)*?(?:^|\s)#\s?(?P<text>.*)$")


@dataclass(frozen=True)
class Choice:
    """One YAML file of a group."""

    group: str
    path: Path

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return self.path.relative_to(CONF / self.group).with_suffix("").as_posix()

    @cached_property
    def lines(self) -> list[str]:
        """The text of the file."""
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def node(self) -> dict[str, Any]:
        """The content of the file, without its defaults list."""
        return {key: value for key, value in self._content.items() if key != "defaults"}

    @cached_property
    def _content(self) -> dict[str, Any]:
        return yaml.safe_load("\n".join(self.lines)) or {}

    @cached_property
    def head(self) -> list[str]:
        """The comment at the head of the file, line by line, without ``@package``."""
        found: list[str] = []
        for line in self.lines:
            if not line.startswith("#"):
                break
            if not line.startswith("# @"):
                found.append(line[1:].removeprefix(" "))
        if not found:
            raise SystemExit(f"{self.path}: its first line must be a comment that describes it")
        return found

    @property
    def start(self) -> int:
        """The number of lines of the comment at the head."""
        return next((number for number, line in enumerate(self.lines) if not line.startswith("#")), len(self.lines))

    @property
    def bases(self) -> list[Choice]:
        """The choices of the same group that this one is based on."""
        names = [one.partition("@")[0] for one in self._content.get("defaults", ()) if isinstance(one, str)]
        own = [name.removeprefix(f"/{self.group}/") for name in names if not name.startswith(("_self_", "optional"))]
        found = [CONF / self.group / f"{name}.yaml" for name in own]
        return [Choice(self.group, path) for path in found if path.is_file()]

    @property
    def keys(self) -> set[str]:
        """The keys that the file or one of its bases states."""
        return set(self.node).union(*(base.keys for base in self.bases))

    @property
    def chooses(self) -> dict[str, str]:
        """The choices of other groups that come with this one."""
        pairs = [pair for one in self._content.get("defaults", ()) if isinstance(one, dict) for pair in one.items()]
        chosen = {str(key).removeprefix("override ").partition("@")[0].lstrip("/"): value for key, value in pairs}
        return {
            key: f"[{', '.join(value)}]" if isinstance(value, list) else str(value) for key, value in chosen.items()
        }

    @property
    def target(self) -> str | None:
        """The class, which may be that of a base."""
        own = self.node.get("_target_")
        return own or next((base.target for base in self.bases if base.target), None)

    @cached_property
    def comments(self) -> dict[str, str]:
        """Dotted key -> the comment on its line, or on the lines directly above."""
        found: dict[str, str] = {}
        above: list[str] = []
        stack: list[tuple[int, str]] = []
        for line in self.lines[self.start :]:
            if (match := _KEY.match(line)) is None:
                above = [*above, line.strip().lstrip("# ")] if line.strip().startswith("#") else []
                continue
            indent = len(match["indent"])
            stack = [one for one in stack if one[0] < indent] + [(indent, match["key"])]
            comment = _COMMENT.match(line[match.end() - 1 :])
            text = " ".join([*above, *([comment["text"]] if comment else ())])
            if text:
                found[".".join(key for _, key in stack)] = text.strip()
            above = []
        return found


def groups() -> dict[str, list[Choice]]:
    """Group -> its choices, by name."""
    folders = sorted(path for path in CONF.iterdir() if path.is_dir() and path.name not in (*APART, "hydra"))
    folders += [CONF / "hydra" / "launcher", CONF / "hydra" / "sweeper"]
    names = [folder.relative_to(CONF).as_posix() for folder in folders]
    return {name: [Choice(name, path) for path in sorted((CONF / name).rglob("*.yaml"))] for name in names}
