"""Ctrl-C, and a scheduler's SIGTERM: one clean line, exit 130, and a command that resumes the run."""

import re
import shlex
import time
from pathlib import Path

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import (
    INTERRUPT,
    TERMINATE,
    Served,
    endpoint,
    read_manifest,
    read_records,
    resume_printed,
    start,
)
from tests.acceptance.own import Voice
from tests.slow import slow

pytestmark = slow

INTERRUPTED = (
    130,
    -INTERRUPT,
)  # Python ends by the signal itself if it arrived in code compiled from text; a shell reports 130
WORDS = (
    "tracking=off", "dataset=cohort", "dataset.n=40", "agent=react", "toolset=ledger", "model.max_connections=8",
    "name=stopped-run",
)  # fmt: skip


@pytest.fixture(scope="module", params=[INTERRUPT, TERMINATE], ids=["SIGINT", "SIGTERM"])
def stopped(request, tmp_path_factory):
    """A run that was interrupted midway and resumed by the printed command."""
    cwd = tmp_path_factory.mktemp("stopped")
    with Served(Server(Voice(), latency=0.02)) as served:
        process = start(cwd, *WORDS, *endpoint(served.url)).when(lambda: served.seen["answered"] >= 60)
        process.signal(request.param)
        done = process.done()
        folder = next((cwd / "outputs" / "stopped-run").iterdir())
        partly, manifest = read_records(folder), read_manifest(folder)
        further = resume_printed(cwd, done.err)
        return done, folder, partly, manifest, further, dict(served.seen)


def test_exit_code_is_130(stopped):
    assert stopped[0].code == 130


def test_stderr_has_an_acknowledgement_a_status_line_and_the_resume_command(stopped):
    answer, *lines = stopped[0].err.splitlines()
    assert re.match(r"stopping; finished calls are kept, [0-8] calls? in flight (is|are) cut; ", answer)
    assert len(lines) == 2, stopped[0].err
    assert lines[0].startswith("interrupted")
    assert shlex.split(lines[1])[1:3] == ["-m", "runner"]
    assert "run.resume=" in lines[1]


def test_no_traceback_and_no_asyncio_warnings(stopped):
    message = stopped[0].out + stopped[0].err
    for noise in (
        "Traceback",
        "Task ",
        "Unclosed",
        "CancelledError",
        "KeyboardInterrupt",
        "never retrieved",
        "Warning",
    ):
        assert noise not in message
    log = stopped[1] / "run.log"
    assert not log.exists() or "Traceback" not in log.read_text()


def test_finished_records_are_kept_and_valid(stopped):
    _, folder, partly, manifest, _, _ = stopped
    assert 0 < len(partly) < 40
    assert all(record["stop"] == "answered" for record in partly)
    assert manifest["status"] == "interrupted"
    assert manifest["counts"]["finished"] == len(partly)
    assert (folder / "metrics.json").exists()


def test_printed_command_finishes_the_run(stopped):
    _, folder, partly, _, further, counts = stopped
    assert further.code == 0, further.err
    whole = read_records(folder)
    assert len(whole) == 40
    assert [record for record in whole if record in partly] == partly
    assert read_manifest(folder)["status"] == "complete"
    assert counts["requests"] <= 40 * 5 + 8


def test_ctrl_c_before_the_first_reply_exits_cleanly(tmp_path):
    with Served(Server(Voice(), latency=5.0)) as served:
        process = start(tmp_path, *WORDS, *endpoint(served.url)).when(lambda: served.seen["requests"] >= 8)
        process.signal(INTERRUPT)
        done = process.done(10)
    assert done.code == 130
    assert "kept, 8 calls in flight are cut;" in done.err and len(done.err.splitlines()) == 3, done.err
    assert "Traceback" not in done.out + done.err


def test_second_ctrl_c_exits_cleanly(tmp_path):
    """People press it twice."""
    with Served(Server(Voice(), latency=0.05)) as served:
        process = start(tmp_path, *WORDS, *endpoint(served.url)).when(lambda: served.seen["requests"] >= 40)
        process.signal(INTERRUPT)
        time.sleep(0.02)
        process.signal(INTERRUPT)
        done = process.done(10)
        assert done.code in INTERRUPTED
        assert "Traceback" not in done.out + done.err
        assert len(done.err.splitlines()) == 3, done.err
        assert resume_printed(tmp_path, done.err).code == 0


@pytest.mark.parametrize("seconds", [0.1, 0.3])
def test_ctrl_c_during_start_up_exits_cleanly(tmp_path, seconds):
    """As soon as the command handles signals, while it still imports and composes."""
    process = start(tmp_path, *WORDS, "model.latency_seconds=5")
    process.when(lambda: handles_sigterm(process.process.pid))
    time.sleep(seconds)
    process.signal(INTERRUPT)
    done = process.done(10)
    assert done.code in INTERRUPTED
    assert "interrupted" in done.err
    assert "Traceback" not in done.out + done.err
    assert len(done.err.splitlines()) <= 3


def handles_sigterm(pid):
    """Whether a process has installed a handler for SIGTERM."""
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return bool(int(caught[1], 16) >> (TERMINATE - 1) & 1)
