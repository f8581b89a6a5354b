import pytest

from components.scorers.choice import Choice
from components.types import Problem, Refusal, Sample, Trajectory

LETTERS = Sample(Problem("1", "Which?", {"A": "Aspirin", "B": "Biopsy"}), "B")
DECISION = Sample(Problem("2", "Does it?"), "maybe", {"decisions": ("yes", "no", "maybe")})
OPEN = Sample(Problem("3", "What?"), "a lung")


def scores(sample, answer, stop="answered", **fields):
    found = Choice().score(sample, Trajectory(stop=stop, answer=answer, **fields))
    return {score.name: score.value for score in found}


def both(accuracy, unreadable):
    return {"score/accuracy": accuracy, "score/unreadable": unreadable}


@pytest.mark.parametrize(
    ("sample", "answer", "expected"),
    [
        (LETTERS, "Answer: B", both(1, 0)),
        (LETTERS, "biopsy", both(1, 0)),
        (LETTERS, "Answer: A", both(0, 0)),
        (LETTERS, "A or B", both(0, 1)),
        (LETTERS, "", both(0, 1)),
        (DECISION, "There is no effect.\nAnswer: maybe", both(1, 0)),
        (DECISION, "Yes.", both(0, 0)),
        (DECISION, "It depends", both(0, 1)),
        (OPEN, "a lung", both(None, None)),
    ],
)
def test_answer_is_scored(sample, answer, expected):
    assert scores(sample, answer) == expected


@pytest.mark.parametrize(
    "fields", [{"stop": "limit"}, {"stop": "failed", "failure": "x"}, {"stop": "refused", "refusal": Refusal({})}]
)
def test_no_answer_is_wrong_but_not_unreadable(fields):
    assert scores(LETTERS, None, **fields) == both(0, 0)


def test_error_is_unscored():
    assert scores(LETTERS, None, stop="error", error="timeout") == both(None, None)


def test_explanation_says_what_was_read_and_what_is_right():
    (accuracy, _) = Choice().score(LETTERS, Trajectory(stop="answered", answer="Answer: A"))
    assert accuracy.explanation == "read 'A', right is 'B'"
