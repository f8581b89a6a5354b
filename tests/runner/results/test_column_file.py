"""Columns of records in a file: equal to what was read, never of other records, never in the way."""

import os
import shutil
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.types import Verdict
from runner.report import main
from runner.results import column_file
from runner.results.runs import Run
from runner.storage.records import FILE as RECORDS
from tests.runner.results.folders import step, write
from tests.table import each_row

VERDICT = Verdict("select", "candidate", 2, 3, "picked", {1: 1, 2: 1, 3: 2})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A run folder whose records count as large."""
    monkeypatch.setattr(column_file, "LEAST", 1)
    steps = [step("Books", "Query", verdict=VERDICT), step(answer="A", verdict="own words " * 20)]
    return write(
        tmp_path / "a", {"one": ("k", [1.0, 0.5, None]), "two": ("k", [0.25])}, steps=steps, cards=[{"age": 9}]
    )


def fresh(folder):
    """The run without its file of columns."""
    (folder / column_file.FILE).unlink(missing_ok=True)
    return Run.read(folder, steps=True)


def plain(run):
    """Its columns as lists, with the types of their numbers."""
    columns = {name: (of.dtype, list(map(repr, of.tolist()))) for name, of in run.table.columns.items()}
    return columns, run.table.kinds


def unreadable(*_, **__):
    """In place of reading records."""
    raise AssertionError("the records were read")


@pytest.mark.parametrize("steps", [False, True])
def test_columns_and_steps_are_those_that_were_read(folder, monkeypatch, steps):
    first = fresh(folder)
    monkeypatch.setattr("runner.results.runs.read", unreadable)
    again = Run.read(folder, steps=steps)
    assert plain(again) == plain(first)
    assert again.steps == first.steps and again.steps.verdicts[0] == (1, VERDICT)


def test_steps_are_added_to_columns(folder, monkeypatch):
    Run.read(folder)
    first = Run.read(folder, steps=True)
    monkeypatch.setattr("runner.results.runs.read", unreadable)
    assert Run.read(folder, steps=True).steps == first.steps


def test_columns_of_other_records_or_texts_or_a_copy_are_made_again(folder, tmp_path, monkeypatch):
    fresh(folder)
    times, text = os.stat(folder / RECORDS), (folder / RECORDS).read_bytes()
    (folder / RECORDS).write_bytes(text.replace(b'"score/x":0.5', b'"score/x":0.7'))
    os.utime(folder / RECORDS, ns=(times.st_atime_ns, times.st_mtime_ns))  # same size, same time
    assert 0.7 in Run.read(folder).table["scores/score/x"].tolist()
    (path,) = folder.glob("texts-*")
    monkeypatch.setattr("runner.results.runs.read", unreadable)
    for change in (lambda: path.touch(), lambda: shutil.copytree(folder, tmp_path / "b")):
        change()
        with pytest.raises(AssertionError, match="the records were read"):
            Run.read(tmp_path / "b" if (tmp_path / "b").exists() else folder)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:200] + b"x" + data[201:], lambda data: b""]
)
def test_a_damaged_file_is_made_again(folder, damage):
    first, path = fresh(folder), folder / column_file.FILE
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    again = Run.read(folder, steps=True)
    assert again.steps == first.steps and plain(again) == plain(first)
    assert path.read_bytes() == whole


@each_row(
    "change",
    [
        lambda body: body.replace(b"[4,{", b"[400,{", 1),
        lambda body: body.replace(b"[4,{", b'["4",{', 1),
        lambda body: body.replace(b'"worded":', b'"w":'),
        lambda body: body.replace(b"\n", b" "),
        lambda body: b"[" * 5_000,
    ],
)
def test_a_file_with_a_checksum_and_other_content_is_made_again(folder, change):
    first, path = fresh(folder), folder / column_file.FILE
    body = (whole := path.read_bytes()).partition(b"\n")[2]
    changed = change(body)
    assert changed != body
    path.write_bytes(column_file._head(column_file.state_of(folder), True, [changed]) + changed)
    again = Run.read(folder, steps=True)
    assert again.steps == first.steps and plain(again) == plain(first) and path.read_bytes() == whole


def test_a_pipe_in_its_place_is_not_waited_for(folder):
    os.mkfifo(folder / column_file.FILE)
    assert not column_file.is_current(folder, steps=False)
    assert len(Run.read(folder).table) == 4 and (folder / column_file.FILE).is_file()


def test_a_file_of_the_records_is_not_read_before_it_is_needed(folder):
    Run.read(folder)
    assert column_file.is_current(folder, steps=False) and not column_file.is_current(folder, steps=True)
    assert "table" not in vars(Run.read(folder)) and {"table", "steps"} <= vars(Run.read(folder, steps=True)).keys()
    assert column_file.is_current(folder, steps=True) and column_file.is_current(folder, steps=False)
    (folder / RECORDS).touch()
    assert not column_file.is_current(folder, steps=False)


def test_a_folder_that_cannot_be_written_is_read(folder):
    (folder / column_file.FILE).mkdir()
    assert len(Run.read(folder, steps=True).table) == 4
    assert {path.name for path in folder.iterdir() if "cache" in path.name} == {column_file.FILE}


def test_small_records_have_no_file(folder, monkeypatch):
    monkeypatch.setattr(column_file, "LEAST", 1 << 20)
    fresh(folder)
    assert not (folder / column_file.FILE).exists()


def test_damage_within_steps_is_found_by_who_reads_them(folder, capsys):
    text = (folder / RECORDS).read_bytes()
    (folder / RECORDS).write_bytes(text.replace(b'"role":"main"', b'"role";"main"', 1))
    assert len(Run.read(folder).table) == 4
    with pytest.raises(ConfigError, match=r"records\.jsonl:1: damaged record"):
        Run.read(folder, steps=True)
    assert main(["page", str(folder)]) == 2 and "damaged record" in capsys.readouterr().err


def test_other_code_makes_columns_again(folder, monkeypatch):
    fresh(folder)
    monkeypatch.setattr(column_file, "_code", lambda: "other")
    monkeypatch.setattr("runner.results.runs.read", unreadable)
    with pytest.raises(AssertionError, match="the records were read"):
        Run.read(Path(folder))
