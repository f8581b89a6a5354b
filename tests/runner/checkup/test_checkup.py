"""Checks of libraries, machine, keys, endpoints, data, tracking store and journal; nothing is changed, no key shown."""

import json
import socket
import sqlite3
import tomllib
from pathlib import Path

import pytest

from runner.checkup import checks, machine
from runner.checkup.checks import Line
from runner.storage.journal import Journal

ROOT = Path(__file__).resolve().parents[3]


def line(lines, name):
    (one,) = [one for one in lines if one.name == name]
    return one


def test_libraries_machine_and_extras_are_listed():
    assert line(machine.python(), "orjson").mark == "ok"
    assert {one.name for one in machine.machine()} == {"disk", "memory", "processors"}
    assert line(machine.extras(), "optuna").hint in ("", "for sweeps that search: pip install 'wardround[optuna]'")
    assert machine.sandbox()[0].name == "tier"


def test_every_listed_extra_is_declared_by_the_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {one.name for one in machine.extras()} == extras.keys() - {"test", "dev", "docs"}


def test_journal_is_listed_with_its_damage(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert machine.journal()[0].found == "not there yet"
    folder = Path("outputs/.journal")
    for n in range(2):
        with Journal(folder) as journal:
            journal.put(bytes([n]) * 32, b"{}" * 400)
    assert machine.journal()[0].mark == "ok" and machine.journal()[0].found.startswith("2 segments")
    damaged = min(folder.glob("*.segment"))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    (found,) = machine.journal()
    assert found.mark == "-" and "1 damaged" in found.found and damaged.name in found.hint
    with Journal(folder) as journal:
        journal.put(bytes([9]) * 32, b"{}")
        assert "1 being written" in machine.journal()[0].found


def test_the_tracking_store_is_opened_read_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert machine.store()[0].found == "not there yet"
    path = Path("outputs/.mlflow/mlflow.db")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database")
    assert machine.store()[0].found.startswith("does not open: ")
    path.unlink()
    with sqlite3.connect(path) as database:
        database.executescript(
            "create table alembic_version (version_num); insert into alembic_version values ('abc'); create table runs (x)"
        )
    database.close()
    assert machine.store()[0].found.startswith("schema abc, 0 runs, ")


def test_local_endpoint_is_tried_and_remote_ones_only_online(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("AZURE_API_BASE", f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        assert line(checks.endpoints(online=False), "model=azure").found.endswith(" answers")
    assert line(checks.endpoints(online=False), "model=azure").found.endswith(" does not answer")
    monkeypatch.setenv("AZURE_API_BASE", "https://model.example/v1")
    assert line(checks.endpoints(online=False), "model=azure").found == "model.example:443 not tested"


@pytest.mark.parametrize(
    "base", ["https://user:secret", "http://user:secret@host:abc", "localhost:8000/v1", "secret", "http://[x"]
)
def test_invalid_address_is_reported_but_not_printed(monkeypatch, base):
    monkeypatch.setenv("AZURE_API_BASE", base)
    found = line(checks.endpoints(online=True), "model=azure")
    assert (found.mark, found.found) == ("-", "invalid address") and "secret" not in found.hint


def test_keys_are_listed_once_and_not_printed(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    lines = checks.keys()
    assert line(lines, "GEMINI_API_KEY") == Line("ok", "GEMINI_API_KEY", "set")
    assert line(lines, "OPENAI_API_KEY").hint == "for model=openai: export OPENAI_API_KEY=..."
    assert line(lines, "VLLM_API_KEY").found == "not set, not needed"
    assert not any("/" in one.name for one in lines)  # dated models have the lines of their base model


def test_data_are_listed_by_choice_with_their_data_class(tmp_path, monkeypatch):
    file = tmp_path / "data" / "medqa" / "US" / "4_options" / "phrases_no_exclude_test.jsonl"
    file.parent.mkdir(parents=True)
    row = {"question": "Which?", "answer": "x", "answer_idx": "A", "options": dict.fromkeys("ABCD", "x")}
    file.write_text(json.dumps(row) + "\n")
    (tmp_path / "data" / "pubmedqa").mkdir()
    monkeypatch.setenv("CLINICAL_DATA_DIR", str(tmp_path / "data"))
    lines = checks.data()
    assert (line(lines, "medqa").mark, line(lines, "medqa").found) == ("ok", "open; there")
    assert line(lines, "pubmedqa").mark == "-"
    assert line(lines, "emrqa").found == "credentialed; no $CLINICAL_DATA_DIR/emrqa"
    assert line(lines, "radabench_mini").found == "open; shipped" and line(lines, "mmlu/anatomy").mark == "-"
    assert line(lines, "perturbed").found == "open; made from another, by default cab_mini"
    assert line(lines, "perturbed").mark == "ok"
    assert line(lines, "CLINICAL_DATA_DIR").mark == "ok"
