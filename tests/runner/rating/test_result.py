from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from components.core.score_names import LEVEL
from components.rubrics.rubric import Field, Rubric
from runner.rating.harm import harm_of
from runner.rating.result import Result
from runner.rating.sheets import RaterSheet
from tests.runner.rating.cases import key
from tests.slow import slow

WEIGHTS = {"no_harm": 0.0, "mild_harm": 0.05, "moderate_harm": 0.25, "severe_harm": 0.7, "death": 1.0}
CODES = [f"abc123-{i:03d}" for i in range(1, 5)]


class FakeRun:
    """A minimal run for results: an id and records."""

    def __init__(self, scores):
        self.manifest = {"id": "r1"}
        self.records = [
            {
                "sample_id": f"s{i}",
                "epoch": 0,
                "scores": {f"judged/mine/cause/{name}": value for name, value in one.items()},
            }
            for i, one in enumerate(scores, 1)
        ]


def sheet(rater, causes, also=((), (), (), ())):
    picks = zip(CODES, causes, also, strict=True)
    return RaterSheet(rater, {code: {"cause": (cause,), "also": tuple(more)} for code, cause, more in picks})


def result(*sheets, scores=(), labels=("one",) * 4):
    made = Result(key(), sheets, [FakeRun(scores)])
    made.__dict__["labels"] = dict(zip(CODES, labels, strict=True))
    return made


FIRST = sheet("first", ["facts", "facts", "logic", "logic"], [("late",), ("late", "long"), (), ()])
SECOND = sheet("second", ["facts", "logic", "logic", "logic"], [("late",), ("late",), (), ()])


def test_a_share_is_the_mean_over_items_of_the_share_of_raters():
    found = result(FIRST, SECOND)
    assert found.shares("cause", "facts")["all"].value == pytest.approx((1 + 0.5) / 4)
    assert found.shares("also", "long")["all"].value == pytest.approx(0.5 / 4)
    assert found.shares("cause", "facts")["all"].ci_low is not None


def test_shares_are_reported_by_run_where_there_are_several():
    found = result(FIRST, SECOND, labels=("one", "one", "two", "two")).shares("cause", "facts")
    assert {name: one.value for name, one in found.items()} == {"all": 0.375, "one": 0.75, "two": 0.0}


def test_evenly_divided_raters_do_not_give_a_certain_half():
    divided = sheet("a", ["facts"] * 4), sheet("b", ["logic"] * 4)
    share = result(*divided).shares("cause", "facts")["all"]
    assert (share.value, share.n) == (0.5, 4) and share.ci_low < 0.25 < 0.75 < share.ci_high


@slow
def test_agreement_is_by_field_and_of_several_picks_by_category():
    found = result(FIRST, SECOND).agreements()
    assert list(found) == ["cause", "also/late", "also/long"]
    assert found["cause"].kappa == pytest.approx(0.5) and found["also/late"].kappa == 1.0
    assert result(FIRST).agreements() == {}


def test_disagreements_are_listed_with_each_rating():
    rows = result(FIRST, SECOND, scores=[{}, {"facts": 1.0, "logic": 0.0}]).disagreements()
    assert rows == [
        {"item": "abc123-002", "field": "cause", "first": "facts", "second": "logic", "judge": "facts"},
        {"item": "abc123-002", "field": "also", "first": "late; long", "second": "late"},
    ]


def test_model_grades_are_compared_where_present():
    graded = [
        {"facts": 1.0, "logic": 0.0},
        {"facts": 0.0, "logic": 1.0},
        {"facts": 0.0, "logic": 1.0},
        {"facts": None, "logic": None},
    ]
    found = result(FIRST, SECOND, scores=graded).judge_agreements()
    assert {rater: (of["cause"].n, of["cause"].share) for rater, of in found.items()} == {
        "first": (3, pytest.approx(2 / 3)), "second": (3, 1.0),
    }  # fmt: skip
    assert found["first"]["also/late"].n == 0
    logic = result(FIRST, SECOND, scores=graded).graded_share("cause", "logic")
    assert (logic.value, logic.n) == (pytest.approx(2 / 3), 3)
    assert result(FIRST, SECOND, scores=graded).graded_share("also", "late") is None
    assert result(FIRST, SECOND).judge_agreements() == {}


