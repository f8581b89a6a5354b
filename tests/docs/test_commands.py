"""The commands of README.md and docs/ are valid: those of the runner compose, and the others have the options they give.

``test_runs`` runs them.
"""

import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hydra import compose

from runner.config.catalogue import CONF
from runner.fork.request import Request
from tests.composing import composing
from tests.docs.pages import ADDING, ROOT, WITH_COMMANDS, generator, named
from tests.slow import slow

pytestmark = slow

COMPOSED = [page for page in WITH_COMMANDS if page not in ADDING]  # which run
_PYTHON = re.compile(r"(?:\.venv/bin/)?python -m ([\w.]+)")
_NOT_COMPOSED = re.compile(r"hydra/|hydra\.|search\.|-|[^=]+=(?:\w+\()")  # extras, options, spaces of a search


@pytest.fixture(scope="module")
def hydra():
    with composing():
        yield


@pytest.mark.parametrize("page", named(COMPOSED))
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
    elif module[1] == "runner.report" or any(word.startswith("--") for word in words[3:]):
        below = words[3:4] if module[1] in ("runner.report", "runner.drift") else []
        known = generator().help_of(module[1], *below)
        assert known, f"no command {below}"
        given = [word for word in words[3:] if word.startswith("--")]
        assert not (unknown := [word for word in given if word not in known]), f"no option {unknown} in its --help"


def check_runner(words: Sequence[str], folder: Path) -> None:
    """Compose the first job of a command, and look up the other choices of a sweep."""
    own = (folder / words[words.index("--config-dir") + 1]).resolve() if "--config-dir" in words else None
    assert own is None or own.is_dir(), f"no page writes {own}"
    if any(word.startswith("fork=") for word in words):
        Request.parse(words)
        return
    settings = [word for word in words if "=" in word and not _NOT_COMPOSED.match(word)]
    if not any(word.endswith(".zip") for word in settings):  # a bundle has its own config
        job = tuple(first(word, [CONF, *([own] if own else [])]) for word in settings)
        composed([f"hydra.searchpath=[file://{own}]"] if own else [], job)


_COMPOSED: set[tuple[str, ...]] = set()


def composed(search: Sequence[str], job: tuple[str, ...]) -> None:
    """Compose a job, once."""
    if job not in _COMPOSED:
        assert compose("config", [*search, *job]).name
        _COMPOSED.add(job)


def first(word: str, roots: Sequence[Path]) -> str:
    """A word with the first of its values; each of them must be a choice, where the key is a group."""
    key, _, value = word.partition("=")
    values = value.split("],[") if value[:1] == "[" else [value] if value[:1] in "{$" else value.split(",")
    group = key.lstrip("+").partition("@")[0]
    if value[:1] != "[" and any((root / group).is_dir() for root in roots):
        choices = [name for name in values if name != "null"]
        missing = [name for name in choices if not any((root / group / f"{name}.yaml").is_file() for root in roots)]
        assert not missing, f"{group} has no choice {missing}"
    return f"{key}={values[0]}{']' if len(values) > 1 and value[:1] == '[' else ''}"


def check_other(words: Sequence[str]) -> None:
    """Raise for a target of make, or an extra, that does not exist; other programs are those of every shell."""
    if words[0] in ("cp", "source"):
        return
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M), f"no target {words[1]}"
        return
    assert words[0].endswith("pip") and words[1] == "install", "not a command of this project"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert re.fullmatch(r"wardround\[([\w,]+)\]", words[2])[1] in extras
