"""Budgets, epochs, limit and shards: what a run plays, and what it leaves when it must stop early."""

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import Served, counted, endpoint, go_on, run, start, told
from tests.acceptance.own import Voice

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
    """Name -> (cwd, how the command ended), two at a time."""
    told_apart = {
        "whole": (),
        "calls": ("budget.run.calls=30",),
        "usd": ("budget.run.usd=0.001", "model.price={input: 1, output: 1}"),
        "tokens": ("budget.run.tokens=5000",),
        "seconds": ("budget.run.seconds=0.1",),
        "sample calls": ("budget.sample.calls=3", "limit=6"),
        "sample steps": ("budget.sample.steps=2", "limit=6"),
        "sample tokens": ("budget.sample.tokens=200", "limit=6"),
        "sample usd": ("budget.sample.usd=0.0002", "model.price={input: 1, output: 1}", "limit=6"),
        "sample seconds": ("budget.sample.seconds=0.012", "limit=6"),
        "epochs": ("epochs=2", "limit=6"),
        "limit": ("limit=6",),
        "other seed": ("limit=6", "seed=1"),
        **{shard: (f"run.shard={shard}",) for shard in SHARDS},
    }
    ended = {}
    names = list(told_apart)
    for pair in zip(names[::2], names[1::2], strict=True):
        begun = {}
        for name in pair:
            cwd = tmp_path_factory.mktemp("budgets")
            begun[name] = start(cwd, *WORDS, *endpoint(served.url), *told_apart[name])
        ended |= {name: (one.cwd, one.done()) for name, one in begun.items()}
    return ended


@pytest.fixture(scope="module")
def whole(runs):
    return told(runs["whole"][1].folder)


def ids(records):
    return {record["sample_id"] for record in records}


@pytest.mark.parametrize("budget", ["calls", "usd", "tokens", "seconds"])
def test_a_spent_run_budget_is_exit_3_with_valid_partial_results(runs, whole, budget):
    _, done = runs[budget]
    assert done.code == 3, done.err
    assert "Traceback" not in done.out + done.err
    partly, manifest = told(done.folder), counted(done.folder)
    assert len(partly) < len(whole)
    assert manifest["status"] == "budget"
    assert f"budget.run.{budget}" in manifest["stopped"]
    assert f"budget.run.{budget}" in done.out
    expected = [record for record in whole if record["sample_id"] in ids(partly)]
    if budget != "usd":  # this run has a price of its own
        assert partly == expected
    assert [r["answer"] for r in partly] == [r["answer"] for r in expected]
    assert (done.folder / "metrics.json").exists()


@pytest.mark.parametrize("budget", ["calls", "seconds"])
def test_the_printed_command_goes_on_beyond_the_budget(runs, whole, budget):
    """What is paid is not paid again, so each time the command is given the run gets further."""
    cwd, done = runs[budget]
    finished = [len(told(done.folder))]
    said = done.err
    while finished[-1] < len(whole):
        further = go_on(cwd, said)
        finished.append(len(told(done.folder)))
        assert finished[-1] > finished[-2], further
        assert further.code == (0 if finished[-1] == len(whole) else 3)
        said = further.err
    assert told(done.folder) == whole


def test_a_budget_of_calls_is_never_overrun(runs):
    sent = counted(runs["calls"][1].folder)["calls"]["sent"]
    assert sent == 30


def test_a_budget_of_money_is_overrun_by_what_was_in_flight_at_most(runs):
    spent = counted(runs["usd"][1].folder)["spent"]["usd"]
    records = told(runs["usd"][1].folder)
    dearest = max([step["usage"][2] for record in records for step in record["steps"]], default=0.0005)
    assert 0.001 <= spent <= 0.001 + CONNECTIONS * dearest * 1.5


@pytest.mark.parametrize("what", ["calls", "steps", "tokens", "usd", "seconds"])
def test_a_spent_sample_budget_ends_the_sample_and_not_the_run(runs, what):
    _, done = runs[f"sample {what}"]
    assert done.code == 0, done.err
    records = told(done.folder)
    assert len(records) == 6
    for record in records:
        assert record["stop"] == "limit"
        assert record["error"].startswith(f"budget.sample.{what}=")
        assert record["scores"]["score/accuracy"] == 0.0
        assert record["usage"]["calls"] < 5


def test_a_sample_budget_of_calls_is_exact(runs):
    assert {record["usage"]["calls"] for record in told(runs["sample calls"][1].folder)} == {3}
    assert {record["usage"]["calls"] for record in told(runs["sample steps"][1].folder)} == {2}


def test_epochs_play_every_sample_again_with_draws_of_its_own(runs, whole):
    records = told(runs["epochs"][1].folder)
    assert len(records) == 12
    assert {(r["sample_id"], r["epoch"]) for r in records} == {(i, e) for i in ids(records) for e in (0, 1)}
    first = [{**r, "epoch": 0} for r in records if r["epoch"] == 0]
    assert first == [record for record in whole if record["sample_id"] in ids(records)]
    assert [r["answer"] for r in first] != [r["answer"] for r in records if r["epoch"] == 1]


def test_limit_is_a_draw_that_the_seed_decides(runs, whole):
    drawn, other = told(runs["limit"][1].folder), told(runs["other seed"][1].folder)
    assert len(drawn) == len(other) == 6
    assert ids(drawn) != ids(other)
    assert ids(drawn) == ids(told(runs["epochs"][1].folder))
    assert drawn == [record for record in whole if record["sample_id"] in ids(drawn)]
    assert ids(drawn) != {f"case-{i:03}" for i in range(6)}


def test_shards_together_are_the_whole(runs, whole):
    parts = [told(runs[shard][1].folder) for shard in SHARDS]
    assert [len(part) for part in parts] == [8, 8, 8]
    assert sorted((r for part in parts for r in part), key=lambda r: r["sample_id"]) == whole


@pytest.mark.parametrize("shard", ["0/3", "4/3", "a/3", "3"])
def test_a_shard_that_is_none_is_refused(tmp_path, shard):
    done = run(tmp_path, *WORDS, f"run.shard={shard}")
    assert done.code == 2
    assert "run.shard" in done.err and "1/4" in done.err
    assert not (tmp_path / "outputs").exists()
