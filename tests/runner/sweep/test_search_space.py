"""Search spaces, from YAML and in Hydra's syntax."""

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from components.core.errors import ConfigError
from runner.config.build import check
from runner.sweep.search_space import Dimension, Search, corners, grid_of, space_of, words_at
from tests.table import each_row

PRESENT = {"agent.n": 1, "agent.t": 0.5, "agent.on": True}


def space(*words, **written):
    search = check(Search, {"objectives": {"score": "maximise"}, "space": written}, "search")
    return space_of(search.space or {}, OverridesParser.create().parse_overrides(list(words)), PRESENT.get)


@each_row(
    "word, found",
    [
        ("agent.n=interval(1,8)", Dimension(1, 8, None, False, True)),
        ("agent.t=interval(1,8)", Dimension(1, 8, None, False, False)),
        ("agent.t=int(interval(1,8))", Dimension(1, 8, None, False, True)),
        ("agent.n=interval(0.5,8)", Dimension(0.5, 8, None, False, False)),
        ("agent.t=tag(log,interval(0.01,1))", Dimension(0.01, 1, None, True, False)),
        ("agent.n=tag(log,range(1,9))", Dimension(1, 8, None, True, True)),
        ("agent.n=range(1,8,3)", Dimension(1, 7, 3, False, True)),
        ("agent.n=shuffle(range(8,1,-3))", Dimension(2, 8, 3, False, True)),
        ("agent.t=range(0,1,0.25)", Dimension(0, 0.75, 0.25, False, False)),
        ("agent=react,cot", Dimension(choices=("react", "cot"))),
        ("agent@agent.inner=choice(a,b)", Dimension(choices=("a", "b"))),
        ("agent.s='a b',c", Dimension(choices=("'a b'", "c"))),
        ("agent.n=range(3,4)", Dimension(choices=("3",))),
    ],
)
def test_ranges_on_the_command_line_use_hydra_syntax(word, found):
    assert space(word) == {word.partition("=")[0]: found}


def test_ranges_in_a_file_are_typed_by_the_config_value():
    made = space(
        **{
            "agent.n": {"low": 1, "high": 8},
            "agent.t": {"low": 0, "high": 1, "step": 0.3},
            "agent.on": {"choices": [True, None, "true", 1.5, "a b", [1, "x"]]},
        }
    )
    assert made["agent.n"] == Dimension(1, 8, None, False, True)
    assert made["agent.t"] == Dimension(0, 0.9, 0.3, False, False)
    assert made["agent.on"] == Dimension(choices=("true", "null", "'true'", "1.5", "'a b'", "[1,x]"))


def test_values_of_a_file_round_trip():
    values = [True, None, "true", "007", 1.5, "a,b", [1, "x y"], {"k": "v"}, "x=$y", "plain"]
    made = space(**{"agent.on": {"choices": values}})["agent.on"]
    parser = OverridesParser.create()
    assert [parser.parse_override(f"k={word}").value() for word in made.choices] == values


def test_command_line_overrides_the_file():
    written = {"agent.n": {"low": 1, "high": 8}, "agent.t": {"low": 0, "high": 1}}
    assert list(space("agent.n=3", **written)) == ["agent.t"]
    assert space("agent.n=1,2", **written)["agent.n"] == Dimension(choices=("1", "2"))


def test_numbers_are_formatted_by_type():
    made = Dimension(0, 1, None, False, False)
    assert [made.word(one) for one in (1.0, 0.1 + 0.2, 1e-9)] == ["1.0", "0.3", "1e-09"]
    assert Dimension(0, 9, None, False, True).word(3.0) == "3"


def test_a_grid_has_every_point_once_and_corners_every_end():
    made = space("agent.n=range(1,4)", "agent.t=range(0,1,0.5)", "agent=a,b")
    points = [tuple(words_at(made, point).values()) for point in grid_of(made)]
    assert len(points) == len(set(points)) == 12 and ("2", "0.5", "b") in points
    assert [tuple(one.values()) for one in corners(made)] == [(1, 0, "a"), (3, 0, "a"), (1, 0.5, "a"), (1, 0, "b")]


@pytest.mark.parametrize(
    ("words", "message"),
    [(["agent.t=interval(0,1)"], "agent.t has no step"), (["agent.n=range(0,20000)"], "20,000 points")],
)
def test_infinite_grid_is_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        grid_of(space(*words))


@each_row(
    "words, message",
    [
        ([], "search.space: is empty: there is nothing to search"),
        (["agent.n=3"], "search.space: is empty"),
        (["agent.n=1,2", "+agent.n=3"], "agent.n is given twice"),
        (["agent.n=interval(8,1)"], "low=8 should be below high=1"),
        (["agent.n=range(1,1)"], "there is no such value"),
        (["agent.t=tag(log,interval(0,1))"], "log needs bounds above 0"),
        (["agent.s=a,b,a"], "agent.s: the choice a is given twice"),
    ],
)
def test_invalid_space_is_refused(words, message):
    with pytest.raises(ConfigError) as caught:
        space(*words)
    assert message in str(caught.value)


GOOD = {"objectives": {"score": "maximise"}}


@each_row(
    "given, message",
    [
        ({"objectives": None}, "objectives is empty"),
        ({"objectives": {"score": "up"}}, "search.objectives.score: found 'up', valid: maximise"),
        ({"trials": 0}, "search.trials"),
        ({"trials": None}, "trials is null, but only a grid is finite"),
        ({"sampler": "tpee"}, "did you mean tpe?"),
        ({"trails": 5}, "search.trails: no such key; did you mean trials?"),
        ({"objectives": {"a": "maximise", "b": "minimise"}, "prune_after": 5}, "several objectives"),
        ({"space": {"a.n": {"low": 3, "high": 1}}}, "search.space.a.n: low=3 should be below high=1"),
        ({"space": {"a.n": {"low": 1}}}, "low and high must both be given"),
        ({"space": {"a.n": {"low": 1, "high": "x"}}}, "search.space.a.n.high: found 'x'"),
        ({"space": {"a.n": {"low": 1, "high": 2, "choices": [1]}}}, "either choices or low and high"),
        ({"space": {"a.n": {"choices": []}}}, "nothing to choose from"),
        ({"space": {"a.n": {"low": 0, "high": 2, "log": True}}}, "log needs bounds above 0"),
        ({"space": {"a.n": {"low": 1, "high": 2, "log": True, "step": 1}}}, "log and step do not go together"),
        ({"space": {"a.n": {"low": 0, "high": 2, "step": 3}}}, "step=3 should be above 0 and at most"),
        ({"space": {"a.n": {"low": 0.5, "high": 2, "int": True}}}, "need a whole low, high and step"),
    ],
)
def test_contradictory_search_settings_are_refused(given, message):
    with pytest.raises(ConfigError) as caught:
        check(Search, GOOD | given, "search")
    assert message in str(caught.value)


def test_both_spellings_of_a_direction_are_read():
    objectives = {"a": "maximise", "b": "maximize", "c": "minimise", "d": "minimize"}
    assert check(Search, {"objectives": objectives}).maximised == {"a": True, "b": True, "c": False, "d": False}


def test_steps_end_at_the_last_value_that_they_reach():
    highest = [Dimension(*given).resolved(None).high for given in ((0, 1, 0.3), (0, 1, 0.1), (1, 8))]
    assert highest == [0.9, 1, 8]
