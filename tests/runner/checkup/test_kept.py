"""The journal and the tracking store are looked at, and not changed."""

import sqlite3
from pathlib import Path

import pytest

from runner.checkup import kept
from runner.storage.journal import Journal


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_journal_is_told_with_its_damage():
    assert kept.journal()[0].found == "not there yet"
    folder = Path("outputs/.journal")
    for n in range(2):
        with Journal(folder) as journal:
            journal.put(bytes([n]) * 32, b"{}" * 400)
    assert kept.journal()[0].mark == "ok" and kept.journal()[0].found.startswith("2 segments")
    hurt = min(folder.glob("*.segment"))
    hurt.write_bytes(hurt.read_bytes()[:-9])
    (told,) = kept.journal()
    assert told.mark == "-" and "1 not whole" in told.found and hurt.name in told.hint
    with Journal(folder) as journal:
        journal.put(bytes([9]) * 32, b"{}")
        assert "1 being written" in kept.journal()[0].found


def test_the_tracking_store_is_opened_read_only():
    assert kept.store()[0].found == "not there yet"
    path = Path("outputs/.mlflow/mlflow.db")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database")
    assert kept.store()[0].found.startswith("does not open: ")
    path.unlink()
    with sqlite3.connect(path) as database:
        database.executescript(
            "create table alembic_version (version_num); insert into alembic_version values ('abc'); create table runs (x)"
        )
    database.close()
    assert kept.store()[0].found.startswith("schema abc, 0 runs, ")
