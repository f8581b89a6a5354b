"""Commands do not wait for MLflow, and whatever is killed: the next command sends what is missing, once."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import INTERRUPT, KILL, OWN, ROOT, Served, endpoint, run, start
from tests.acceptance.own import Voice
from tests.slow import slow

N = 30
WORDS = ("dataset=cohort", f"dataset.n={N}", "agent=react", "toolset=ledger", "model.max_connections=4")


def trackers(cwd):
    """The process ids of trackers that were started in a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"runner.tracking" in words and (entry / "cwd").resolve() == cwd.resolve():
                found.append(int(entry.name))
    return found


def kill_trackers(cwd):
    for id in trackers(cwd):
        with suppress(ProcessLookupError):
            os.kill(id, KILL)


def in_mlflow(cwd):
    """Status of every run, how many traces it has, and how many values of metrics are there more than once."""
    with closing(sqlite3.connect(cwd / "outputs/.mlflow/mlflow.db")) as database:
        runs = dict(database.execute("select run_uuid, status from runs"))
        query = "select value from trace_request_metadata where key = 'mlflow.sourceRun'"
        traces = Counter(one for (one,) in database.execute(query))
        where = "where key not like 'system/%' group by run_uuid, key, value having count(*) > 1"
        twice = database.execute(f"select count(*) from (select 1 from metrics {where})").fetchone()[0]
    return sorted((status, traces[id]) for id, status in runs.items()), twice


def send(cwd):
    line, env = [sys.executable, "-m", "runner.tracking"], {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, cwd=cwd, env=env, capture_output=True, text=True, timeout=120)


def unsent(cwd):
    return [*(cwd / "outputs/.mlflow/unsent").glob("*.json")]


@slow
def test_a_command_ends_before_mlflow_has_its_run_and_nothing_is_lost_when_the_tracker_is_killed(tmp_path):
    done = run(tmp_path, "dataset=cohort", "dataset.n=3", "agent=direct")
    kill_trackers(tmp_path)
    assert done.code == 0 and done.err == "", done.err
    last = done.out.splitlines()[-1]
    assert last.startswith("MLflow:     http://127.0.0.1:5000   (make ui")
    assert "1 run is still being sent, python -m runner.tracking waits for that" in last
    assert len(unsent(tmp_path)) == 1
    sent = send(tmp_path)
    *slow_lines, end = sent.stderr.splitlines()  # a slow machine has one that says what is waited for
    assert (sent.returncode, sent.stdout, end) == (0, "", "sent 1 of 1") and len(slow_lines) < 2
    assert in_mlflow(tmp_path) == ([("FINISHED", 3)], 0) and not unsent(tmp_path)


