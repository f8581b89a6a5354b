"""Sweeps of four processes at once in MLflow's own server, with users, on PostgreSQL, while it fails in three ways.

Needs ``make .venv-mlflow/.installed``, PostgreSQL and root (for a disk that is full). 40 runs with 25 traces each; 200 with
``WARDROUND_TEST_SLOW=1 WARDROUND_TEST_RUNS=200 python -m pytest tests/runner/test_tracking_server.py``.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from tests.acceptance.command import ROOT, start
from tests.mlflow_server import PASSWORD, USER, MLflowServer, Postgres, needs_mlflow, small_disk
from tests.slow import slow

pytestmark = [slow, needs_mlflow]
RUNS, PROCESSES, SAMPLES = int(os.environ.get("WARDROUND_TEST_RUNS", "40")), 4, 25
SECONDS = 120 + 15 * RUNS  # for each step, on a machine with much else to do
WORDS = ("-m", "name=many", "agent=direct", "dataset=table", "dataset.path=own.jsonl", "dataset.columns.options=options",
         "dataset.privacy=open", "tracking=mlflow_server", "tracking.traces=all")  # fmt: skip
FILES = ("config.yaml", "metrics.json", "records.jsonl", "report.md", "run.log", "texts-*.jsonl.gz")


class Site:
    """The server, its database, and the folders from which four processes send."""

    def __init__(self, home, disk, stack):
        self.disk, self.database = disk, Postgres()
        stack.callback(self.database.stop)
        self.server = MLflowServer(home, self.database, disk)
        stack.callback(self.server.stop)
        self.homes = [home / f"process-{n}" for n in range(PROCESSES)]
        rows = [{"question": f"Which, {n}?", "options": ["w", "x", "y", "z"], "answer": "B"} for n in range(SAMPLES)]
        for folder in self.homes:
            folder.mkdir()
            (folder / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
        self.env = {
            "MLFLOW_TRACKING_URI": self.server.url, "MLFLOW_TRACKING_USERNAME": USER,
            "MLFLOW_TRACKING_PASSWORD": PASSWORD, "PYTHONPATH": str(ROOT),
        }  # fmt: skip

    def traces(self):
        """How many are there."""
        return int(self.database.ask("runs", "select count(*) from trace_info")[0][0])

    def sweeps(self):
        """Start the four commands."""
        seeds = [",".join(str(n * 1000 + i) for i in range(RUNS // PROCESSES)) for n in range(PROCESSES)]
        commands = zip(self.homes, seeds, strict=True)
        return [
            start(home, *WORDS, f"seed={seed}", f"hydra.sweep.dir=outputs/many/{home.name}", env=self.env, own=False)
            for home, seed in commands
        ]

    def senders(self):
        """Start four processes that send what waits."""
        line, env = [sys.executable, "-m", "runner.tracking"], {**os.environ, **self.env}
        return [subprocess.Popen(line, cwd=home, env=env, text=True, stderr=subprocess.PIPE) for home in self.homes]

    def when(self, share):
        """Wait until this share of the traces is there."""
        until = time.monotonic() + SECONDS
        while self.traces() < share * RUNS * SAMPLES:
            assert time.monotonic() < until, f"{self.traces()} traces\n{self.server.log()}"
            time.sleep(0.1)

    def folders(self):
        """All run folders."""
        return [
            records.parent for home in self.homes for records in sorted(home.glob("outputs/many/*/*/records.jsonl"))
        ]

    def unsent(self):
        """How many markers wait."""
        return sum(len(list(home.glob("outputs/.mlflow/*/unsent/*.json"))) for home in self.homes)


def ends(processes):
    """Exit codes and what was printed."""
    printed = [process.communicate(timeout=SECONDS)[1] for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, printed, strict=True)]


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The site after all faults, and what was printed and waited at each."""
    home, seen = tmp_path_factory.mktemp("server"), {}
    with small_disk(home / "artifacts") as disk, ExitStack() as stack:
        site = Site(home, disk, stack)
        sweeps = site.sweeps()
        site.when(0.1)
        site.server.stop(9)
        seen["commands"] = [sweep.done(SECONDS) for sweep in sweeps]
        seen["killed"] = ends(site.senders()), site.unsent()
        site.server.start()
        senders = site.senders()
        site.when(0.4)
        site.server.set_password("another one")
        seen["expired"] = ends(senders), site.unsent()
        site.server.set_password(PASSWORD)
        senders = site.senders()
        site.when(0.7)
        fill(disk)
        seen["full"] = ends(senders), site.unsent()
        (disk / "filler").unlink()
        seen["sent"] = ends(site.senders()), site.unsent()
        yield site, seen


def fill(disk):
    """Leave no byte free."""
    with (disk / "filler").open("wb", buffering=0) as filler:
        for size in (1 << 20, 1):
            try:
                while filler.write(b"\0" * size):
                    continue
            except OSError:
                continue


def test_commands_end_well_whatever_the_server_does(story):
    _, seen = story
    assert [done.code for done in seen["commands"]] == [0] * PROCESSES, seen["commands"]
    assert all("still being sent" in done.out or "not sent" in done.out for done in seen["commands"])


def check_named(ended, unsent, why):
    """Each process that could not send says why, and how to send again."""
    named = [text for code, text in ended if code == 1]
    assert named and unsent, ended
    for text in named:
        assert "was not sent to MLflow" in text and "nothing is lost, send again: python -m runner." in text
        assert any(one in text for one in why), text


def test_killed_server_is_named(story):
    check_named(*story[1]["killed"], ("NewConnectionError", "refused"))


def test_expired_password_is_named(story):
    check_named(*story[1]["expired"], ("401", "UNAUTHENTICATED"))


def test_full_disk_of_artifacts_is_named(story):
    check_named(*story[1]["full"], ("500", "No space left"))


def test_what_waited_is_sent_and_nothing_is_lost_or_there_twice(story):
    site, seen = story
    ended, waiting = seen["sent"]
    assert waiting == 0 and all(code == 0 and "not sent" not in text for code, text in ended)
    folders = site.folders()
    assert len(folders) == RUNS and site.traces() == RUNS * SAMPLES
    ask = lambda statement: site.database.ask("runs", statement)  # noqa: E731
    sent = {folder: run for run, folder in ask("select run_uuid, value from tags where key = 'folder'")}
    ids = ask("select value, count(*) from tags where key = 'folder_id' group by value")
    assert sent.keys() == {str(folder) for folder in folders} and {n for _, n in ids} == {"1"} and len(ids) == RUNS
    assert ask("select status, count(*) from runs group by status") == [["FINISHED", str(RUNS + PROCESSES)]]
    per_run = ask("select value, count(*) from trace_request_metadata where key = 'mlflow.sourceRun' group by value")
    assert dict(per_run) == dict.fromkeys(sent.values(), str(SAMPLES))
    assert ask("select 1 from trace_info where request_id not in (select trace_id from spans)") == []
    assert ask("select 1 from metrics where key not like 'system/%' group by run_uuid, key having count(*) > 1") == []
    for folder in folders:
        (there,) = site.disk.glob(f"*/{sent[str(folder)]}/artifacts")
        files = [file.name for pattern in FILES for file in folder.glob(pattern)]
        assert len(files) >= len(FILES)
        assert [name for name in files if (there / name).read_bytes() != (folder / name).read_bytes()] == []
