"""The section on confidence: selection, calibration, refusals."""

import json
import re

import pytest

from runner.results.runs import Run
from runner.results.sections import confidence
from runner.results.sheets import Plot, Sheet
from tests.runner.results.folders import write
from tests.runner.results.page.pages import cells

SAYS = [(1, 0.9), (1, 0.9), (0, 0.9), (1, 0.6), (0, 0.6), (1, None), (0, 0.1)] * 4  # score, stated


def run_of(folder, said, ended=(), score="proportion", cfg=None, **notes):
    """A run of answers with scores and confidences, then of episodes that ended so, with a score of abstention."""
    scores = [value for value, _ in said] + [0] * len(ended)
    path = write(folder, {"one": ("k", scores)}, cfg, kinds={"score/x": score, "confidence/stated": "share"}, **notes)
    lines = [json.loads(line) for line in (path / "records.jsonl").read_text().splitlines()]
    for record, (_, stated) in zip(lines, said, strict=False):
        record["scores"] |= {"confidence/stated": stated, "abstention/right": None, "abstention/wrong": 0.0}
    for record, (stop, name, value) in zip(lines[len(said) :], ended, strict=True):
        record |= {"stop": stop, "answer": None}
        record["scores"] |= {"confidence/stated": None, "abstention/right": None, "abstention/wrong": None, name: value}
    (path / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Run.at(path)


def sheets_of(*runs):
    """The rows of each table, numbers without their intervals; and the section."""
    found = confidence.section(runs)
    sheets = {part.title: cells(part) for part in found.parts if isinstance(part, Sheet)}
    plain = {title: [{k: getattr(v, "value", v) for k, v in row.items()} for row in of] for title, of in sheets.items()}
    return plain, found


def test_answers_without_a_statement_are_counted_and_left_out(tmp_path):
    from sklearn.metrics import brier_score_loss

    sheets, found = sheets_of(run_of(tmp_path / "a", SAYS))
    (row,) = sheets["Selection by confidence"]
    assert (row["confidence"], row["answers"], row["stated"]) == ("-", 28, pytest.approx(24 / 28))
    assert row["risk of all"] == 0.5 and row["coverage at 10 % risk"] == 0.0
    (row,) = sheets["Calibration"]
    assert row["answers"] == 24 and row["mean confidence"] == pytest.approx((3 * 0.9 + 2 * 0.6 + 0.1) / 6)
    assert row["Brier"] == pytest.approx((2 * 0.01 + 0.81 + 0.16 + 0.36 + 0.01) / 6)
    pairs = [(value, stated) for value, stated in SAYS if stated is not None]
    assert row["Brier"] == pytest.approx(brier_score_loss(*zip(*pairs, strict=True)))
    assert [part.title for part in found.parts if isinstance(part, Plot)] == [
        "Risk and coverage",
        "Reliability diagram",
    ]


def test_the_curve_is_from_the_surest_answers_to_all(tmp_path):
    _, found = sheets_of(run_of(tmp_path / "a", SAYS))
    tips = re.findall(r"confidence (0\.\d+) or more", found.parts[1].svg)
    assert list(dict.fromkeys(tips)) == ["0.90", "0.60", "0.10"]


def test_refusals_that_are_right_missing_and_wrong(tmp_path):
    right, wrong = "abstention/right", "abstention/wrong"
    ended = [("refused", right, 1.0), ("refused", right, 1.0), ("answered", right, 0.0), ("refused", wrong, 1.0)]
    sheets, _ = sheets_of(run_of(tmp_path / "a", SAYS, ended))
    (row,) = sheets["Abstention"]
    counts = [row[f"{kind} refusals"] for kind in ("right", "missing", "wrong")]
    assert counts == [2, 1, 1] and row["rightly attempted"] == 28
    shares = [row["refused of the impossible"], row["refused of the possible"], row["right of all refusals"]]
    assert shares == pytest.approx([2 / 3, 1 / 29, 2 / 3])


def test_graded_scores_have_a_mean_loss_and_other_numbers_are_named_and_left_out(tmp_path):
    graded = [(0.5, 0.9), (0.75, 0.6)] * 6
    sheets, _ = sheets_of(run_of(tmp_path / "a", graded, score="share"))
    assert sheets["Selection by confidence"][0]["risk of all"] == pytest.approx(0.375)
    sheet = confidence.section([run_of(tmp_path / "b", graded, score="count")]).parts[0]
    assert (
        sheet.notes[-1].startswith("left out, since the score that decides is not a share")
        and "score/x" in sheet.notes[-1]
    )


def test_runs_without_confidences_have_no_section(tmp_path):
    assert confidence.section([Run.at(write(tmp_path / "a", {"one": ("k", [1, 0])}))]) is None


def test_a_config_without_the_key_is_of_the_same_row_as_one_with_null(tmp_path):
    old, new = ({"agent": {"_target_": "mine.Agent", **more}} for more in ({}, {"confidence": None}))
    runs = [Run.at(write(tmp_path / name, {"one": ("k", [1])}, cfg)) for name, cfg in (("a", old), ("b", new))]
    assert runs[0].same == runs[1].same
