"""What ``search`` may say."""

import pytest

from components.core.errors import ConfigError
from runner.config.build import check
from runner.sweep.search_space import Dimension, Search

GOOD = {"objectives": {"score": "maximise"}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"objectives": None}, "objectives is empty"),
        ({"objectives": {"score": "up"}}, "search.objectives.score: found 'up', valid: maximise"),
        ({"trials": 0}, "search.trials"),
        ({"trials": None}, "trials is null, but only a grid has an end"),
        ({"sampler": "tpee"}, "did you mean tpe?"),
        ({"trails": 5}, "search.trails: no such key; did you mean trials?"),
        ({"objectives": {"a": "maximise", "b": "minimise"}, "prune_after": 5}, "several objectives"),
        ({"space": {"a.n": {"low": 3, "high": 1}}}, "search.space.a.n: low=3 should be below high=1"),
        ({"space": {"a.n": {"low": 1}}}, "low and high must both be given"),
        ({"space": {"a.n": {"low": 1, "high": "x"}}}, "search.space.a.n.high: found 'x'"),
        ({"space": {"a.n": {"low": 1, "high": 2, "choices": [1]}}}, "either choices or low and high"),
        ({"space": {"a.n": {"choices": []}}}, "nothing to choose from"),
        ({"space": {"a.n": {"low": 0, "high": 2, "log": True}}}, "log needs ends above 0"),
        ({"space": {"a.n": {"low": 1, "high": 2, "log": True, "step": 1}}}, "log and step do not go together"),
        ({"space": {"a.n": {"low": 0, "high": 2, "step": 3}}}, "step=3 should be above 0 and at most"),
        ({"space": {"a.n": {"low": 0.5, "high": 2, "int": True}}}, "need a whole low, high and step"),
    ],
)
def test_what_makes_no_sense_is_refused(given, said):
    with pytest.raises(ConfigError) as caught:
        check(Search, GOOD | given, "search")
    assert said in str(caught.value)


def test_both_spellings_of_a_direction_are_read():
    objectives = {"a": "maximise", "b": "maximize", "c": "minimise", "d": "minimize"}
    assert check(Search, {"objectives": objectives}).maximised == {"a": True, "b": True, "c": False, "d": False}


def test_steps_end_at_the_last_value_that_they_reach():
    assert Dimension(0, 1, 0.3).highest == 0.9 and Dimension(0, 1, 0.1).highest == 1 and Dimension(1, 8).highest == 8
