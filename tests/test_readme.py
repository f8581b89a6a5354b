"""README.md: its tables are those that conf/ gives, and its commands compose."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
from hydra import compose

from tests.composing import composing

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text()
COMMANDS = [
    line.partition(" #")[0].strip()
    for line in TEXT.splitlines()
    if line.startswith("    python -m runner ")
    and "--config-dir" not in line
    and not re.search(r"--info|hydra/(launcher|sweeper)=", line)  # of extras, which have tests of their own
]


def test_tables_are_current():
    made = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    between = TEXT.partition(made["BEGIN"])[2].partition(made["END"])[0]
    assert between.strip() == made["tables"]().strip(), "run python docs/tables.py"


def test_no_line_of_the_tables_breaks_off():
    rows = [line for line in TEXT.splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.count("(") != row.count(")")] == []


@pytest.fixture(scope="module")
def hydra():
    with composing():
        yield


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_composes(command, monkeypatch, hydra):
    monkeypatch.setenv("CLINICAL_DATA_DIR", "/data")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    words = [word for word in shlex.split(command)[3:] if not word.startswith("-")]
    for job in _jobs(words):
        assert compose("config", job).name


def _jobs(words: list[str]) -> list[list[str]]:
    """The first and the last value of every list of choices."""
    ends = [[word.partition("=")[::2] for word in words] for _ in (0, -1)]
    pick = [
        [f"{k}={v if v.startswith('[') else v.split(',')[end]}" for k, v in pairs]
        for end, pairs in zip((0, -1), ends, strict=True)
    ]
    return [job for job in pick[: 1 + (pick[0] != pick[1])] if all("=" in word for word in job)]


def test_it_says_what_it_is_not_and_shows_the_tree():
    assert "not a medical device" in TEXT and "make run" in TEXT and "make test" in TEXT
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name in
               ("conf", "components", "runner", "tests", "benchmarks", "docs")}  # fmt: skip
    assert all(re.search(rf"^\s*{folder}/\s+\S", TEXT, re.M) for folder in folders)


def test_every_file_it_links_to_is_there():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", TEXT):
        assert (ROOT / target).exists(), target
