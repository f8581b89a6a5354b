"""A job run in shards equals the whole job."""

import json

import pytest

from runner.storage.records import RecordWriter
from tests.runner.sweep.deadly import count_calls, furnish
from tests.slow import slow

TIMES = {"seconds", "started"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMES}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def read(folder):
    """Records, metrics, and the result keys of the manifest."""
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics["metrics"] = {name: found for name, found in metrics["metrics"].items() if not name.startswith("time/")}
    manifest = json.loads((folder / "manifest.json").read_text())
    keys = ("status", "counts", "dataset", "shard", "varied", "choices", "identities", "spent", "calls", "errors")
    return without_times(lines), metrics, {key: manifest[key] for key in keys}


@slow
def test_merged_shards_equal_the_unsharded_run(home):
    words = ("-m", "tracking=off", "agent=react", "limit=7", "model.max_connections=1", "epochs=2")
    assert home.run(*words, "hydra.sweep.dir=whole", "run.journal=j1", plain=True).code == 0
    done = home.run(*words, "hydra.sweep.dir=parted", "run.journal=j2", "run.shards=3", plain=True)
    assert done.code == 0, done.err
    assert read(home.path / "parted" / "only") == read(home.path / "whole" / "only")


@slow
@pytest.mark.parametrize("launcher", ["wardround", pytest.param("basic", marks=slow)])
def test_every_job_of_a_sweep_is_sharded(home, launcher):
    words = ("-m", "seed=0,1", "model.max_connections=1", f"hydra/launcher={launcher}")
    assert home.run(*words, "hydra.sweep.dir=whole").code == 0
    done = home.run(*words, "hydra.sweep.dir=parted", "run.shards=4")
    assert done.code == 0, done.err
    assert "sweep of 2 jobs, 0 of them finished before; 8 parts remain" in done.err
    assert "2 of 2 jobs" in done.out
    for job in ("seed-0", "seed-1"):
        assert read(home.path / "parted" / job) == read(home.path / "whole" / job)


@slow
def test_reports_count_merged_runs_and_not_their_shards(home, capsys):
    from runner.report import main

    assert home.run("-m", "run.shards=2", "model.name=a,b", "hydra.sweep.dir=sweep").code == 0
    capsys.readouterr()
    assert main(["table", "sweep", "--all"]) == 0
    out = capsys.readouterr().out
    assert out.count("run folder: ") == 2
    assert "parts" not in out
    assert main(["episode", "q3", "sweep/name-a", "--prompts"]) == 0
    assert "question 3?" in capsys.readouterr().out


def test_single_command_with_shards_is_a_sweep_over_them(home):
    done = home.run("run.shards=3", "hydra.sweep.dir=sweep")
    assert done.code == 0, done.err
    assert "1 of 1 jobs" in done.out
    records = (home.path / "sweep" / "only" / "records.jsonl").read_text().splitlines()
    assert [json.loads(line)["sample_id"] for line in records] == ["q0", "q1", "q2", "q3"]
    assert sorted(path.name for path in (home.path / "sweep" / "only" / "parts").iterdir()) == [
        "1-of-3", "2-of-3", "3-of-3",
    ]  # fmt: skip


def test_folder_of_a_single_run_is_refused_for_a_sweep(home):
    for words in (["run.shards=3"], ["-m", "seed=0,1"]):
        done = home.run(*words, "hydra.run.dir=one")
        assert done.code == 2
        assert "hydra.run.dir=one: this is a sweep (-m, run.shards or a search), whose folder" in done.complaint
        assert "is set by hydra.sweep.dir=one" in done.complaint and not (home.path / "outputs").exists()


@pytest.mark.parametrize("word", ["run.shards=1", "run.shards=null"])
def test_single_shard_is_not_a_sweep(home, word):
    assert home.run(word, "hydra.run.dir=one").code == 0
    assert (home.path / "one" / "records.jsonl").exists()


@slow
def test_sharded_job_resumes_where_its_budget_ended(home):
    furnish(home, lives=0)
    words = ("model=deadly", "dataset.n=6", "run.journal=journal", "run.shards=2", "hydra.sweep.dir=sweep")
    stopped = home.run(*words, "budget.run.calls=4")
    assert stopped.code == 3
    assert home.manifest(home.path / "sweep" / "only")["status"] == "budget"
    id_before = home.manifest(home.path / "sweep" / "only")["id"]
    assert home.run(*words).code == 0
    merged = home.manifest(home.path / "sweep" / "only")
    assert (merged["status"], merged["counts"]["finished"], merged["id"]) == ("complete", 6, id_before)
    assert sum(count_calls(home).values()) == 6
    again = home.run(*words)
    assert "1 of them finished before" in again.err
    assert sum(count_calls(home).values()) == 6


@slow
def test_shard_that_stops_early_is_named_and_resumed(home):
    busy = RecordWriter(home.path / "sweep" / "only" / "parts" / "2-of-2")
    done = home.run("run.shards=2", "hydra.sweep.dir=sweep")
    assert done.code == 1
    assert "1 of 2 parts failed: part 2-of-2: " in done.err and "is in use by another process" in done.err
    assert not (home.path / "sweep" / "only" / "records.jsonl").exists()
    busy.close()
    again = home.run("run.shards=2", "hydra.sweep.dir=sweep")
    assert (again.code, "; 1 parts remain" in again.err) == (0, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run.shards=5"], "run.shards=5: there are 4 samples"),
        (["run.shards=0"], "run.shards: found 0"),
        (["run.shards=2", "run.shard=1/2"], "run.shard runs one part of a job, run.shards all of them"),
    ],
)
def test_job_that_cannot_be_sharded_is_refused(home, words, message):
    done = home.run(*words)
    assert (done.code, message in done.complaint) == (2, True)
    assert not (home.path / "outputs").exists()


@slow
def test_shards_in_a_file_require_a_sweep(home):
    home.write("experiment/parted", "# @package _global_\ndefaults: [own]\nrun: {shards: 2}")
    words = ("--config-dir", "conf", "experiment=parted", "hydra.sweep.dir=sweep")
    assert "run.shards=2 makes a sweep of 2 parts, which needs -m" in home.run(*words, plain=True).complaint
    assert home.run("-m", *words, plain=True).code == 0
    assert len(list((home.path / "sweep" / "only" / "parts").iterdir())) == 2


@slow
def test_folder_is_resumed_with_its_original_shards(home):
    assert home.run("run.shards=2", "hydra.sweep.dir=sweep", "budget.run.calls=2").code == 3
    for words in (["-m", "seed=0"], ["run.shards=3"]):
        done = home.run(*words, "hydra.sweep.dir=sweep")
        assert done.code == 2
        assert "was started in 2 parts; resume with run.shards=2" in done.complaint
    assert home.run("-m", "seed=0", "hydra.sweep.dir=whole", "budget.run.calls=2").code == 3
    done = home.run("run.shards=2", "hydra.sweep.dir=whole")
    assert "was started undivided; resume without run.shards" in done.complaint
