import json
import shutil

import pytest

from components.core.errors import ConfigError
from runner.rating.command import judge_lines
from tests.runner.rating.cases import fill
from tests.slow import slow

METRICS = dict.fromkeys(["score/strict", "judged/mine/cause/facts", "judged/mine/cause/logic", "judged/mine/also/late"])
KAPPA = {"n": 8, "kappa": 0.25, "ci_low": -0.1, "ci_high": 0.6}
SURE = {"n": 8, "kappa": 1.0, "ci_low": None, "ci_high": None}


def keep(folder, judge, agreement):
    place = folder / "ratings" / "mine"
    place.mkdir(parents=True)
    (place / "ratings.json").write_text(json.dumps({"judge": judge, "agreement": agreement, "graded": ["r1"]}))


def test_model_grades_are_shown_with_kappa_to_and_among_raters(tmp_path):
    marks = {"cause": KAPPA, "also/late": SURE, "also/long": SURE}
    keep(tmp_path, {"ann": marks, "ben": marks}, marks)
    wanted = (
        "judged/mine/cause: kappa of the model 0.2500 (-0.100 to 0.600) with ann, 0.2500 (-0.100 to 0.600) with ben,"
        " 0.2500 (-0.100 to 0.600) of raters with each other; 8 items"
    )
    lines = judge_lines(tmp_path, "r1", METRICS)
    assert lines[0] == wanted and [line.partition(":")[0] for line in lines[1:]] == [
        "judged/mine/also/late", "judged/mine/also/long",
    ]  # fmt: skip
    assert judge_lines(tmp_path / "cell-of-the-sweep", "r1", METRICS) == lines
    assert "not checked by people here" in judge_lines(tmp_path / "another-cell", "r2", METRICS)[0]


@pytest.mark.parametrize("raters", [None, {}])
def test_unchecked_grades_are_marked_and_missing_grades_add_no_line(tmp_path, raters):
    if raters is not None:
        keep(tmp_path, raters, {})
    message = "judged/mine: a model's grades, not checked by people here: runner.report annotate mine"
    assert (
        judge_lines(tmp_path, "r1", METRICS) == [message] and judge_lines(tmp_path, "r1", {"score/strict": None}) == []
    )


def test_damaged_ratings_are_named(tmp_path):
    keep(tmp_path, {}, {})
    (tmp_path / "ratings" / "mine" / "ratings.json").write_text("{")
    with pytest.raises(ConfigError, match=r"ratings\.json is damaged"):
        judge_lines(tmp_path, "r1", METRICS)


@slow
def test_run_report_shows_agreement_once_raters_are_read(rated):
    run = shutil.copytree(rated.one, rated.path / "run")
    assert "not checked by people here" in rated.report("table", run)[1]
    rated.report("annotate", "agreement", run, "--n", 4)
    filled = fill(run / "ratings/agreement/sheets/rater_1.csv", rated.path / "ann.csv", lambda *_: "same")
    rated.report("ratings", run, "--sheets", filled)
    out = rated.report("table", run)[1]
    assert "judged/agreement/verdict: kappa of the model" in out and "with ann; 4 items" in out
    assert "with ann; 4 items" in (run / "report.md").read_text()
