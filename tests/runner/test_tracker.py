"""Markers of what was not sent, and what a command and its tracker's process say to each other."""

import asyncio
import os
import sys
import threading
from pathlib import Path

import orjson
import pytest

from components.core.errors import ConfigError
from components.core.learning import Made
from runner import tracking
from runner.storage.records import RecordWriter
from runner.tracking import describe, store, unsent
from runner.tracking.__main__ import follow
from runner.tracking.process import Process, process
from runner.tracking.send import send_unsent
from tests.slow import slow


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tracking._command().marked.clear()
    return tmp_path / "store"


def config(place, uri=None, **changes):
    uri = f"sqlite:///{place}/mlflow.db" if uri is None else uri
    artifacts = f"{place}/artifacts"
    return {"name": "x", "seed": 0, "tracking": {"uri": uri, "artifacts": artifacts, **changes}}


def run_folder(tmp_path, name="run", status="complete", privacy="open"):
    folder = tmp_path / name
    folder.mkdir()
    facts = {"status": status, "name": "x", "dataset": {"privacy": privacy}}
    (folder / "manifest.json").write_bytes(orjson.dumps(facts))
    return folder


def test_a_marker_has_what_is_to_be_sent_and_is_for_its_owner_only(place, tmp_path):
    folder = run_folder(tmp_path)
    marker = unsent.mark(config(place), "id", "run", Path("run"), sweep=None, total_jobs=1)
    assert unsent.markers(place) == [marker] and marker.stat().st_mode & 0o777 == 0o600
    work = unsent.read(marker)
    assert (work["kind"], work["folder"], work["cwd"]) == ("run", str(folder), str(tmp_path))
    assert work["config"] == config(place)
    unsent.discard(config(place), "id")
    assert unsent.markers(place) == [] and unsent.read(marker) is None


def test_what_failed_is_sent_last_and_noted_for_the_next_command(place):
    first, second = (unsent.mark(config(place), id, "run", Path("run")) for id in "ab")
    os.utime(first, (1, 1)), os.utime(second, (2, 2))
    assert unsent.markers(place) == [first, second]
    unsent.put_last(first)
    assert unsent.markers(place) == [second, first]
    unsent.note(place, [unsent.line(Path("a b"), "//me:secret@host is down"), "another"])
    assert unsent.last_note(place) == (
        "a b was not sent to MLflow: //host is down; nothing is lost, send again: python -m runner.report track 'a b'"
        " (and 1 more, all: python -m runner.tracking)"
    )
    unsent.note(place, [])
    assert unsent.last_note(place) == ""


def test_a_run_that_goes_on_and_a_folder_that_is_gone_are_not_sent(place, tmp_path):
    folder = run_folder(tmp_path)
    running = unsent.mark(config(place), "a", "run", folder)
    unsent.mark(config(place), "b", "run", tmp_path / "gone")
    writer = RecordWriter(folder)
    assert unsent.is_running(folder)
    assert send_unsent(place) == 0 and unsent.markers(place) == [running]
    writer.close()
    assert not unsent.is_running(folder)


def test_a_store_that_cannot_be_used_leaves_the_markers_and_a_line(place, tmp_path):
    (place / "mlflow.db").mkdir(parents=True)
    folders = [run_folder(tmp_path, str(n)) for n in range(5)]
    for n, folder in enumerate(folders):
        unsent.mark(config(place), str(n), "run", folder, sweep=None, total_jobs=1)
    assert send_unsent(place) == 3, "a store that is down is not asked again for every run"
    assert len(unsent.markers(place)) == 5
    assert "mlflow.db is a folder; nothing is lost, send again: python -m runner.report track" in unsent.last_note(
        place
    )


def test_a_damaged_folder_does_not_keep_others_waiting(place, tmp_path):
    (run_folder(tmp_path) / "manifest.json").write_text("{")
    bad = unsent.mark(config(place), "a", "run", tmp_path / "run", sweep=None, total_jobs=1)
    os.utime(bad, (1, 1))
    unsent.mark(config(place), "b", "run", tmp_path / "gone", sweep=None, total_jobs=1)
    assert send_unsent(place) == 1 and unsent.markers(place) == [bad]
    assert "is damaged" in unsent.last_note(place)


