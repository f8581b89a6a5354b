"""The commands of README.md and docs/ are valid: those of the runner compose, and the others have the options they give.

That they run is shown by ``test_runs``.
"""

import io
import re
import shlex
import tomllib
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from hydra import compose

from tests.composing import composing
from tests.docs.pages import ROOT, WITH_COMMANDS, named

_PYTHON = re.compile(r"(?:\.venv/bin/)?python -m ([\w.]+)")
_NOT_COMPOSED = re.compile(r"hydra/|hydra\.|search\.|-|[^=]+=(?:\w+\()")  # extras, options, spaces of a search


@pytest.fixture(scope="module")
def hydra():
    with composing():
        yield


@pytest.mark.parametrize("page", named(WITH_COMMANDS))
def test_commands_of_a_page_are_valid(page, desk, hydra, monkeypatch):
    monkeypatch.setenv("CLINICAL_DATA_DIR", "/data")
    for command in page.commands:
        try:
            check(command.line, desk)
        except Exception as error:
            raise AssertionError(f"{page.name}: {command.line}\n{error}") from error


def check(line: str, folder: Path) -> None:
    """Raise for a command that would be refused."""
    words = shlex.split(line)
    if (module := _PYTHON.match(line)) is None:
        check_other(words)
    elif module[1] == "runner":
        check_runner(words[3:], folder)
    elif not (folder / f"{module[1].replace('.', '/')}.py").is_file():  # else a page writes it
        given = [word for word in words[3:] if word.startswith("--")]
        known = help_of(module[1])
        assert not (unknown := [word for word in given if word not in known]), f"no option {unknown} in its --help"


def check_runner(words: Sequence[str], folder: Path) -> None:
    """Compose the first and the last job of a command."""
    if "--config-dir" in words:
        own = (folder / words[words.index("--config-dir") + 1]).resolve()
        assert own.is_dir(), f"no block of the page writes {own.name}/"
        search = [f"hydra.searchpath=[file://{own}]"]
    else:
        search = []
    settings = [word for word in words if "=" in word and not _NOT_COMPOSED.match(word)]
    for job in jobs(settings):
        assert compose("config", [*search, *job]).name


def jobs(words: Sequence[str]) -> list[list[str]]:
    """The first and the last value of every list of choices."""
    pairs = [word.partition("=")[::2] for word in words]
    ends = [
        [f"{key}={value if value[:1] in '[{$' else value.split(',')[end]}" for key, value in pairs] for end in (0, -1)
    ]
    return ends[:1] if ends[0] == ends[1] else ends


def check_other(words: Sequence[str]) -> None:
    """Raise for a target of make, or an extra, that does not exist."""
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M), f"no target {words[1]}"
        return
    assert words[0].endswith("pip") and words[1] == "install", "not a command of this project"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert re.fullmatch(r"wardround\[([\w,]+)\]", words[2])[1] in extras


@cache
def help_of(module: str) -> str:
    """What ``--help`` prints."""
    found = import_module(module if module != "benchmarks" else "benchmarks.__main__")
    out = io.StringIO()
    with redirect_stdout(out), suppress(SystemExit):
        found.main(["--help"])
    return out.getvalue()