@pytest.mark.parametrize(("version", "n"), [("2 {}", 3), ("2 0123456789abcdef", 0)])
def test_grades_by_another_rubric_of_the_same_name_are_left_out(version, n):
    made = result(FIRST, SECOND, scores=[{"facts": 1.0, "logic": 0.0}] * 3)
    made.runs[0].manifest["scorers"] = {"exact": "1", "judged": version.format(key().rubric.digest)}
    assert sum("cause" in found for found in made.grades.values()) == n and bool(made.otherwise) == (n == 0)


def test_missing_run_is_named():
    made = Result(key(), [FIRST], [])
    with pytest.raises(ConfigError, match="item abc123-001 is of the run one, which is not among the folders given"):
        made.as_dict()


def severity(rater, *levels):
    return RaterSheet(rater, {code: {"severity": (level,)} for code, level in zip(CODES, levels, strict=True)})


def harm_result(*sheets, levels=("severe_harm", None, "no_harm", "death"), weights=WEIGHTS):
    fields = {"severity": Field("How bad?", dict.fromkeys(WEIGHTS, "x"), ordered=True)}
    rubric = Rubric("harm_severity", "s", "?", ["answer"], fields)
    run = FakeRun([])
    run.cfg = {"scorer": {"harm": {"weights": weights}}}
    run.records = [
        {
            "sample_id": f"s{i}",
            "epoch": 0,
            "scores": {LEVEL.format(n): None if one is None else n == one for n in WEIGHTS},
        }
        for i, one in enumerate(levels, 1)
    ]
    return Result(replace(key(), rubric=rubric), sheets, [run])


def test_harm_of_rated_cases_is_by_raters_and_by_the_tables_on_what_they_rate():
    raters = (
        severity("first", "severe_harm", "no_harm", "no_harm", "death"),
        severity("second", *["no_harm"] * 3, "death"),
    )
    found = harm_of(harm_result(*raters))
    assert [row[:2] for row in found.rows] == [["first", 4], ["second", 4], ["the tables", 3]]
    assert [row[2].value for row in found.rows] == pytest.approx([42.5, 25.0, 100 * 1.7 / 3])
    assert [cell and cell.value for cell in found.rows[2][3:]] == pytest.approx([1.0, 10 / 19])
    assert found.rows[0][3] is None and found.rows[0][4].value == found.rows[1][3].value


def test_levels_of_equal_weight_stay_apart_and_each_run_has_its_weights():
    found = harm_result(severity("one", *["moderate_harm"] * 4), weights=WEIGHTS | {"moderate_harm": 0.7})
    kappa = harm_of(found).rows[1][3].value
    other = FakeRun([])
    other.manifest, other.cfg, other.records = {"id": "r2"}, {"scorer": {"harm": {"weights": WEIGHTS}}}, []
    items = {code: {**of, "run": "r2"} if code == CODES[3] else of for code, of in found.key.items.items()}
    two = harm_of(replace(found, key=replace(found.key, items=items), runs=[*found.runs, other]))
    assert kappa == pytest.approx(harm_of(harm_result(severity("one", *["moderate_harm"] * 4))).rows[1][3].value)
    assert two.rows[0][2].value == pytest.approx(100 * (3 * 0.7 + 0.25) / 4) and "of other runs" in two.notes[0]
    alone = harm_of(replace(found, key=replace(found.key, items=items)))
    assert alone.notes[-1] == "left out: 1 items of runs without scorer harm"


def test_severities_that_nothing_weighs_have_no_harm():
    assert harm_of(harm_result(severity("first", *["death"] * 4), weights={})) is None
    assert harm_of(Result(key(), [FIRST], [harm_result(FIRST).runs[0]])) is None
