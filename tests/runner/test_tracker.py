"""Markers of what was not sent, and what a command and its tracker's process say to each other."""

import asyncio
import errno
import os
import platform
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from components.core.errors import ConfigError
from components.core.learning import Made
from runner import tracking, ui
from runner.storage import disk, sweeps
from runner.storage.records import RecordWriter
from runner.tracking import describe, send, store, unsent
from runner.tracking.__main__ import SendProgress, follow, main
from runner.tracking.process import Process, current_process
from runner.tracking.send import Progress, files_below, send_unsent
from tests.mlflow_server import small_disk
from tests.slow import slow

SINGLE = {"tag": None, "total_jobs": 1}  # what a marker says of a run that is in no sweep


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
    folder.mkdir(parents=True)
    facts = {"status": status, "name": "x", "dataset": {"privacy": privacy}}
    (folder / "manifest.json").write_bytes(orjson.dumps(facts))
    return folder


def test_a_marker_has_what_is_to_be_sent_and_is_for_its_owner_only(place, tmp_path):
    folder = run_folder(tmp_path)
    marker = unsent.mark(config(place), "id", "run", Path("run"), **SINGLE)
    assert unsent.markers(place) == [marker] and marker.stat().st_mode & 0o777 == 0o600
    work = unsent.read(marker)
    assert (type(work), work.folder, work.cwd) == (unsent.UnsentRun, folder, str(tmp_path))
    assert work.config.items() >= config(place).items()
    marker.unlink()
    assert unsent.markers(place) == [] and unsent.read(marker) is None


def test_what_failed_is_sent_last_and_noted_for_the_next_command(place):
    first, second = (unsent.mark(config(place), id, "run", Path("run"), **SINGLE) for id in "ab")
    os.utime(first, (1, 1)), os.utime(second, (2, 2))
    assert unsent.markers(place) == [first, second]
    unsent.put_last(first)
    assert unsent.markers(place) == [second, first]
    unsent.put_last(place / "unsent/sent by another process.json")
    unsent.note(place, [unsent.line(place, Path("a b"), "//me:secret@host is down"), "another"])
    assert unsent.last_note(place) == (
        "a b was not sent to MLflow: //host is down; nothing is lost, send again: python -m runner.report track 'a b'"
        f" (and 1 more, all: python -m runner.tracking {place})"
    )
    unsent.note(place, [])
    assert unsent.last_note(place) == ""


def test_the_advice_names_the_place_unless_it_is_the_default(place, tmp_path):
    assert unsent.command(store.PLACE) == unsent.command(store.PLACE.absolute()) == "python -m runner.tracking"
    stage = unsent.line(tmp_path / "a b", Path("stage"), "down", whole=True)
    assert stage.endswith(f"python -m runner.tracking '{tmp_path}/a b'")


def test_a_damaged_marker_is_put_aside_and_the_others_are_sent(place, tmp_path):
    bad, odd, _ = (unsent.mark(config(place), id, "run", tmp_path / "gone", **SINGLE) for id in "abc")
    bad.write_bytes(b""), odd.write_text("[]")
    found = send_unsent(place)
    assert (found.aside, len(found.failed), unsent.markers(place)) == (3, 3, [])
    assert any(line.startswith(f"{bad.with_suffix('.bad')} is damaged: ") for line in found.failed)
    assert found.failed[0] in unsent.last_note(place)
    assert sorted(path.suffix for path in (place / "unsent").iterdir()) == ["", "", ".bad", ".bad", ".bad"]


ODD = [
    {"folder": 5}, {"folder": None}, {"kind": []}, {"kind": "other"}, {"cwd": None},
    {"config": {"tracking": None}}, {"config": {"tracking": {"uri": 1}}}, {"total_jobs": "2"}, {"tag": 1}, {"other": 1},
]  # fmt: skip


