"""A sweep with concurrent jobs: common requests are sent once, and kill -9 loses only what was in flight."""

import json

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import KILL, Served, endpoint, read_records, run_in_process, start
from tests.acceptance.own import Voice
from tests.slow import slow

SAMPLES, CALLS, CONNECTIONS, SEEDS = 20, 5, 15, (0, 1, 2)
WORDS = (
    "-m", "tracking=off", "dataset=cohort", "agent=react", "toolset=ledger", f"model.max_connections={CONNECTIONS}",
    "hydra.sweep.dir=sweep",
)  # fmt: skip
ALL = SAMPLES * CALLS * len(SEEDS)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A sweep killed midway and then finished: its folder, and the server's counts."""
    cwd = tmp_path_factory.mktemp("swept")
    words = (*WORDS, f"dataset.n={SAMPLES}", f"seed={','.join(map(str, SEEDS))}")
    with Served(Server(Voice(), latency=0.01)) as served:
        process = start(cwd, *words, *endpoint(served.url)).when(lambda: served.seen["requests"] >= ALL // 2)
        process.signal(KILL)
        assert process.done().code == -KILL
        done = run_in_process(cwd, *words, *endpoint(served.url))
        assert done.code == 0, done.err
        return cwd / "sweep", dict(served.seen)


@slow
def test_only_calls_in_flight_were_paid_twice(killed):
    _, counts = killed
    assert ALL <= counts["requests"] <= ALL + CONNECTIONS


@slow
def test_every_job_is_complete(killed):
    folder, _ = killed
    for seed in SEEDS:
        manifest = json.loads((folder / f"seed-{seed}" / "manifest.json").read_text())
        assert manifest["status"] == "complete"
        assert len(read_records(folder / f"seed-{seed}")) == SAMPLES


@slow
def test_requests_common_to_jobs_are_sent_once(tmp_path):
    with Served(Server(Voice(), latency=0.01)) as served:
        done = run_in_process(tmp_path, *WORDS, "dataset.n=10,20", *endpoint(served.url))
        assert done.code == 0, done.err
        assert served.seen["requests"] == 20 * CALLS
    assert f"{20 * CALLS:,} sent, {10 * CALLS:,} answered by the journal" in done.out
