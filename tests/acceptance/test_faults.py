"""A flaky endpoint costs time, one that dies costs samples, and one that nobody started is refused at once."""

import json
import socket
from functools import partial

import pytest

from components.models.simulated.serve import Faults, Server
from tests.acceptance.command import (
    Served,
    endpoint,
    metric,
    read_manifest,
    read_records,
    resume_printed,
    run,
    run_in_process,
    run_together,
    start,
)
from tests.acceptance.own import Voice
from tests.slow import slow

pytestmark = slow

SAMPLES, CALLS = 40, 5
WORDS = (
    "tracking=off", "dataset=cohort", f"dataset.n={SAMPLES}", "agent=react", "toolset=ledger", "model.max_connections=20",
)  # fmt: skip
BAD = Faults(
    status_429=0.10,
    status_500=0.05,
    resets=0.02,
    stalls=0.01,
    malformed=0.01,
    retry_after=0.05,
    stall_seconds=30,
    seed=1,
)


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_faulty(cwd):
    with Served(Server(Voice(), BAD)) as served:
        done = run(cwd, *WORDS, *endpoint(served.url, "model.timeout_seconds=1", "model.retries=8"))
        return done, dict(served.seen)


def run_absent(cwd):
    """Run against a port where nothing listens."""
    port = closed_port()
    words = endpoint(f"http://127.0.0.1:{port}/v1", "model.retries=2")
    return run(cwd, *WORDS, *words, "hydra.run.dir=run"), read_records(cwd / "run"), port, cwd


def run_dying(cwd):
    """Run against a server that stops midway and stays down."""
    served = Served(Server(Voice(), latency=0.02))
    words = endpoint(served.url, "model.retries=2", "model.timeout_seconds=2", "model.max_connections=8")
    process = start(cwd, *WORDS, *words, "hydra.run.dir=run").when(lambda: served.seen["answered"] >= 90)
    served.die()
    done = process.done()
    return done, (read_records(cwd / "run"), (cwd / "run" / "metrics.json").read_text()), served, cwd


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """All runs concurrently: they mostly wait."""
    kinds = {"faulty": run_faulty, "absent": run_absent, "dying": run_dying}
    return run_together({kind: partial(play, tmp_path_factory.mktemp(kind)) for kind, play in kinds.items()})


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    with Served(Server(Voice())) as served:
        done = run_in_process(tmp_path_factory.mktemp("healthy"), *WORDS, *endpoint(served.url))
    assert done.code == 0, done.err
    return read_records(done.folder)


@pytest.fixture(scope="module")
def faulty(runs):
    return runs["faulty"]


@pytest.fixture(scope="module")
def absent(runs):
    """Run, then resume when a server listens there."""
    done, before, port, cwd = runs["absent"]
    with Served(Server(Voice()), port):
        words = endpoint(f"http://127.0.0.1:{port}/v1", "model.retries=2")
        return done, before, run(cwd, *WORDS, *words, "run.resume=run"), cwd / "run"


@pytest.fixture(scope="module")
def dying(runs):
    """Run, then resume when the server is back."""
    done, before, served, cwd = runs["dying"]
    with Served(Server(Voice()), served.port) as back:
        again = resume_printed(cwd, done.out)
    return done, before, again, cwd / "run", served.seen["answered"] + back.seen["answered"]


def test_transient_faults_lose_no_sample(faulty):
    done, seen = faulty
    assert done.code == 0, done.err
    assert metric(done.folder, "errors/rate") == 0.0
    for kind in ("status_429", "status_500", "resets", "stalls", "malformed"):
        assert seen[kind] > 0, f"the server never sent the fault {kind}"


def test_results_equal_those_of_a_run_without_faults(faulty, healthy):
    assert read_records(faulty[0].folder) == healthy


def test_manifest_counts_every_retry_by_kind(faulty):
    done, seen = faulty
    model = read_manifest(done.folder)["calls"]["models"]["main"]
    kinds = {"rate_limit": "status_429", "server": "status_500", "connection": "resets", "timeout": "stalls", "unreadable": "malformed"}  # fmt: skip
    assert model["retries"] == {kind: seen[name] for kind, name in kinds.items()}
    assert (model["calls"], model["failed"]) == (SAMPLES * CALLS, 0)
    assert seen["requests"] == SAMPLES * CALLS + sum(model["retries"].values())


def test_retried_faults_are_not_printed_or_logged(faulty):
    done, _ = faulty
    assert all(" samples, " in line and " left" in line for line in done.err.splitlines()), done.err
    assert "Traceback" not in done.out
    log = done.folder / "run.log"
    assert not log.exists() or "Traceback" not in log.read_text()


def test_server_that_nobody_started_is_refused_at_once(absent):
    done, records, _, _ = absent
    assert done.code == 2 and records == []
    assert done.seconds < 20
    [line] = [line for line in done.err.splitlines() if line.startswith("config error: ")]
    assert "no connection (ConnectionRefusedError" in line and "start the server" in line
    assert "Traceback" not in done.out + done.err


def test_refused_run_is_resumed_once_the_server_is_up(absent, healthy):
    _, _, again, folder = absent
    assert again.code == 0, again.err
    assert read_records(folder) == healthy


def test_server_that_dies_costs_only_the_unfinished_samples(dying, healthy):
    done, (records, _), _, _, _ = dying
    assert done.code == 1
    assert done.seconds < 30
    assert len(records) <= SAMPLES
    finished = [record for record in records if record["stop"] != "error"]
    assert 0 < len(finished) < SAMPLES
    assert finished == [record for record in healthy if record["sample_id"] in {f["sample_id"] for f in finished}]


def test_errored_samples_count_as_error_rate_and_not_as_score(dying):
    _, (records, metrics), _, _, _ = dying
    saved_metrics = json.loads(metrics)["metrics"]
    errored = sum(record["stop"] == "error" for record in records)
    right = [record["scores"]["score/strict"] for record in records if record["stop"] != "error"]
    assert saved_metrics["errors/rate"]["value"] == pytest.approx(errored / len(records))
    assert saved_metrics["score/strict"]["value"] == pytest.approx(sum(right) / len(right))
    assert (saved_metrics["score/strict"]["n"], saved_metrics["score/strict"]["unscored"]) == (len(right), errored)


def test_printed_command_completes_the_run_once_the_server_is_back(dying, healthy):
    _, _, again, folder, answered = dying
    assert again.code == 0, again.err
    assert read_records(folder) == healthy
    assert answered <= SAMPLES * CALLS + 8


def test_tolerated_error_rate_is_not_a_failure(tmp_path):
    with Served(Server(Voice(), Faults(status_500=1.0))) as served:
        words = endpoint(served.url, "model.retries=0", "run.max_error_rate=1")
        done = run_in_process(tmp_path, *WORDS, *words, "limit=3")
    assert done.code == 0
    assert metric(done.folder, "errors/rate") == 1.0


def test_why_jobs_of_a_sweep_broke_off_is_printed_once(tmp_path):
    words = ("agent=react,cot", "dataset=cab_mini", "limit=2", *endpoint("http://127.0.0.1:9/v1"))
    done = run_in_process(tmp_path, "-m", *words, "tracking=off", own=False)
    assert done.code == 2 and done.err.count("start the server") == 1, done.err
    assert "config error: 2 jobs (" in done.err