def test_every_finished_job_is_answered_and_the_end_of_the_command_ends_the_tracker(place):
    read, to = os.pipe()
    answers, write = os.pipe()
    follower = threading.Thread(target=follow, args=(read, write))
    follower.start()
    line = orjson.dumps({"place": str(place)}) + b"\n"
    os.write(to, line + line + line[:5])
    assert len(os.read(answers, 9)) == 2
    os.write(to, line[5:])
    assert os.read(answers, 9) == b"."
    os.close(to)
    follower.join(10)
    assert not follower.is_alive()
    for file in (read, answers, write):
        os.close(file)


def test_a_process_that_cannot_be_started_costs_no_run(monkeypatch):
    ours = Process()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    ours.write({"place": "here"}, answered=True)
    ours.wait()
    monkeypatch.setattr(os, "pipe", lambda: os.open("/nowhere/pipe", os.O_RDONLY))  # no file can be opened
    ours.write({"place": "here"}, answered=True)
    assert (ours._to, ours._owed) == (-1, 0)


def beat(folder, settings, error=None, seconds=0.0):
    """A run between its manifest and its end."""

    async def work():
        with tracking.Heartbeat(folder, settings) as heartbeat:
            heartbeat.begin()
            heartbeat.update(samples=1)
            await asyncio.sleep(seconds)
            if error is not None:
                raise error

    asyncio.run(work())


def test_a_run_that_is_refused_at_its_first_calls_is_not_tracked(place, tmp_path):
    with pytest.raises(ConfigError):
        beat(run_folder(tmp_path), config(place), ConfigError("no such server"))
    assert unsent.markers(place) == []


def test_tracking_off_writes_and_starts_nothing(place, tmp_path, capsys):
    before, folder = process()._to, run_folder(tmp_path)
    for settings in ({"name": "x", "tracking": {"uri": None}}, {"name": "x", "tracking": None}):
        beat(folder, settings)
        tracking.track(folder, settings)
        tracking.track_made(Made(folder), settings, {})
        tracking.finish_sweep([folder, folder], settings, sweep="s")
        tracking.prepare(settings, folder)
        tracking.end()
    assert [path.name for path in tmp_path.iterdir()] == ["run"] and process()._to == before
    assert "mlflow" not in orjson.loads((folder / "manifest.json").read_bytes()) and not capsys.readouterr().out


def test_a_single_job_has_no_parent_run(place, tmp_path):
    tracking.finish_sweep([run_folder(tmp_path)], config(place), sweep="one")
    assert unsent.markers(place) == []


def test_texts_that_stay_here_are_reported_before_the_run(place, tmp_path, caplog):
    settings = config(place, "https://mlflow.example.org", permits=[])
    tracking.mark_run(run_folder(tmp_path, privacy="phi"), settings)
    tracking.mark_run(run_folder(tmp_path, "other"), settings)
    (line,) = caplog.messages
    assert line == f"texts of {tmp_path / 'run'} stay here: only figures are sent, see tracking.permits"
    assert describe.remember(tmp_path / "run", {})["id"], "by which MLflow knows the folder"


@slow
def test_the_heartbeat_shows_progress_and_the_run_ends_in_the_same_one(place, tmp_path):
    store.load(with_database=True)
    from mlflow import MlflowClient

    settings, folder = config(place), run_folder(tmp_path, status="running")
    writer = RecordWriter(folder)

    async def work():
        with tracking.Heartbeat(folder, settings, every_seconds=0.1) as heartbeat:
            heartbeat.begin()
            for _ in range(300):
                heartbeat.update(samples=3, errors=1, tokens=500, usd=0.01)
                await asyncio.sleep(0.1)
                if (runs := runs_of(place)) and runs[0].data.metrics:
                    break
            writer.close()
            return runs

    def runs_of(place):
        if not (place / "mlflow.db").exists():
            return []
        client = MlflowClient(settings["tracking"]["uri"])
        experiment = client.get_experiment_by_name("x")
        return client.search_runs([experiment.experiment_id]) if experiment else []

    [running] = asyncio.run(work())
    assert running.info.status == "RUNNING"
    names = {"samples": 3, "errors": 1, "tokens": 500, "cost_usd": 0.01}
    assert running.data.metrics == {f"system/progress/{name}": value for name, value in names.items()}
    tracking.wait()
    [run] = runs_of(place)
    assert run.info.status == "KILLED" and run.info.run_id == running.info.run_id
    assert orjson.loads((folder / "manifest.json").read_bytes())["mlflow"]["run_id"] == run.info.run_id
