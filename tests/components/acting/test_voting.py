import pytest

from components.acting.voting import Majority, Vote, majority, reading, settle, spent
from components.core.messages import Message, Usage
from components.core.types import Answer, Failure, Problem, Refusal, Step, Trajectory

CHOICE, OPEN = Problem("p", "Which?", {"A": "gout", "B": "scurvy"}), Problem("p", "What?")


@pytest.mark.parametrize(
    ("problem", "outcome", "read"),
    [
        (CHOICE, Answer("B. scurvy"), "B"),
        (CHOICE, Answer("who knows"), None),
        (OPEN, Answer(" Yes. "), "yes"),
        (OPEN, Answer("a  torn\nTendon"), "a torn tendon"),
        (OPEN, Answer(" . "), None),
        (OPEN, Refusal({"why": "no tool"}), "(refused)"),
        (OPEN, Failure("step_limit"), None),
    ],
)
def test_equal_answers_are_read_alike(problem, outcome, read):
    assert reading(problem, outcome) == read


def drawn(*texts):
    return [Vote(Answer(text), reading(CHOICE, Answer(text))) for text in texts]


def test_the_majority_wins_ties_go_to_the_first_and_unreadable_draws_do_not_vote():
    assert settle(drawn("A", "B. scurvy", "B")) == Answer("B. scurvy")
    assert settle(drawn("?", "B", "A", "A", "B")) == Answer("B")
    assert settle(drawn("?", "??")) == Answer("?")
    assert settle([Vote(Failure("x"), None), *drawn("?")]) == Answer("?")
    assert settle([Vote(Failure("x"), None), Vote(Failure("y"), None)]) == Failure("x")


def test_what_a_draw_spent_is_that_of_its_branches_only():
    steps = [
        Step("act", "main", branch, 0, 0, (), Message("assistant", ""), Usage(10, 2))
        for branch in ("draw/1", "draw/1/call/0", "draw/10", "main")
    ]
    trajectory = Trajectory(steps)
    assert spent(trajectory, "calls", "draw/1") == 2 and spent(trajectory, "tokens", "draw/1") == 24
    assert spent(trajectory, "calls") == 4 and spent(trajectory, "tokens") == 48


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (["A", "B", "A"], Majority("A", False, {"A": 2, "B": 1})),
        (["C", "A", "A", "C", "B"], Majority("C", True, {"C": 2, "A": 2, "B": 1})),
        ([None, "D", None], Majority("D", False, {"D": 1})),
        ([None, None], Majority(None, False, {})),
        ([], Majority(None, False, {})),
    ],
)
def test_the_most_frequent_wins_and_of_equals_the_first(samples, expected):
    assert majority(samples) == expected