def test_a_marker_with_wrong_types_is_put_aside_and_the_others_are_sent(place, tmp_path):
    marks = [unsent.mark(config(place), str(n), "run", tmp_path, **SINGLE) for n in range(len(ODD) + 2)]
    deep, unreadable, *odd = marks
    for path, changes in zip(odd, ODD, strict=True):
        path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | changes))
    deep.write_text("[" * 5000 + "]" * 5000)
    unreadable.unlink(), unreadable.mkdir()
    names = {"long": "x" * 300, "endless": "x/" * 2500}  # that no file system has
    long = [unsent.mark(config(place), id, "run", tmp_path / name, **SINGLE) for id, name in names.items()]
    unsent.mark(config(place), "removed", "run", tmp_path / "gone", **SINGLE)
    for path in (unreadable, *long):
        os.utime(path, (1, 1))
    found = send_unsent(place)
    assert (found.aside, len(found.failed)) == (len(ODD) + 2, len(ODD) + 5)
    assert sorted(unsent.markers(place)) == sorted([unreadable, *long])
    assert all(path.stat().st_mtime > 1 for path in (unreadable, *long)), "the next time they are the last"


def test_the_file_that_a_full_disk_could_not_take_is_named(tmp_path):
    database, full = tmp_path / "mlflow.db", os.strerror(errno.ENOSPC)
    written, copied = OSError(errno.ENOSPC, full, "run/a"), OSError(errno.ENOSPC, full, "run/a", None, "artifacts/a")
    assert store.short(written, database) == f"run/a cannot be written: {full}; free space on its disk"
    assert store.short(disk.Unwritable(Path("run/a"), written), database) == store.short(written, database)
    assert store.short(copied, database).startswith("artifacts/a cannot be written")
    assert store.short(OSError(errno.ENOSPC, full), database).startswith(f"the disk of {database} or its artifacts is")


def test_a_folder_that_is_not_seen_here_is_not_taken_for_removed(place, tmp_path, monkeypatch):
    unmounted = unsent.mark(config(place), "a", "run", tmp_path / "disk/run", **SINGLE)
    assert send_unsent(place).failed and unsent.markers(place) == [unmounted]
    assert "is its disk mounted?" in unsent.last_note(place)
    unmounted.unlink()
    elsewhere = unsent.mark(config(place), "b", "run", tmp_path / "gone", **SINGLE)
    monkeypatch.setattr(platform, "node", lambda: "another")
    assert send_unsent(place) == unsent.Outcome() and unsent.markers(place) == [elsewhere]


def test_a_forged_marker_sends_no_file_of_elsewhere_and_reaches_no_other_store(place, tmp_path):
    page, secret = tmp_path / "sweep/report.html", tmp_path / "secret"
    page.parent.mkdir()
    page.touch(), secret.touch(), (page.parent / "link").symlink_to(secret)
    named = [page, secret, page.parent / "link", page.parent / "../secret"]
    assert files_below(page.parent, named) == [page]
    marker = unsent.mark(config(place), "a", "run", run_folder(tmp_path), **SINGLE)
    marker.write_text(marker.read_text().replace("/mlflow.db", "/elsewhere/mlflow.db"))
    assert send_unsent(place).failed and f"names another store than {place}" in unsent.last_note(place)


