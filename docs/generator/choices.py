"""The choices of conf/ as the reference describes them: keys, defaults and the comments on their lines."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from runner.config.catalogue import CONF, Catalogue
from runner.config.catalogue import Choice as File

ROOT = CONF.parent
_KEY = re.compile(r"^(?P<indent>\s*)(?P<key>[\w./@-]+):(?:\s|$)")
_COMMENT = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\"'#]|(?<=\S)#)*?(?:^|\s)#\s?(?P<text>.*)$")


@dataclass(frozen=True)
class Choice(File):
    """One YAML file of a group."""

    @property
    def start(self) -> int:
        """The number of lines of the comment at the head."""
        return next((number for number, line in enumerate(self.lines) if not line.startswith("#")), len(self.lines))

    @property
    def content(self) -> dict[str, Any]:
        """The content of the file itself, without its defaults list."""
        return {key: value for key, value in self.own.items() if key != "defaults"}

    @property
    def same_group(self) -> "list[Choice]":
        """The choices of the same group that this one is based on."""
        return [Choice(base.root, base.group, base.name) for base in self.bases if base.group == self.group]

    @property
    def keys(self) -> set[str]:
        """The keys that the file or one of its bases states."""
        return set(self.content).union(*(base.keys for base in self.same_group))

    @property
    def chooses(self) -> dict[str, str]:
        """The choices of other groups that come with this one."""
        pairs = [pair for one in self.own.get("defaults", ()) if isinstance(one, dict) for pair in one.items()]
        chosen = {str(key).removeprefix("override ").partition("@")[0].lstrip("/"): value for key, value in pairs}
        return {
            key: f"[{', '.join(value)}]" if isinstance(value, list) else str(value) for key, value in chosen.items()
        }

    @property
    def target(self) -> str | None:
        """The class, which may be that of a base."""
        return self.node.get("_target_")

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
    catalogue = Catalogue()
    names = [*sorted([*catalogue.groups, "rubrics"]), "hydra/launcher", "hydra/sweeper"]
    return {group: [Choice(CONF, group, name) for name in catalogue.choices(group)] for group in names}
