"""Strict replay names the first difference in one line."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.storage.journal import Journal
from runner.storage.replay_miss import explain_miss
from tests.table import each_row

SOURCES = ["radagent/system.jinja", "radagent/plan.jinja", None, "react/task.jinja"]


def head(n: int = 1, **changes: Any) -> dict[str, Any]:
    call = {
        "at": ["x", 0, "main", n],
        "purpose": "plan",
        "role": "main",
        "model": "gpt-4o",
        "sampling": '{"temperature":0.7}',
        "tools": "",
        "digests": ["aa", "bb", "cc"],
    }
    return call | changes


def put(journal: Journal, call: dict[str, Any]) -> None:
    journal.put(sha256(orjson.dumps(call)).digest(), orjson.dumps(call | {"reply": {"content": "a reply"}}))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path) as writer:
        for n in range(3):
            put(writer, head(n))
        put(writer, head(3, purpose="act"))
        writer.put(bytes(32), orjson.dumps({"tool": "search", "observation": {"text": ""}}))
    yield Journal(tmp_path, read_only=True)


PLACE = "sample 'x', epoch 0, branch 'main', call 1 (plan): "


@each_row(
    "changes, expected",
    [
        (
            {"digests": ["aa", "zz", "cc"]},
            "message 1 differs from the journal; it comes from prompt 'radagent/plan.jinja'",
        ),
        ({"digests": ["aa", "bb", "zz"]}, "message 2 differs from the journal; it comes from no prompt file"),
        ({"digests": ["aa"]}, "this run sends 1 messages, the journal's call has 3"),
        (
            {"digests": ["aa", "bb", "cc", "dd"]},
            "message 3 is new, the journal's call has 3 messages; it comes from prompt 'react/task.jinja'",
        ),
        ({"model": "gpt-4o-mini"}, "the model differs: journal has 'gpt-4o', this run asks 'gpt-4o-mini'"),
        ({"sampling": "{}"}, "the sampling differs: journal has '{\"temperature\":0.7}', this run asks '{}'"),
        ({"tools": "ab", "digests": ["zz"]}, "the tools differ"),
        ({}, "the same request is in the journal under another key: the run's seed or the occurrence differs"),
        ({"purpose": "plan", "model": "m", "digests": []}, "the model differs"),
    ],
)
def test_the_first_difference_is_named(journal: Journal, changes: dict[str, Any], expected: str) -> None:
    line = explain_miss(journal, head(**changes), SOURCES)
    assert line.startswith(PLACE + expected) and "\n" not in line


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (["x", 0, "main", 7], "no call was recorded at this place; the last recorded one there is call 3 (act)"),
        (["x", 0, "expert/1", 0], "no call was recorded in this branch; recorded are 'main'"),
        (["x", 2, "main", 0], "no call was recorded in this epoch; recorded are 0"),
        (["y", 0, "main", 0], "no call was recorded for this sample; the journal has 1 others"),
    ],
)
def test_missing_sample_or_branch_is_named(journal: Journal, at: list[Any], expected: str) -> None:
    assert explain_miss(journal, head(at=at), SOURCES).endswith(f"call {at[3]} (plan): {expected}")


def test_nearest_of_several_recordings_is_compared(tmp_path: Path) -> None:
    with Journal(tmp_path) as writer:
        put(writer, head(model="other", digests=["aa", "bb", "zz"]))
        put(writer, head(digests=["aa", "bb", "yy"]))
        put(writer, head(digests=["zz", "bb", "yy"]))
    assert "message 2 differs" in explain_miss(Journal(tmp_path, read_only=True), head(), SOURCES)


def test_whole_digests_of_earlier_versions_are_compared(tmp_path: Path) -> None:
    with Journal(tmp_path) as writer:
        put(writer, head(digests=["a" * 32, "b" * 32]))
    line = explain_miss(Journal(tmp_path, read_only=True), head(digests=["a" * 16, "c" * 16]), SOURCES)
    assert "message 1 differs" in line


def test_long_texts_are_cut_around_the_difference(tmp_path: Path) -> None:
    with Journal(tmp_path) as writer:
        put(writer, head(model="a" * 400 + " skill=1 " + "b" * 400))
    line = explain_miss(Journal(tmp_path, read_only=True), head(model="a" * 400 + " skill=2 " + "b" * 400), SOURCES)
    assert "skill=1" in line and "skill=2" in line and len(line) < 350


def test_an_empty_or_missing_journal_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    assert "journal' does not exist" in explain_miss(Journal(folder, read_only=True), head(), SOURCES)
    folder.mkdir()
    assert "journal' is empty" in explain_miss(Journal(folder, read_only=True), head(), SOURCES)
