"""Counts of the remarks of agents."""

import pytest

from components.core.messages import Message, Usage
from components.core.types import Problem, Sample, Step, Trajectory
from components.panel.scorer import Panel
from tests.table import each_row

SAMPLE = Sample(Problem("1", "Which?", {"A": "Aspirin", "B": "Biopsy"}), "B")


def vote(number, expert, said, parsed=True, side="question"):
    return {
        "stage": "vote", "round": number, "side": side, "expert": expert, "field": "Cardiology", "vote": said,
        "parsed": parsed,
    }  # fmt: skip


def report(version, parsed=True):
    return {"stage": "report", "version": version, "parsed": parsed}


def experts(side, fields, wanted):
    return {"stage": "experts", "side": side, "fields": fields, "wanted": wanted, "parsed": True}


def draws(*reads):
    return [{"draw": n, "read": read} for n, read in enumerate(reads, 1)]


def scores(*remarks, stop="answered"):
    steps = [
        Step("vote", "main", "main", n, 0, (), Message("assistant"), Usage(1, 1, 0.0)) for n in range(len(remarks))
    ]
    for step, facts in zip(steps, remarks, strict=True):
        step.remarks = facts
    return {score.name: score.value for score in Panel().score(SAMPLE, Trajectory(steps, stop=stop))}


def test_an_episode_without_panel_and_draws_has_no_scores():
    assert scores() == scores({}, {"label": "a thought"}, {"stage": "decision"}) == scores({}, stop="error") == {}


def test_a_discussion_that_ends_in_consensus():
    found = scores(
        experts("question", ["Cardiology", "Surgery"], 5), experts("option", ["Cardiology", "Genetics"], 2),
        {"stage": "analysis"}, report(0), vote(1, 0, "yes"), vote(1, 1, "no"), vote(1, 0, "yes", side="option"),
        {"stage": "advice"}, report(1, parsed=False), vote(2, 0, "yes", parsed=False), vote(2, 1, "yes"),
        vote(2, 0, "yes", side="option"), {"stage": "decision"},
    )  # fmt: skip
    assert found == {
        "panel/rounds": 2, "panel/consensus": 1, "panel/dissent": pytest.approx(1 / 6),
        "panel/default_votes": pytest.approx(1 / 6), "panel/missing_experts": 3, "panel/unread_reports": 1,
    }  # fmt: skip


def test_a_last_round_with_a_no_vote_is_not_a_consensus():
    found = scores(vote(1, 0, "yes"), vote(1, 1, "yes"), vote(2, 0, "no"), vote(2, 1, "no"))
    assert (found["panel/rounds"], found["panel/consensus"], found["panel/dissent"]) == (2, 0, 0.5)


def test_stages_that_did_not_run_are_unscored():
    assert scores(experts("question", ["Cardiology"], 1)) == {
        "panel/rounds": None, "panel/consensus": None, "panel/dissent": None, "panel/default_votes": None,
        "panel/missing_experts": 0, "panel/unread_reports": None,
    }  # fmt: skip
    assert scores(report(0))["panel/missing_experts"] is None


def test_a_report_that_ended_the_episode_was_not_read():
    assert scores({"stage": "report", "version": 0}, stop="failed")["panel/unread_reports"] == 1


def test_rounds_of_several_panels_are_not_mixed():
    found = scores(vote(1, 0, "yes"), vote(1, 0, "no"), vote(2, 0, "yes"))
    assert (found["panel/rounds"], found["panel/consensus"]) == (None, None)
    assert found["panel/dissent"] == pytest.approx(1 / 3)


@each_row(
    "reads, unreadable, agreement, tie",
    [
        (("A", "A", "B", None, "A"), 0.2, 0.75, 0),
        (("A", "B"), 0, 0.5, 1),
        (("A",), 0, 1, 0),
        ((None, None), 1, None, None),
    ],
)
def test_draws(reads, unreadable, agreement, tie):
    assert scores({"label": "first"}, *draws(*reads)) == {
        "draws/n": len(reads), "draws/unreadable": pytest.approx(unreadable), "draws/agreement": agreement,
        "draws/tie": tie,
    }  # fmt: skip


def test_an_error_leaves_all_unscored():
    found = scores(vote(1, 0, "yes"), *draws("A"), stop="error")
    assert len(found) == 10 and set(found.values()) == {None}


def test_draws_within_draws_are_not_counted_together():
    steps = [
        Step("answer", "main", branch, 0, 0, (), Message("assistant", ""), Usage(), remarks={"draw": 1, "read": "A"})
        for branch in ("draw/1/draw/1", "draw/1/draw/2")
    ]
    scores = Panel().score(SAMPLE, Trajectory(steps, stop="answered"))
    assert {one.name: one.value for one in scores} == dict.fromkeys(
        ("draws/n", "draws/unreadable", "draws/agreement", "draws/tie")
    )
    assert scores[0].explanation == "draws within draws"
