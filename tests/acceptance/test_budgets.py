"""Budgets, epochs, limit and shards: which samples are run, and what is written when a run stops early."""

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import Served, endpoint, read_manifest, read_records, resume_printed, run_in_process
from tests.acceptance.own import Voice
from tests.slow import slow
from tests.table import each_row

pytestmark = slow

CONNECTIONS = 4
WORDS = (
    "tracking=off", "dataset=cohort", "agent=react", "toolset=ledger", f"model.max_connections={CONNECTIONS}",
)  # fmt: skip
SHARDS = ("1/3", "2/3", "3/3")


@pytest.fixture(scope="module")
def served():
    with Served(Server(Voice(), latency=0.005)) as served:
        yield served


@pytest.fixture(scope="module")
def runs(served, tmp_path_factory):
    """Kind -> (working folder, how the command ended)."""
    kinds = {
        "whole": (),
        "calls": ("budget.run.calls=70",),
        "usd": ("budget.run.usd=0.01", "model.price={input: 1, output: 1}"),
        "seconds": ("budget.run.seconds=0.1",),
        "sample calls": ("budget.sample.calls=3", "limit=6"),
        "sample usd": ("budget.sample.usd=0.0002", "model.price={input: 1, output: 1}", "limit=6"),
        "sample seconds": ("budget.sample.seconds=0.012", "limit=6"),
        "draws": ("-m", "hydra.sweep.dir=sweep", "limit=6", "seed=0,1", "epochs=1,2"),
        "shards": ("-m", "hydra.sweep.dir=sweep", f"run.shard={','.join(SHARDS)}"),
    }
    cwds = {kind: tmp_path_factory.mktemp("budgets") for kind in kinds}
    ended = {k: run_in_process(cwds[k], *WORDS, *endpoint(served.url), *more) for k, more in kinds.items()}
    return {kind: (cwds[kind], done) for kind, done in ended.items()}


@pytest.fixture(scope="module")
def stopped(runs):
    """Kind -> records and manifest as the budget left them."""
    return {
        kind: (read_records(runs[kind][1].folder), read_manifest(runs[kind][1].folder))
        for kind in ("calls", "usd", "seconds")
    }


def jobs(runs, kind):
    """The records of a sweep's jobs, by the jobs' names."""
    cwd, done = runs[kind]
    assert done.code == 0, done.err
    return {path.parent.name: read_records(path.parent) for path in sorted((cwd / "sweep").glob("*/records.jsonl"))}


@pytest.fixture(scope="module")
def whole(runs):
    return read_records(runs["whole"][1].folder)


def ids(records):
    return {record["sample_id"] for record in records}


@each_row("budget", ["calls", "usd", "seconds"])
def test_spent_run_budget_exits_3_with_valid_partial_results(runs, stopped, whole, budget):
    _, done = runs[budget]
    assert done.code == 3, done.err
    assert "Traceback" not in done.out + done.err
    partly, manifest = stopped[budget]
    assert len(partly) < len(whole)
    assert manifest["status"] == "budget"
    assert f"budget.run.{budget}" in manifest["stopped"]
    assert f"budget.run.{budget}" in done.out
    expected = [record for record in whole if record["sample_id"] in ids(partly)]
    if budget != "usd":  # this run has a custom price
        assert partly == expected
    assert [r["answer"] for r in partly] == [r["answer"] for r in expected]
    assert (done.folder / "metrics.json").exists()


def test_call_budget_is_never_exceeded(stopped):
    assert stopped["calls"][1]["calls"]["sent"] <= 70


def test_cost_budget_is_exceeded_by_at_most_the_calls_dearer_than_the_mean(stopped):
    records, manifest = stopped["usd"]
    dearest = max(step["usage"][2] for record in records for step in record["steps"])
    mean = manifest["spent"]["usd"] / manifest["calls"]["sent"]
    assert 0.01 - 2 * mean <= manifest["spent"]["usd"] <= 0.01 + CONNECTIONS * (dearest - mean)


def test_printed_command_resumes_where_the_budget_ended(runs, stopped, whole):
    """Paid calls are not repeated: 120 calls fit two budgets of 70."""
    cwd, done = runs["calls"]
    further = resume_printed(cwd, done.err)
    assert further.code == 0, further.err
    assert read_records(done.folder) == whole
    assert read_manifest(done.folder)["calls"]["sent"] == 24 * 5, "total of both sessions"
    assert read_manifest(done.folder)["sessions"][0]["sent"] == stopped["calls"][1]["calls"]["sent"]


@each_row("what", ["calls", "usd", "seconds"])
def test_spent_sample_budget_ends_the_sample_but_not_the_run(runs, what):
    _, done = runs[f"sample {what}"]
    assert done.code == 0, done.err
    records = read_records(done.folder)
    assert len(records) == 6
    for record in records:
        assert record["stop"] == "limit"
        assert record["error"].startswith(f"budget.sample.{what}=")
        assert record["scores"]["score/strict"] == 0.0
        assert record["usage"]["calls"] < 5
        assert what != "calls" or record["usage"]["calls"] == 3


def test_each_epoch_runs_every_sample_with_a_separate_draw(runs, whole):
    once, twice = (jobs(runs, "draws")[f"seed-0+epochs-{n}"] for n in (1, 2))
    assert len(twice) == 12
    assert {(r["sample_id"], r["epoch"]) for r in twice} == {(i, e) for i in ids(once) for e in (0, 1)}
    assert [r for r in twice if r["epoch"] == 0] == once
    assert [r["answer"] for r in once] != [r["answer"] for r in twice if r["epoch"] == 1]


def test_limit_draws_samples_by_the_seed(runs, whole):
    drawn, other = (jobs(runs, "draws")[f"seed-{n}+epochs-1"] for n in (0, 1))
    assert len(drawn) == len(other) == 6
    assert ids(drawn) != ids(other)
    assert drawn == [record for record in whole if record["sample_id"] in ids(drawn)]
    assert ids(drawn) != {f"case-{i:03}" for i in range(6)}


def test_shards_cover_the_whole_dataset(runs, whole):
    parts = list(jobs(runs, "shards").values())
    assert [len(part) for part in parts] == [8, 8, 8]
    assert sorted((r for part in parts for r in part), key=lambda r: r["sample_id"]) == whole


@pytest.mark.parametrize(("shard", "says"), [("4/3", "1/4"), ("3", "quote it")])
def test_invalid_shard_is_refused_in_one_line(tmp_path, shard, says):
    done = run_in_process(tmp_path, *WORDS, f"run.shard={shard}")
    assert done.code == 2
    assert "run.shard" in done.err and says in done.err
    assert len(done.err.splitlines()) == 1, done.err
    assert not (tmp_path / "outputs").exists()
