"""The end of a sweep compares methods with the statistics of ``python -m runner.compare``."""

import pytest

from runner.results.grid import MEAN, grid_of
from runner.results.sections.comparisons import show_methods
from runner.results.versus import compare_rows, improvements
from tests.runner.results.sweeps import job

STEPS = {"react": [0.0, 1.0, 0.0, 2.0, 0.0], "direct": [4.0, 5.0, 3.0, 4.0, 6.0], "cot": [2.0, 2.0, 1.0, 3.0, 2.0]}


@pytest.fixture
def runs(tmp_path):
    return [job(tmp_path, values, agent, score="steps", lower=["steps"]) for agent, values in STEPS.items()]


def test_lower_is_a_gain_where_low_is_better(runs):
    found = improvements(grid_of(runs))["cab"]
    assert {label: one.against for label, one in found.items()} == {"react": "cot", "direct": "react", "cot": "react"}
    assert found["react"].difference.metric.value == pytest.approx(1.4) and (
        found["react"].difference.wins,
        found["react"].difference.losses,
    ) == (5, 0)
    assert found["direct"].difference.metric.value < 0 and (
        found["direct"].difference.wins,
        found["direct"].difference.losses,
    ) == (0, 5)


def test_sweep_end_and_compare_command_agree(runs):
    at_end = improvements(grid_of(runs), ["direct"])["cab"]
    for one in compare_rows(grid_of(runs), baselines=["direct"]).comparisons:
        same = at_end[one.mine].difference
        assert (same.metric, same.p, same.wins, same.losses) == (
            one.difference.metric,
            one.difference.p,
            one.difference.wins,
            one.difference.losses,
        )


def test_table_shows_the_direction(runs, capsys):
    show_methods(runs)
    out = capsys.readouterr().out
    assert "lower is better: steps" in out and "a gain is a decrease of steps" in out


def test_mean_over_datasets_follows_the_direction(tmp_path):
    runs = [
        job(tmp_path, [one + n for one in STEPS[agent]], agent, dataset=name, score="steps", lower=["steps"],
            varied={"dataset": name})
        for agent in ("react", "direct") for n, name in enumerate(("medicine", "surgery"))
    ]  # fmt: skip
    found = improvements(grid_of(runs))[MEAN]
    assert found["react"].difference.metric.value == pytest.approx(3.8) and found["react"].difference.wins == 10


def test_a_method_is_compared_with_the_baseline_in_its_own_condition(tmp_path):
    values = {
        ("plain", "easy"): [1, 1, 1],
        ("shots", "easy"): [1, 1, 0],
        ("plain", "hard"): [0, 0, 1],
        ("shots", "hard"): [1, 0, 1],
    }
    runs = [job(tmp_path, of, agent, varied={"condition": condition}) for (agent, condition), of in values.items()]
    found = improvements(grid_of(runs), ["plain"])["cab"]
    assert {label: (one.against, one.difference.wins, one.difference.losses) for label, one in found.items()} == {
        "shots easy": ("plain easy", 0, 1), "shots hard": ("plain hard", 1, 0),
    }  # fmt: skip
