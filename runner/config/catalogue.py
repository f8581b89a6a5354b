"""The catalogue of config files, in ``conf/`` and in users' folders: groups, choices, and what each file holds."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.text.structured import read_yaml
from components.text.words import meant
from runner.config.errors import nearest, with_place

CONF = Path(__file__).resolve().parent.parent.parent / "conf"
_WIDTH = 120  # of a printed line
_NOT_GROUPS = (  # Hydra's own, data, and bases of choices
    "checklists", "forks", "harm", "hydra", "papers", "rubrics", "settings", "studies",
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """One YAML file of a group."""

    root: Path
    group: str
    name: str

    @property
    def path(self) -> Path:
        """The file."""
        return self.root / self.group / f"{self.name}.yaml"

    @cached_property
    def lines(self) -> list[str]:
        """The text of the file."""
        return self.path.read_text(encoding="utf-8", errors="replace").splitlines()

    @cached_property
    def head(self) -> list[str]:
        """The comment at the head of the file, line by line, without ``@package``."""
        comment = takewhile(lambda line: line.startswith("#"), self.lines)
        return [line[1:].removeprefix(" ") for line in comment if not line.startswith("# @")]

    @property
    def description(self) -> str:
        """The comment at the head up to its first indented or empty line."""
        return " ".join(takewhile(lambda line: line and not line.startswith("  "), self.head))

    @cached_property
    def own(self) -> Mapping[str, Any]:
        """The content of the file itself, interpolations unresolved."""
        return read_yaml(self.path) or {}

    @property
    def bases(self) -> "list[Choice]":
        """The choices that its defaults list merges into the same place."""
        bases = []
        for entry in self.own.get("defaults", ()):
            name, _, package = entry.partition("@") if isinstance(entry, str) else ("_self_", "", "")
            if name != "_self_" and not name.startswith("optional ") and package in ("", "_here_"):
                group, _, name = name[1:].partition("/") if name.startswith("/") else (self.group, "", name)
                bases.append(Choice(self.root, group, name))
        return bases

    @cached_property
    def node(self) -> dict[str, Any]:
        """The content of the file merged over that of its bases, interpolations unresolved."""
        merged: dict[str, Any] = {}
        for content in (*(base.node for base in self.bases), self.own):
            merged.update(content)
        return merged


@dataclass(frozen=True)
class Catalogue:
    """The files of several config folders; choices of an earlier folder hide those of a later one."""

    roots: Sequence[Path] = (CONF,)

    @cached_property
    def groups(self) -> dict[str, dict[str, Choice]]:
        """Group -> name -> choice, both in the order of the alphabet."""
        names = {path.name for root in self.roots for path in root.iterdir() if path.is_dir()}
        return {group: found for group in sorted(names.difference(_NOT_GROUPS)) if (found := self.choices(group))}

    def choices(self, group: str) -> dict[str, Choice]:
        """Name -> choice of one group, which may be a folder within another: ``hydra/launcher``."""
        choices: dict[str, Choice] = {}
        for root in self.roots:
            for path in (root / group).rglob("*.yaml"):
                name = path.relative_to(root / group).with_suffix("").as_posix()
                choices.setdefault(name, Choice(root, group, name))
        return dict(sorted(choices.items()))

    def get(self, group: str, name: str) -> Choice | None:
        """A choice, without listing the group; None where no folder has it."""
        choices = (Choice(root, group, name) for root in self.roots)
        return next((choice for choice in choices if choice.path.is_file()), None)

    def find(self, group: str, name: str) -> Choice:
        """A choice. Raises ConfigError that names the nearest one."""
        if (choice := self.get(group, name)) is None:
            raise ConfigError(f"{group}={name}: {other_folder(group, name)}{nearest(name, self.choices(group))}")
        return choice

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The content of our ``config.yaml``."""
        return Choice(CONF, "", "config").own

    @property
    def files(self) -> list[Path]:
        """All config files, those of users first."""
        roots = sorted(self.roots, key=lambda root: root == CONF)
        return [path for root in roots for path in sorted(root.rglob("*.yaml"))]

    @property
    def hidden(self) -> list[Path]:
        """Users' files that Hydra would silently ignore, since ours have the same names."""
        users = [(root, path) for root in self.roots if root != CONF for path in sorted(root.rglob("*.yaml"))]
        return [path for root, path in users if (CONF / path.relative_to(root)).is_file()]


def read_named(folder: Path, name: str, unknown: str) -> tuple[Path, Any]:
    """The YAML of this name in a folder, or of this path, and what it holds. Raises ConfigError, which begins with
    ``unknown`` where there is none."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
    if not path.is_file():
        known = (one.stem for one in folder.glob("*.yaml"))
        raise ConfigError(f"{unknown}; {nearest(name, known)}, or the path of a YAML")
    with with_place(path):
        return path, read_yaml(path)


def other_folder(group: str, name: str) -> str:
    """The option that is missing where a folder below the working directory has a choice of this name."""
    folder = next((path for path in Path().glob("*") if (path / group / f"{name}.yaml").is_file()), None)
    return "" if folder is None else f"{folder / group / name}.yaml is there: add --config-dir {folder}; "


def catalogue_of(words: Sequence[str], strict: bool = False) -> Catalogue:
    """The folders that ``--config-dir`` names, which must be there where it is ``strict``, then ours."""
    folders = []
    for n, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in ("--config-dir", "-cd"):
            folders.append(Path(value if equals else next(iter(words[n + 1 :]), "")))
    if strict and (missing := [folder for folder in folders if not folder.is_dir()]):
        near = meant(missing[0].name, [path.name for path in missing[0].parent.glob("*/")])
        raise ConfigError(f"--config-dir: there is no folder {str(missing[0])!r}; {near}".rstrip("; "))
    return Catalogue((*(folder for folder in folders if folder.is_dir()), CONF))


def describe_choices(catalogue: Catalogue, groups: Sequence[str]) -> Iterator[str]:
    """The lines of ``--info choices``, of all groups or of these. Raises ConfigError for an unknown group."""
    if unknown := [group for group in groups if group not in catalogue.groups]:
        text = nearest(unknown[0], list(catalogue.groups))
        raise ConfigError(f"--info choices: there is no group {unknown[0]!r}; {text}")
    for group in groups or catalogue.groups:
        yield group
        choices = catalogue.groups[group]
        width = max(map(len, choices))
        for name, choice in choices.items():
            lines = textwrap.wrap(choice.description, _WIDTH - width - 4) or [""]
            yield f"  {name:{width}}  {lines[0]}"
            yield from (f"  {'':{width}}  {line}" for line in lines[1:])
        yield ""