def test_the_command_reports_what_became_of_it(place, tmp_path, capsys):
    assert main([str(place)]) == 2 and main([]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"no runs were tracked in {place}: start in the folder of the runs, or name their PLACE"
    assert "in outputs/.mlflow: " in second
    unsent.mark(config(place), "a", "run", tmp_path / "removed", **SINGLE)
    assert main([str(place)]) == 1
    assert (err := capsys.readouterr().err).endswith("report track FOLDER, and remove it\nsent 0 of 1; 1 put aside\n")
    assert f"is of {tmp_path}/removed, which was moved or removed: send its run with" in err
    assert main([str(place)]) == 0 and capsys.readouterr().err == "all runs are in MLflow; make ui shows them\n"
    with unsent.discarding(tmp_path / "removed", config(place), "a"):
        pass
    assert not [*place.glob("unsent/*.bad")], "its run was sent by hand"
    unsent.mark(config(place), "twice", "run", tmp_path / "removed", **SINGLE)
    assert main([str(place), str(place)]) == 1
    assert capsys.readouterr().err.endswith("\nsent 0 of 1; 1 put aside\n"), "whatever was there before"
    unsent.mark(config(place), "b", "run", tmp_path / "disk/run", **SINGLE)
    assert main([str(place)]) == 1
    assert "is its disk mounted?" in (message := capsys.readouterr().err)
    assert message.endswith("\nsent 0 of 1; 1 failed\n")
    unsent.mark(config(place), "c", "run", tmp_path / "any", **SINGLE).write_text("{}")
    assert main([str(place)]) == 1
    assert capsys.readouterr().err.endswith("\nsent 0 of 2; 1 failed; 1 put aside\n")


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_in_place_on_a_terminal_and_a_line_in_ten_seconds_elsewhere(capsys, monkeypatch, terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with closing(SendProgress(5)) as progress:
        for whom in ("MLflow", "", "MLflow", ""):
            progress.report(whom)
        assert capsys.readouterr().err.endswith("\r\x1b[K2 of 5 sent" if terminal else "")
        progress._printed -= 10
        progress.report(""), progress.report("")
        assert terminal or capsys.readouterr().err == "3 of 5 sent\n"
    assert not terminal or capsys.readouterr().err.endswith("\r\x1b[K")


def test_what_is_waited_for_is_named_once(place, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("runner.tracking.__main__._SILENT_SECONDS", 0.02)
    for id in "ab":
        unsent.mark(config(place), id, "run", tmp_path / "removed", **SINGLE)
    sender = threading.Thread(target=main, args=[[str(place)]])
    with unsent.sending(place):
        sender.start()
        time.sleep(0.2)
    sender.join()
    line = f"waiting for another process that sends the runs in {place}, 0 s so far"
    assert capsys.readouterr().err.splitlines().count(line) == 1


def test_servers_are_named_without_their_passwords(place):
    elsewhere = {"uri": "http://me:word@host", "otlp": "http://collector:4318"}
    assert store.servers_of(elsewhere) == "MLflow at http://host and OTLP at http://collector:4318"
    assert store.servers_of(config(place)["tracking"]) == ""
    line = unsent.line(place, Path("run"), "down", elsewhere["uri"])
    assert line.startswith("run was not sent to MLflow at http://host: down; nothing is lost")


def test_a_note_that_cannot_be_read_is_no_note(place):
    assert unsent.last_note(place) == ""
    (place / "unsent/failed").mkdir(parents=True)
    assert unsent.last_note(place) == ""


def test_a_marker_has_no_secrets_but_the_stores_address(place):
    settings = config(place, "https://me:word@host")
    settings["model"] = {"name": "m", "headers": {"Authorization": "Basic c2VjcmV0OnNlY3JldA=="}}
    text = unsent.mark(settings, "a", "run", Path("run"), **SINGLE).read_text()
    assert "Basic" not in text and "me:word@host" in text and '"name": "m"' in text


def test_a_note_is_replaced_only_after_something_was_tried(place, tmp_path):
    running = run_folder(tmp_path)
    unsent.mark(config(place), "a", "run", running, **SINGLE)
    writer = RecordWriter(running)
    unsent.note(place, ["MLflow does not answer"])
    assert send_unsent(place) == unsent.Outcome() and unsent.last_note(place) == "MLflow does not answer"
    unsent.mark(config(place), "b", "run", tmp_path / "gone", **SINGLE)
    assert send_unsent(place).aside == 1 and "moved or removed" in unsent.last_note(place)
    writer.close()


def test_a_run_in_progress_and_a_removed_folder_are_not_sent(place, tmp_path):
    folder = run_folder(tmp_path)
    running = unsent.mark(config(place), "a", "run", folder, **SINGLE)
    unsent.mark(config(place), "b", "run", tmp_path / "gone", **SINGLE)
    writer = RecordWriter(folder)
    assert unsent.is_running(folder)
    assert send_unsent(place).aside == 1 and unsent.markers(place) == [running]
    writer.close()
    assert not unsent.is_running(folder)


def test_markers_of_a_run_sent_by_hand_are_removed_but_not_those_of_a_run_in_progress(place, tmp_path, monkeypatch):
    def mark(pid):
        monkeypatch.setattr(os, "getpid", lambda: pid)
        return unsent.mark(config(place), "a", "run", folder, **SINGLE)

    folder, other = run_folder(tmp_path), unsent.mark(config(place), "b", "run", Path("run"), **SINGLE)
    sent = mark(1)
    with unsent.discarding(folder, config(place), "a"):
        resumed = mark(2)
    assert not sent.exists() and resumed.exists() and other.exists(), "it was resumed meanwhile"
    writer = RecordWriter(folder)
    with unsent.discarding(folder, config(place), "a"):
        writer.close()
    assert resumed.exists(), "its last samples are not sent yet"


def test_a_store_that_cannot_be_used_leaves_the_markers_and_a_line(place, tmp_path, monkeypatch):
    (place / "mlflow.db").mkdir(parents=True)
    folders = [run_folder(tmp_path, str(n)) for n in range(5)]
    for n, folder in enumerate(folders):
        unsent.mark(config(place), str(n), "run", folder, **SINGLE)
    asked = []
    monkeypatch.setattr(send, "connect", lambda config: asked.append(1) or store.connect(config))
    assert len(send_unsent(place).failed) == 5 and asked == [1], "a store that is down is not asked again for every run"
    assert len(unsent.markers(place)) == 5
    assert "mlflow.db is a folder; nothing is lost, send again: python -m runner.report track" in unsent.last_note(
        place
    )


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_database_is_named_with_what_to_do_and_left_as_it_is(place, tmp_path, capsys, content):
    place.mkdir()
    (place / "mlflow.db").write_bytes(content)
    unsent.mark(config(place), "id", "run", run_folder(tmp_path), **SINGLE)
    advice = f"{place}/mlflow.db is damaged (file is not a database): rename it, and the next command creates a new one"
    assert send_unsent(place).failed and len(unsent.markers(place)) == 1
    assert f"was not sent to MLflow: {advice}" in unsent.last_note(place)
    (marker,), writer = unsent.markers(place), RecordWriter(tmp_path / "run")
    Progress().send(marker, {"samples": 1})
    writer.close()
    assert f"the run continues: {advice}" in unsent.last_note(place)
    assert ui.main(["--uri", f"sqlite:///{place}/mlflow.db"]) == 2 and advice in capsys.readouterr().err
    assert (place / "mlflow.db").read_bytes() == content


@slow
def test_a_disk_without_room_for_a_database_is_named_at_every_attempt(tmp_path):
    with small_disk(tmp_path / "store", "400k") as disk:
        unsent.mark(config(disk), "id", "run", run_folder(tmp_path), **SINGLE)
        for _ in range(2):
            assert send_unsent(disk).failed
            assert f"the disk of {disk}/mlflow.db or its artifacts is full: free space there" in unsent.last_note(disk)
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        assert send_unsent(disk).sent == 1 and unsent.markers(disk) == []


@pytest.fixture
def tracker(monkeypatch):
    """The tracker's end of the pipe of this command, as a thread."""
    ours, (read, ours._to) = Process(), os.pipe()
    follower = threading.Thread(target=follow, args=(read,))
    follower.start()
    monkeypatch.setattr(tracking, "current_process", lambda: ours)
    yield ours

    os.close(ours._to)
    follower.join(10)
    os.close(read)
    assert not follower.is_alive()


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_is_finished_is_sent_first_and_the_rest_when_the_command_has_ended(place, tmp_path):
    (read, to), settings = os.pipe(), config(place)
    old, asked, later = (unsent.mark(settings, id, "run", tmp_path / "gone", **SINGLE) for id in "abc")
    follower = threading.Thread(target=follow, args=(read,))
    follower.start()
    lines = [orjson.dumps({"marker": str(path), "figures": None}) + b"\n" for path in (asked, later)]
    os.write(to, lines[0] + lines[1][:5])
    until(lambda: not asked.exists())
    assert unsent.markers(place) == [old, later]
    os.write(to, lines[1][5:])
    until(lambda: not later.exists())
    time.sleep(0.05)
    assert unsent.markers(place) == [old]
    os.close(to)
    follower.join(10)
    assert not follower.is_alive() and unsent.markers(place) == []
    os.close(read)


def test_a_command_that_waits_ends_after_the_attempt_and_shows_why_it_failed_once(place, tmp_path, tracker, capsys):
    (place / "mlflow.db").mkdir(parents=True)
    (place / "unsent").mkdir()
    codes = []
    for n, wait in enumerate((True, False)):
        with unsent.sending(place):
            tracking.track(run_folder(tmp_path, str(n)), config(place, wait=wait))
            if not wait:
                codes.append(tracking.end())
                break
            ender = threading.Thread(target=lambda: codes.append(tracking.end()))
            ender.start()
            ender.join(0.1)
            assert ender.is_alive(), "the tracker has not tried it"
        ender.join(30)
    found = capsys.readouterr()
    (line,) = found.err.splitlines()
    assert line.startswith(f"warning: {tmp_path}/0 was not sent to MLflow") and "mlflow.db is a folder" in line
    assert f"1 run is not sent, python -m runner.tracking {place} sends what waits" in found.out, "it was awaited"
    assert f"1 run is still being sent, python -m runner.tracking {place} waits for that" in found.out
    assert codes == [1, 0]


@pytest.mark.parametrize(
    "uri, named", [("http://me:word@127.0.0.1:9", "waiting for MLflow at http://127.0"), (None, "")]
)
def test_only_a_server_is_named_as_one_that_is_waited_for(place, tmp_path, capsys, monkeypatch, uri, named):
    ours, (read, ours._to) = Process(), os.pipe()
    monkeypatch.setattr(tracking, "current_process", lambda: ours)
    monkeypatch.setattr("runner.tracking.process._PATIENCE", 0.05)
    monkeypatch.setattr("runner.tracking.process._SILENT_SECONDS", 0.0)
    tracking.track(run_folder(tmp_path), config(place, uri, wait=True))
    assert tracking.end() == 1
    found = capsys.readouterr()
    assert found.err.startswith(named) and bool(found.err) == bool(named)
    assert "1 run is still being sent" in found.out, "the process is there, and has not tried it"
    os.close(read)
    os.close(ours._to)


@pytest.mark.parametrize("wait", [True, False])
def test_what_a_killed_tracker_has_not_sent_is_not_called_being_sent(place, tmp_path, capsys, monkeypatch, wait):
    ours, (read, ours._to) = Process(), os.pipe()
    monkeypatch.setattr(tracking, "current_process", lambda: ours)
    tracking.track(run_folder(tmp_path), config(place, wait=wait))
    os.close(read)
    assert tracking.end() == int(wait)
    assert f"1 run is not sent, python -m runner.tracking {place} sends what waits" in capsys.readouterr().out
    os.close(ours._to)


@pytest.mark.parametrize("others", [0, 1])
def test_a_run_that_cannot_be_marked_is_not_sent(place, tmp_path, capsys, monkeypatch, others):
    monkeypatch.setattr(tracking, "current_process", Process)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    for n in range(others):
        tracking.track(run_folder(tmp_path, str(n)), config(place, wait=True))
        unsent.markers(place)[0].unlink()
        (place / "unsent").rename(tmp_path / "unsent")
    place.mkdir(exist_ok=True)
    (place / "unsent").touch()
    tracking.track(run_folder(tmp_path), config(place, wait=True))
    assert f"{tmp_path}/run was not sent to MLflow" in capsys.readouterr().err
    assert (tracking.end(), tracking.end()) == (1, 0)


def test_the_run_of_a_sweep_counts_where_its_jobs_are_sent(place, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tracking, "current_process", Process)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    folders = [run_folder(tmp_path, f"sweep/{n}") for n in range(2)]
    for n in range(2):
        for folder in folders[2 * n :]:
            tracking.track(folder, config(place), home=tmp_path / "sweep", total_jobs=2)
        tracking.finish_sweep(tmp_path / "sweep", folders, config(place))
        tracking.end()
        assert f"{('2 runs are', '1 run is')[n]} not sent, " in capsys.readouterr().out


def test_preparing_a_sweep_waits_for_its_own_marker_only(place, tmp_path, tracker):
    (place / "mlflow.db").mkdir(parents=True)
    old = unsent.mark(config(place), "old", "run", tmp_path / "gone", **SINGLE)
    tracking.prepare(config(place), tmp_path / "sweep", total_jobs=2)
    assert "mlflow.db is a folder" in unsent.last_note(place), "after the attempt"
    assert old.exists()


def test_progress_pauses_after_a_failure(place, tmp_path):
    (place / "mlflow.db").mkdir(parents=True)
    folder = run_folder(tmp_path)
    marker, progress, writer = (
        unsent.mark(config(place), "a", "run", folder, **SINGLE),
        Progress(),
        RecordWriter(folder),
    )
    progress.send(marker, {"samples": 1})
    assert unsent.last_note(place).startswith("MLflow does not show the progress, the run continues: ")
    unsent.note(place, [])
    progress.send(marker, {"samples": 2})
    assert unsent.last_note(place) == ""
    progress._next = 0.0
    progress.send(marker, {"samples": 3})
    assert unsent.last_note(place)
    writer.close()


def test_where_a_run_is_sent_is_noted_unless_the_folder_is_in_use(place, tmp_path):
    folder, writer = run_folder(tmp_path), RecordWriter(tmp_path / "run")
    send._remember(folder, config(place), "1", "id", "url")
    assert b"mlflow" not in (folder / "manifest.json").read_bytes()
    writer.close()
    send._remember(folder, config(place), "1", "id", "url")
    assert describe.remember(folder, {})["run_id"] == "id"


def test_a_pipe_without_room_drops_figures_but_no_finished_run(tmp_path):
    ours, (read, ours._to) = Process(), os.pipe()
    os.set_blocking(ours._to, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(ours._to, b"\n" * 4096)
    ours.write(tmp_path / "dropped", {})
    ours.write(tmp_path / "finished")
    os.read(read, 1 << 20)
    ours.wait(lambda: 0, "it")
    left = os.read(read, 1 << 20)
    assert b"finished" in left and b"dropped" not in left
    os.close(read)
    os.close(ours._to)


def test_waiting_has_an_end_and_a_line_where_it_is_long(monkeypatch, capsys):
    ours, (read, ours._to) = Process(), os.pipe()
    monkeypatch.setattr("runner.tracking.process._PATIENCE", 0.1)
    ours.wait(lambda: 1, "it")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("runner.tracking.process._SILENT_SECONDS", 0.05)
    ours.wait(lambda: 1, "MLflow")
    assert capsys.readouterr().err == "waiting for MLflow, 0 s at most without an answer\n"
    monkeypatch.undo()
    os.close(read)
    ours.wait(lambda: 1, "it")  # it has ended
    os.close(ours._to)


def test_what_the_tracker_prints_is_in_a_log_next_to_the_markers(tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho printed; echo failed >&2; cat")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    ours, log = Process(), tmp_path / "log"
    ours.write(tmp_path / "marker.json")
    os.close(ours._to)
    until(lambda: log.exists() and len(log.read_text().splitlines()) == 3)
    assert log.read_text().startswith("printed\nfailed\n") and log.stat().st_mode & 0o777 == 0o600


def test_a_process_that_cannot_be_started_costs_no_run(tmp_path, monkeypatch):
    ours = Process()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    ours.write(tmp_path / "here")
    ours.wait(lambda: 1, "it")
    monkeypatch.setattr(os, "pipe", lambda: os.open("/nowhere/pipe", os.O_RDONLY))  # no file can be opened
    ours.write(tmp_path / "here")
    assert ours._to == -1


@pytest.mark.parametrize(
    "uri, shown",
    [
        ("http://me:word@127.0.0.1:9", "http://127.0.0.1:9   (1 run is not sent, "),
        (None, "5000   (make ui or python -m runner.ui"),
    ],
)
def test_only_a_database_of_this_machine_has_a_page_that_a_command_starts(
    place, tmp_path, capsys, monkeypatch, uri, shown
):
    monkeypatch.setattr(tracking, "current_process", Process)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    tracking.track(run_folder(tmp_path), config(place, uri))
    tracking.end()
    out = capsys.readouterr().out
    assert shown in out and ("make ui" in out) == (uri is None)


def test_where_spans_go_has_a_line_of_its_own(place, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tracking, "current_process", Process)
    settings = config(place)
    settings["tracking"]["otlp"] = "http://127.0.0.1:4318"
    tracking.track(run_folder(tmp_path), settings)
    tracking.end()
    waits = f"1 run is not sent, {unsent.command(place)} sends what waits"
    assert capsys.readouterr().out.splitlines()[-1] == f"OTLP:       http://127.0.0.1:4318   ({waits})"


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
    before, folder = current_process()._to, run_folder(tmp_path)
    for settings in ({"name": "x", "tracking": {"uri": None}}, {"name": "x", "tracking": None}):
        beat(folder, settings)
        tracking.track(folder, settings)
        tracking.track_made(Made(folder), settings, {})
        tracking.finish_sweep(tmp_path, [folder, folder], settings)
        tracking.prepare(settings, folder, total_jobs=2)
        tracking.end()
    assert [path.name for path in tmp_path.iterdir()] == ["run"] and current_process()._to == before
    assert "mlflow" not in orjson.loads((folder / "manifest.json").read_bytes()) and not capsys.readouterr().out


def test_a_sweep_that_is_as_it_was_sent_is_not_sent_again_unless_something_waits(place, tmp_path):
    folders = [run_folder(tmp_path, f"sweep/{n}") for n in range(2)]
    for sent in (True, False):
        if not sent:
            (marker,) = unsent.markers(place)
            marker.unlink()
        tracking.finish_sweep(tmp_path / "sweep", folders, config(place), same=True)
        assert len(unsent.markers(place)) == sent
    tracking.track(folders[0], config(place), home=tmp_path / "sweep", total_jobs=2)
    tracking.finish_sweep(tmp_path / "sweep", folders, config(place), same=True)
    assert len(unsent.markers(place)) == 2


def test_a_single_job_has_no_parent_run(place, tmp_path):
    tracking.finish_sweep(tmp_path, [run_folder(tmp_path)], config(place))
    assert unsent.markers(place) == []


def test_jobs_of_a_sweep_have_its_tag_however_deep_their_folders_lie_and_wherever_it_is_moved(place, tmp_path):
    home = tmp_path / "jobs"
    folders = [run_folder(home, f"s{n}/job") for n in range(3)]
    for folder in folders:
        tracking.mark_run(folder, config(place), home, 3)
    (tag,) = {unsent.read(marker).tag for marker in unsent.markers(place)}
    moved = home.rename(tmp_path / "moved")
    assert tag == sweeps.tag_of(moved) and sweeps.name_of(tag) == "jobs"
    assert sweeps.home_of(moved / "s1/job", "jobs") == moved
    assert sweeps.tag_of(home) != tag, "another sweep may have its place now"


def test_a_sweep_that_was_not_tracked_is_found_by_its_name(tmp_path):
    assert sweeps.home_of(tmp_path / "sweep/s0/job", "sweep") == tmp_path / "sweep"
    assert sweeps.home_of(tmp_path / "elsewhere/job", "gone") is None and not (tmp_path / "elsewhere").exists()


def test_a_job_that_lies_in_another_sweep_is_of_its_own(tmp_path):
    sweeps.tag_of(tmp_path / "b")
    assert sweeps.home_of(tmp_path / "b/a/job", "a") == tmp_path / "b/a"
    sweeps.tag_of(tmp_path / "b/a")
    assert sweeps.home_of(tmp_path / "b/a/job", "b") == tmp_path / "b"


def test_a_damaged_tag_is_made_again_and_one_that_is_there_is_read_without_a_lock(tmp_path, monkeypatch):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/.sweep").write_bytes(b"\xff\xfe")
    tag = sweeps.tag_of(tmp_path / "jobs")
    assert sweeps.name_of(tag) == "jobs"
    monkeypatch.setattr(disk, "locked", None)  # for a folder in which we may not write
    assert sweeps.tag_of(tmp_path / "jobs") == tag


def test_texts_that_stay_here_are_reported_once_before_the_runs(place, tmp_path, capsys):
    settings = config(place, "https://mlflow.example.org", permits=[])
    tracking.mark_run(run_folder(tmp_path, privacy="phi"), settings)
    tracking.mark_run(run_folder(tmp_path, "second", privacy="phi"), settings)
    tracking.mark_run(run_folder(tmp_path, "other"), settings)
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "note: of phi data only figures are sent to MLflow, no texts; see tracking.permits"
    assert describe.remember(tmp_path / "run", {})["id"], "by which MLflow knows the folder"


@slow
def test_the_heartbeat_shows_progress_and_the_run_ends_in_the_same_one(place, tmp_path):
    store.load()
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


def test_of_a_failed_request_only_the_cause_is_shown():
    pool = "API request failed with exception HTTPConnectionPool(host='h', port=1): Max retries exceeded with url: /a"
    assert store.short(f"{pool} (Caused by ResponseError('too many 500 error responses'))") == (
        "API request failed with exception 'too many 500 error responses'"
    )
    refused = '"HTTPConnection(h): Failed to establish a new connection: [Errno 111] Connection refused"'
    assert store.short(f"{pool} (Caused by NewConnectionError({refused}))").endswith(refused)
    assert store.short("no answer of postgresql://me:p/a@s@host/db?token=hunter2hunter2") == (
        "no answer of postgresql://host/db?[hidden]"
    )