@slow
def test_the_command_does_not_import_mlflow_and_waits_for_it_on_demand(tmp_path):
    code = "import sys; from runner.__main__ import main; code = main(); print('mlflow' in sys.modules); sys.exit(code)"
    words = [*OWN, "dataset=cohort", "dataset.n=1", "agent=direct", "tracking.wait=true"]
    line = [sys.executable, "-c", code, *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    page, imported = done.stdout.splitlines()[-2:]
    assert page.startswith("MLflow:     http://127.0.0.1:5000/#/experiments/1/runs/") and imported == "False"
    assert in_mlflow(tmp_path) == ([("FINISHED", 1)], 0) and not unsent(tmp_path)


def midway(process, served, cwd):
    """When a third of the calls is answered."""
    process.when(lambda: served.seen["answered"] >= N)


def following(process, served, cwd):
    """When its tracker has made the run."""
    process.when(lambda: (cwd / "outputs/.mlflow/mlflow.db").exists() and in_mlflow(cwd)[0], 90)


def finished(process, served, cwd):
    """When the command has ended."""
    process.done()


def sending(process, served, cwd):
    """When the command has ended, and the tracker is in the middle of the traces."""
    process.done()
    end = time.monotonic() + 120
    while not traces_of(cwd):
        assert time.monotonic() < end
    for id in trackers(cwd):
        os.kill(id, signal.SIGSTOP)
    assert unsent(cwd) and trackers(cwd), "it had sent all before it could be killed"


def traces_of(cwd):
    """How many are there, by the quickest way."""
    if not (path := cwd / "outputs/.mlflow/mlflow.db").exists():
        return 0
    with closing(sqlite3.connect(path)) as database:
        return database.execute("select count(*) from trace_info").fetchone()[0]


@slow
@pytest.mark.parametrize("moment", [midway, following, finished, sending])
@pytest.mark.parametrize("both", [True, False], ids=["both", "tracker"])
def test_everything_is_there_once_after_the_next_command(tmp_path, moment, both):
    with Served(Server(Voice(), latency=0.05 if moment is not following else 2.0)) as served:
        words = (*WORDS, *endpoint(served.url))
        process = start(tmp_path, *words, "hydra.run.dir=run")
        moment(process, served, tmp_path)
        served.server.latency = 0.05
        if both and process.process.poll() is None:
            process.signal(KILL)
        kill_trackers(tmp_path)
        process.process.wait(90)
        process.process.communicate()
        resumed = (tmp_path / "run/metrics.json").exists()
        next_words = ("hydra.run.dir=other",) if resumed else ("run.resume=run",)
        done = run(tmp_path, *words, *next_words, "tracking.wait=true")
        assert done.code == 0, done.err
    assert send(tmp_path).returncode == 0, "the rest, which the command did not wait for"
    assert in_mlflow(tmp_path) == ([("FINISHED", N)] * (2 if resumed else 1), 0) and not unsent(tmp_path)


@slow
def test_an_interrupt_leaves_the_tracker_which_sends_what_is_finished(tmp_path):
    with Served(Server(Voice(), latency=0.1)) as served:
        words = (*WORDS, *endpoint(served.url))
        process = start(tmp_path, *words, "hydra.run.dir=run")
        midway(process, served, tmp_path)
        process.when(lambda: trackers(tmp_path))
        process.signal(INTERRUPT)
        assert process.done().code == 130
        assert send(tmp_path).returncode == 0
        assert [status for status, _ in in_mlflow(tmp_path)[0]] == ["KILLED"]
        assert run(tmp_path, *words, "run.resume=run", "tracking.wait=true").code == 0
    assert in_mlflow(tmp_path) == ([("FINISHED", N)], 0)


@slow
def test_two_processes_do_not_send_the_same_run(tmp_path):
    for seed in range(3):
        assert run(tmp_path, "dataset=cohort", "dataset.n=3", "agent=direct", f"seed={seed}").code == 0
        kill_trackers(tmp_path)
    assert len(unsent(tmp_path)) == 3
    line, env = [sys.executable, "-m", "runner.tracking"], {**os.environ, "PYTHONPATH": str(ROOT)}
    both = [subprocess.Popen(line, cwd=tmp_path, env=env) for _ in range(2)]
    assert [one.wait(120) for one in both] == [0, 0]
    assert in_mlflow(tmp_path) == ([("FINISHED", 3)] * 3, 0) and not unsent(tmp_path)


@slow
def test_a_server_that_is_down_costs_one_line_which_the_next_command_shows(tmp_path):
    env = {"MLFLOW_TRACKING_URI": "http://someone:secret@127.0.0.1:9", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
    words = ("dataset=cohort", "dataset.n=3", "agent=direct", "tracking=mlflow_server")
    done = run(tmp_path, *words, env=env)
    assert done.code == 0 and "secret" not in done.out + done.err
    end = time.monotonic() + 60
    while trackers(tmp_path) and time.monotonic() < end:
        time.sleep(0.1)
    done = run(tmp_path, *words, "tracking.wait=true", env=env)
    *_, line = done.err.splitlines()
    assert line.startswith(f"warning: {tmp_path}/outputs/scratch/") and "secret" not in done.err
    assert "was not sent to MLflow" in line and "send again: python -m runner.report track" in line
    assert done.code == 1 and "1 run is not sent, python -m runner.tracking" in done.out
    assert len([*tmp_path.glob("outputs/.mlflow/*/unsent/*.json")]) == 2


@slow
def test_waiting_for_a_silent_server_is_said_and_an_interrupt_loses_nothing(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        uri = f"http://someone:secret@127.0.0.1:{server.getsockname()[1]}"
        words = ("dataset=cohort", "dataset.n=3", "agent=direct", "tracking=mlflow_server", "tracking.wait=true")
        process = start(tmp_path, *words, f"tracking.uri={uri}", "hydra.run.dir=run")
        line = process.process.stderr.readline()
        process.signal(INTERRUPT)
        done = process.done()
        kill_trackers(tmp_path)
    assert done.code == 130 and "Traceback" not in done.err and "secret" not in line + done.err, done.err
    assert line.startswith(
        f"waiting for MLflow at {uri.replace('someone:secret@', '')} (Ctrl-C loses nothing: the next"
    )
    assert "/outputs/.mlflow/" in line and line.endswith("), 300 s at most without an answer\n")
    assert len([*tmp_path.glob("outputs/.mlflow/*/unsent/*.json")]) == 1
