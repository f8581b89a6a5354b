"""The examples of docs/adding: their files are written, their commands run."""

import re
import shlex
from pathlib import Path

import pytest

from runner.serve import from_arguments
from tests.acceptance.command import ROOT, Served, here
from tests.slow import slow

PAGES = sorted((ROOT / "docs" / "adding").glob("*.md"))
_FILE = re.compile(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
_PREFIX = "python -m runner "


def written(page: Path, folder: Path) -> list[str]:
    """The files of a page, and its commands."""
    text = page.read_text(encoding="utf-8")
    for name, content in _FILE.findall(text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return [line for block in _COMMANDS.findall(text) for line in block.splitlines() if line.strip()]


QUICK = ("dataset",)  # the others take seconds


@pytest.mark.parametrize(
    "page",
    [page if page.stem in QUICK else pytest.param(page, marks=slow) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_what_a_page_says_works(page, tmp_path, monkeypatch):
    monkeypatch.setenv("WARD_LLM_KEY", "none")
    commands = written(page, tmp_path)
    assert commands and all(line.startswith(_PREFIX) for line in commands)
    server, _, _ = from_arguments([])
    with Served(server) as served:
        for line in commands:
            words = shlex.split(line.removeprefix(_PREFIX))
            if "model=ward_llm" in words:
                words.append(f"model.api_base={served.url}")
            done = here(tmp_path, *words, "tracking=off", own=False)
            assert done.code == 0, f"{line}\n{done.err}"


def test_there_is_a_page_for_each_thing():
    assert [page.stem for page in PAGES] == ["condition", "dataset", "experiment", "model", "prompts", "toolset"]
