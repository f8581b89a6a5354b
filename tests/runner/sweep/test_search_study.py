"""The study: the next trial, and stored trials."""

import warnings

import pytest

from components.core.errors import ConfigError
from runner.sweep.search_space import Dimension, Search
from runner.sweep.search_study import FILE, Study

pytest.importorskip("optuna", reason="comes with the extra optuna")
SPACE = {
    "n": Dimension(1, 8, None, False, True),
    "t": Dimension(0.01, 1, None, True, False),
    "s": Dimension(choices=("a", "b")),
}


def search(**more):
    return Search(**{"objectives": {"score": "maximise"}, "trials": 6} | more)


def value(point):
    return point["n"] * point["t"]


def test_trials_are_stored_and_reopened_with_the_same_values(tmp_path):
    with warnings.catch_warnings(), Study(tmp_path, search(), SPACE) as study:
        warnings.simplefilter("error")
        proposed = study.ask(4)
        assert [one.number for one in proposed] == [0, 1, 2, 3]
        assert all(1 <= one.point["n"] <= 8 and 0.01 <= one.point["t"] <= 1 for one in proposed)
        study.complete(0, [0.5])
        study.complete(1, None)
        study.prune(2)
        study.prune(3, (8, 0.25))
    with Study(tmp_path, search(), SPACE) as study:
        before = study.trials
        assert [one.state for one in before] == ["complete", "failed", "pruned", "pruned"]
        assert [one.stopped_early for one in before] == [False, False, False, True] and before[0].values == [0.5]
        study.reopen({1, 2})
        assert [one.state for one in study.trials] == ["complete", "running", "running", "pruned"]
        assert [one.point for one in study.trials] == [one.point for one in before]
        assert sorted(path.name for path in tmp_path.iterdir()) == [FILE]


@pytest.mark.parametrize("sampler", ["tpe", "random", "nsga2"])
def test_every_trial_is_drawn_by_seed_and_number(tmp_path, sampler):
    def drawn(name, **more):
        with Study(tmp_path / name, search(sampler=sampler, trials=3, **more), SPACE) as study:
            for trial in study.ask(3):
                study.complete(trial.number, [value(trial.point)])
            return [one.point for one in study.trials]

    first = drawn("a")
    assert first == drawn("b") != drawn("c", seed=1)
    assert len({one["t"] for one in first}) == 3


def test_best_trial_and_parameter_importance_are_reported(tmp_path):
    with Study(tmp_path, search(objectives={"score": "maximise", "cost": "minimise"}), SPACE) as study:
        assert study.best == [] and study.importance() == {}
        for trial, values in zip(study.ask(4), [[0.5, 2], [0.5, 3], [0.9, 5], [0.1, 2]], strict=True):
            study.complete(trial.number, values)
        assert sorted(study.best) == [0, 2]
        shares = study.importance()
        assert shares.keys() == {"score", "cost"} and sum(shares["score"].values()) == pytest.approx(1)


def test_equally_good_trials_are_all_the_best(tmp_path):
    with Study(tmp_path, search(objectives={"cost": "minimise"}), SPACE) as study:
        for trial, found in zip(study.ask(3), [2, 1, 1], strict=True):
            study.complete(trial.number, [found])
        assert study.best == [1, 2]


def test_grid_ends_after_every_point(tmp_path):
    space = {"n": Dimension(1, 3, None, False, True), "s": Dimension(choices=("a", "b"))}
    with Study(tmp_path, search(sampler="grid", trials=99), space) as study:
        proposed = study.ask(study.wanted)
        assert len({tuple(one.point.items()) for one in proposed}) == study.wanted == 6


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"objectives": {"other": "maximise"}}, r"search\.objectives was {'score': 'maximise'}, now it is {'other'"),
        ({"seed": 1}, "search.seed was 0, now it is 1; give another hydra.sweep.dir"),
    ],
)
def test_a_file_of_another_search_is_refused(tmp_path, more, message):
    with Study(tmp_path, search(), SPACE):
        pass
    with pytest.raises(ConfigError, match=message):
        Study(tmp_path, search(**more), SPACE).__enter__()
