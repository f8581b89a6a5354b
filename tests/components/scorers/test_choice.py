from components.core.types import Problem, Refusal, Sample, Trajectory
from components.scorers.choice import Choice
from tests.table import each_row

LETTERS = Sample(Problem("1", "Which?", {"A": "Aspirin", "B": "Biopsy"}), "B")
DECISION = Sample(Problem("2", "Does it?"), "maybe", {"decisions": ("yes", "no", "maybe")})
OPEN = Sample(Problem("3", "What?"), "a lung")


def scores(sample, answer, stop="answered", **fields):
    found = Choice().score(sample, Trajectory(stop=stop, answer=answer, **fields))
    return {score.name: score.value for score in found}


def all_of(strict, official, unreadable):
    return {"score/strict": strict, "score/official": official, "score/unreadable": unreadable}


@each_row(
    "sample, answer, expected",
    [
        (LETTERS, "Answer: B", all_of(1, 1, 0)),
        (LETTERS, "biopsy", all_of(1, 0, 0)),
        (LETTERS, "Answer B", all_of(1, 0, 0)),
        (LETTERS, "Best guess: none", all_of(0, 0, 1)),
        (LETTERS, "I think of Biology", all_of(0, 1, 1)),
        (LETTERS, "Answer: A", all_of(0, 0, 0)),
        (LETTERS, "B or A", all_of(0, 1, 1)),
        (LETTERS, "Option: E", all_of(0, 0, 1)),
        (LETTERS, "", all_of(0, 0, 1)),
        (DECISION, "There is no effect.\nAnswer: maybe", all_of(1, 1, 0)),
        (DECISION, "Yes.", all_of(0, 0, 0)),
        (DECISION, "It depends", all_of(0, 0, 1)),
        (OPEN, "a lung", all_of(None, None, None)),
    ],
)
def test_answer_is_scored(sample, answer, expected):
    assert scores(sample, answer) == expected


@each_row(
    "fields", [{"stop": "limit"}, {"stop": "failed", "failure": "x"}, {"stop": "refused", "refusal": Refusal({})}]
)
def test_no_answer_is_wrong_but_not_unreadable(fields):
    assert scores(LETTERS, None, **fields) == all_of(0, 0, 0)


def test_error_is_unscored():
    assert scores(LETTERS, None, stop="error", error="timeout") == all_of(None, None, None)


def test_explanation_says_what_was_read_and_what_is_right():
    strict, official, unreadable = Choice().score(LETTERS, Trajectory(stop="answered", answer="Answer A"))
    assert strict.explanation == official.explanation == "read 'A', right is 'B'"
    assert unreadable.explanation == "read 'A'"


def test_names_are_those_of_the_scores_and_strict_decides():
    assert [score.name for score in Choice().score(OPEN, Trajectory())] == list(Choice.traits.names)
    assert Choice.traits.decides in Choice.traits.names
