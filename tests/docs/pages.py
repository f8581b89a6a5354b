"""The pages of the documentation: the files that their blocks hold, and their commands.

A file is a fenced block below its name: a line that holds nothing but the name in backticks and a colon. Commands are
the lines of ``bash`` blocks; a line may continue after a backslash. ``# needs X`` behind a command says what it takes that
not every machine has: a key, a server, data, an extra. Such a command is checked and not run.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
_FILE = re.compile(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.M | re.S)
_SHOWN = re.compile(r"^```text\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Command:
    """One command, and what it needs (empty: nothing)."""

    line: str
    needs: str = ""

    @property
    def sweeps(self) -> bool:
        """Whether it runs several jobs."""
        return " -m " in self.line.removeprefix("python -m ")


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def commands(self) -> list[Command]:
        lines = [line for block in _BLOCK.findall(self.text) for line in block.replace("\\\n", " ").splitlines()]
        return [_command(line) for line in lines if line.strip() and not line.startswith("#")]

    @property
    def shown(self) -> str:
        """What its ``text`` blocks show."""
        return "".join(_SHOWN.findall(self.text))

    def write_files(self, folder: Path) -> list[Path]:
        """Write the files of the page below a folder."""
        paths = []
        for name, content in _FILE.findall(self.text):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            paths.append(path)
        return paths


@cache
def generator() -> ModuleType:
    """The module that generates pages of the site."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        return import_module("generator.pages")


def named(pages: Sequence[Page]) -> list[object]:
    """A parameter of a test per page."""
    return [pytest.param(page, id=page.name) for page in pages]


def _command(line: str) -> Command:
    code, comment = [*re.split(r"\s#\s", line, maxsplit=1), ""][:2]
    needs = re.search(r"\bneeds (.+)$", comment)
    return Command(" ".join(code.split()), needs[1] if needs else "")


PAGES = [Page(ROOT / "README.md"), *map(Page, sorted((ROOT / "docs").rglob("*.md")))]
WITH_COMMANDS = [page for page in PAGES if page.commands]
ADDING = [page for page in PAGES if page.path.parent.name == "adding" and page.path.stem != "index"]
