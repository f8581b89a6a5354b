"""kill -9 at any moment loses only the calls in flight."""

import json
from random import Random

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import KILL, Served, endpoint, read_manifest, read_records, run_in_process, start
from tests.acceptance.own import Voice
from tests.slow import slow

pytestmark = slow

SAMPLES, CALLS, CONNECTIONS, KILLS = 120, 5, 20, 3
WORDS = (
    "tracking=off", "dataset=cohort", f"dataset.n={SAMPLES}", "agent=react", "toolset=ledger",
    f"model.max_connections={CONNECTIONS}",
)  # fmt: skip


def moments(seed):
    """Random numbers of served requests after which to kill the run."""
    return sorted(Random(seed).sample(range(1, SAMPLES * CALLS), KILLS))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("undisturbed")
    with Served(Server(Voice(), latency=0.01)) as served:
        done = run_in_process(cwd, *WORDS, *endpoint(served.url))
        assert done.code == 0, done.err
        assert served.seen["requests"] == SAMPLES * CALLS
    return done.folder


@pytest.fixture(scope="module", params=[3])
def killed(request, tmp_path_factory):
    """A run killed three times and then finished: its folder, the server's counts, and the counts at each kill."""
    cwd = tmp_path_factory.mktemp("killed")
    with Served(Server(Voice(), latency=0.01)) as served:
        words = [*WORDS, *endpoint(served.url), "hydra.run.dir=run"]
        at_kills = []
        for moment in moments(request.param):
            process = start(cwd, *words).when(lambda moment=moment: served.seen["requests"] >= moment)
            process.signal(KILL)
            assert process.done().code == -KILL
            at_kills.append((served.seen["requests"], (cwd / "run" / "records.jsonl").read_bytes().count(b"\n")))
            words = [*WORDS, *endpoint(served.url), "run.resume=run"]
        done = run_in_process(cwd, *words)
        assert done.code == 0, done.err
        return cwd / "run", dict(served.seen), at_kills


def test_kills_happened_during_the_run(killed):
    _, _, at_kills = killed
    assert len(at_kills) == KILLS
    assert all(0 < n_requests < SAMPLES * CALLS + KILLS * CONNECTIONS for n_requests, _ in at_kills)
    assert at_kills[-1][1] < SAMPLES


def test_records_equal_those_of_an_undisturbed_run(killed, undisturbed):
    resumed, whole = read_records(killed[0]), read_records(undisturbed)
    assert len(resumed) == len(whole) == SAMPLES
    for one, other in zip(resumed, whole, strict=True):
        assert one == other


def test_metrics_equal_those_of_an_undisturbed_run(killed, undisturbed):
    found = []
    for folder in (killed[0], undisturbed):
        summary = json.loads((folder / "metrics.json").read_text())
        found.append({k: v for k, v in summary["metrics"].items() if not k.startswith("time/")} | summary["strata"])
    assert found[0] == found[1]


def test_only_calls_in_flight_were_paid_twice(killed):
    _, counts, _ = killed
    assert SAMPLES * CALLS <= counts["requests"] <= SAMPLES * CALLS + KILLS * CONNECTIONS


def test_manifest_lists_every_resumption(killed):
    manifest = read_manifest(killed[0])
    assert manifest["status"] == "complete"
    assert len(manifest["resumed"]) == KILLS
    assert manifest["counts"] == {"finished": SAMPLES, "wanted": SAMPLES, "errored": 0}


def test_resuming_a_finished_run_sends_nothing_and_changes_nothing(killed, tmp_path):
    folder, _, _ = killed
    before = (folder / "records.jsonl").read_bytes()
    with Served(Server(Voice())) as served:
        done = run_in_process(folder.parent, *WORDS, *endpoint(served.url), "run.resume=run")
        assert done.code == 0, done.err
        assert served.seen["requests"] == 0
    assert (folder / "records.jsonl").read_bytes() == before


def test_resume_with_another_agent_is_refused_with_the_difference(killed):
    folder, _, _ = killed
    words = [word.replace("react", "direct") for word in WORDS]
    done = run_in_process(folder.parent, *words, *endpoint("http://127.0.0.1:9/v1"), "run.resume=run")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "agent" in done.err
