"""A search from the command line to its table, resumed, and stopped."""

import json
import sys
from importlib.util import find_spec

import pytest

from tests.runner.sweep.conftest import SEARCH
from tests.table import each_row

SPACE = ("agent.quality=interval(0,1)", "agent.times=range(1,4)")
needs_optuna = pytest.mark.skipif(find_spec("optuna") is None, reason="comes with the extra optuna")


def read_search(home, folder="sweep"):
    return json.loads((home.path / folder / "search.json").read_text())


def points(home, folder="sweep"):
    return [trial["values"] for trial in read_search(home, folder)["trials"]]


def states(home):
    return [trial["state"] for trial in read_search(home)["trials"]]


def test_without_the_extra_one_line_names_it(tuned, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = tuned.run(*SEARCH, *SPACE)
    assert (done.code, done.complaint) == (2, "hydra/sweeper=optuna needs an extra: pip install 'wardround[optuna]'")
    assert not (tuned.path / "sweep").exists()


@needs_optuna
def test_search_runs_ordinary_jobs_and_resumes_deterministically(tuned):
    whole = tuned.run(*SEARCH, *SPACE, "search.trials=4", "search.at_once=2", "hydra.sweep.dir=whole")
    assert whole.code == 0, whole.err
    first = tuned.run(*SEARCH, *SPACE, "search.trials=3", "search.at_once=2")
    assert first.code == 0 and len(points(tuned)) == 3
    manifest = (tuned.path / "sweep" / "trial-0002" / "manifest.json").read_bytes()
    again = tuned.run(*SEARCH, *SPACE, "search.trials=4", "search.at_once=2")
    assert again.code == 0, again.err
    assert "search of 4 trials, 3 of them earlier" in again.err
    assert points(tuned) == points(tuned, "whole"), "a fixed seed gives the same trials"
    assert (tuned.path / "sweep" / "trial-0002" / "manifest.json").read_bytes() == manifest

    notes = json.loads(manifest)
    assert notes["varied"].items() >= points(tuned)[2].items() and "search" not in notes["varied"]
    assert notes["swept"] == ["agent.quality", "agent.times"] and notes["sweep"] == "sweep"
    assert "search" not in (tuned.path / "sweep" / "trial-0002" / "config.yaml").read_text()
    assert (tuned.path / "sweep" / "study.sqlite").is_file() and "the best 4 of 4 trials (4 complete)" in again.out
    scores = [trial["objectives"]["score/strict"]["value"] for trial in read_search(tuned)["trials"]]
    assert read_search(tuned)["best"] == [n for n, score in enumerate(scores) if score == max(scores)]
    shares = read_search(tuned)["importance"]["score/strict"]
    assert sum(shares.values()) == pytest.approx(1) and read_search(tuned)["importance_from"] == 4
    assert "(PED-ANOVA over 4 complete trials; few: take it as a hint)" in again.out
    assert "report:     sweep/report.html" in again.out and "simulated model: these numbers" in again.out
    written = (tuned.path / "sweep" / "report.md").read_text()
    assert all(f"quality={point['agent.quality']} times={point['agent.times']} " in written for point in points(tuned))


@needs_optuna
def test_trials_may_be_sharded(tuned):
    done = tuned.run(*SEARCH, "agent.quality=interval(0,1)", "search.trials=2", "limit=4", "run.shards=2")
    assert done.code == 0 and states(tuned) == ["complete", "complete"], done.err
    assert len((tuned.path / "sweep" / "trial-0001" / "records.jsonl").read_text().splitlines()) == 4


@needs_optuna
def test_several_objectives_give_the_pareto_front(tuned):
    tuned.write(
        "experiment/search",
        "# @package _global_\ndefaults: [own, override /agent: tuned]\n"
        "dataset: {n: 20}\nsearch:\n  sampler: grid\n  trials: null\n  at_once: 6\n"
        "  objectives: {score/strict: maximise, calls/total: minimise}\n"
        "  space: {agent.quality: {low: 0.5, high: 1, step: 0.25}, agent.times: {choices: [1, 2]}}",
    )
    done = tuned.run("--config-dir", "conf", "experiment=search", *SEARCH[:1], "hydra.sweep.dir=sweep", plain=True)
    assert done.code == 0, done.err
    found = points(tuned)
    assert len(found) == len({tuple(point.values()) for point in found}) == 6
    (best,) = read_search(tuned)["best"]
    assert found[best] == {"agent.quality": "1.0", "agent.times": "1"}
    assert "the Pareto front of 6 trials (6 complete)" in done.out and "calls/total \N{DOWNWARDS ARROW}" in done.out


@needs_optuna
def test_budget_stops_a_search_and_resuming_finishes_its_trials(tuned):
    words = (*SEARCH, "agent.quality=interval(0,1)", "search.trials=3", "model.max_connections=1")
    stopped = tuned.run(*words, "budget.run.calls=30")
    assert stopped.code == 3 and states(tuned) == ["complete", "pruned"], "the budget applies to the whole search"
    before = points(tuned)
    manifest = tuned.manifest(tuned.path / "sweep" / "trial-0001")
    assert (manifest["status"], manifest["counts"]["finished"]) == ("budget", 10)
    assert "hydra.sweep.dir=sweep" in stopped.err.splitlines()[-1]
    on = tuned.run(*words)
    assert on.code == 0 and states(tuned) == ["complete"] * 3, on.err
    assert points(tuned)[:2] == before
    assert tuned.manifest(tuned.path / "sweep" / "trial-0001")["calls"]["sent"] == 20, "nothing is paid twice"


@needs_optuna
def test_failed_trial_stops_no_other_and_is_run_again(tuned):
    (tuned.path / "broken").write_text("2")
    words = (*SEARCH, "agent.times=range(1,4)", "search.sampler=grid", "search.at_once=2", "limit=2")
    done = tuned.run(*words)
    assert done.code == 1 and sorted(states(tuned)) == ["complete", "complete", "failed"]
    failed = states(tuned).index("failed")
    assert f"job trial-{failed:04} ended with exit code 1" in done.err
    (tuned.path / "broken").unlink()
    again = tuned.run(*words)
    assert again.code == 0 and states(tuned) == ["complete"] * 3, again.err


@needs_optuna
def test_interrupted_trial_is_run_again_with_the_same_values(tuned):
    (tuned.path / "stop").write_text("2")
    words = (*SEARCH, "agent.times=range(1,4)", "agent.quality=interval(0,1)", "search.trials=3", "limit=2")
    done = tuned.run(*words)
    assert done.code == 130 and not (tuned.path / "sweep" / "search.json").exists()
    assert "hydra.sweep.dir=sweep" in done.err.splitlines()[-1]
    assert tuned.run(*words).code == 0 and states(tuned) == ["complete"] * 3
    assert tuned.run(*words, "hydra.sweep.dir=whole").code == 0
    assert points(tuned) == points(tuned, "whole")


@needs_optuna
def test_trial_that_cannot_be_the_best_is_pruned(tuned):
    words = (*SEARCH, "scorer=proportion", "agent.quality=1,0", "search.sampler=grid", "search.prune_after=8",
             "model.max_connections=1")  # fmt: skip
    seed = next(n for n in range(9) if _first(n) == 0)  # the better one comes first
    done = tuned.run(*words, f"search.seed={seed}")
    assert done.code == 0 and states(tuned) == ["complete", "pruned"], done.err
    manifest = tuned.manifest(tuned.path / "sweep" / "trial-0001")
    assert manifest["counts"]["finished"] == 8
    assert manifest["stopped"].startswith(
        "pruned: score/strict after 8 samples is 0.000 to 0.324, the best trial's 0.8"
    )
    again = tuned.run(*words, f"search.seed={seed}")
    assert again.code == 0 and states(tuned) == ["complete", "pruned"], "it is not run again"
    assert tuned.manifest(tuned.path / "sweep" / "trial-0001") == manifest


def _first(seed):
    """Which of two points a grid of this seed begins with."""
    import random

    order = [0, 1]
    random.Random(f"{seed}/grid").shuffle(order)
    return order[0]


@needs_optuna
def test_unknown_metric_is_refused_with_a_suggestion_and_keeps_the_trial(tuned):
    words = ("agent.quality=interval(0,1)", "search.trials=1", "limit=2")
    done = tuned.run(*SEARCH[:-1], *words, "search.objectives={score/strikt:maximise}")
    assert done.code == 2 and done.complaint.startswith(
        "search.objectives: the trials have no metric 'score/strikt'; did you mean score/strict?"
    )
    assert tuned.run(*SEARCH, *words).code == 0
    assert tuned.manifest(tuned.path / "sweep" / "trial-0000")["calls"]["sent"] == 2, "nothing is paid twice"


@needs_optuna
@each_row(
    "words, message",
    [
        (("agent.qualty=interval(0,1)",), "agent.qualty: no such key; did you mean quality?"),
        (("agent.quality=interval(0,3)",), "agent.quality: found 3.0, should be less than or equal to 1"),
        (("agent=tuned,nope",), "agent has no choice 'nope'"),
        ((), "search.space: is empty"),
        (("agent.times=1,2", "search.trials=x"), "command line: search.trials=x: search.trials: found 'x'"),
        (("agent.times=1,2", "search.objectives={a:maximise,a:minimise}"), "search.objectives: a is given twice"),
        (("agent.times=1,2", "run.preflight=true", "run.journal=j"), "run.preflight estimates known jobs"),
        (("agent.times=1,2", "hydra/launcher=basic", "search.prune_after=3"), "which needs hydra/launcher=wardround"),
        (("agent.times=1,2", "run.shards=2", "search.prune_after=3"), "needs whole trials, which run.shards divides"),
        (("agent.times=1,2", "search.trials=1,2"), "search.trials=1,2: a search has one value"),
        (("agent.times=1,2", "search=3"), "search is a mapping of settings"),
    ],
)
def test_invalid_search_is_refused_before_any_trial(tuned, words, message):
    keys = {word.partition("=")[0] for word in words}
    done = tuned.run(*(one for one in SEARCH if one.partition("=")[0] not in keys), *words)
    assert done.code == 2 and message in done.complaint, done.err
    assert not (tuned.path / "sweep").exists()


@needs_optuna
def test_another_search_in_the_same_folder_is_refused(tuned):
    assert tuned.run(*SEARCH, "agent.times=1,2", "search.trials=1", "limit=1").code == 0
    other = tuned.run(*SEARCH, "agent.times=1,3", "search.trials=1", "limit=1")
    assert other.code == 2 and "is of another search: search.space was" in other.complaint
    changed = tuned.run(*SEARCH, "agent.times=1,2", "search.trials=1", "limit=2")
    assert changed.code == 2 and "limit was 1, now is 2" in changed.complaint
