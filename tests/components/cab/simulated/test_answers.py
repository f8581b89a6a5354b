from components.cab.scorers import Cab
from components.cab.simulated import Clinical
from components.cab.simulated.answers import ClinicalKnowledge
from components.cab.tasks import TASKS
from components.core.messages import Message
from components.core.types import Problem, Sample, Trajectory
from components.simulation.draws import Draws
from tests.components.cab.simulated.clinic import ALL
from tests.table import each_row


def said(sample, right):
    return {ClinicalKnowledge(sample).opinion(right, Draws(seed, [Message("user", "x")])) for seed in range(12)}


def score(sample, answer):
    trajectory = Trajectory(stop="answered", answer=answer)
    return next(one.value for one in Cab().score(sample, trajectory) if one.name == "score/strict")


@each_row("sample", ALL[::8])
def test_right_answers_are_right_by_the_scorer_and_wrong_ones_wrong(sample):
    (right,) = said(sample, True)
    assert score(sample, right) == 1.0 and ClinicalKnowledge(sample).is_right(right)
    partial = TASKS[sample.metadata["task"]].form in ("entities", "rouge1_recall")
    for wrong in said(sample, False):
        assert score(sample, wrong) <= 0.7 if partial else score(sample, wrong) == 0.0
        assert not ClinicalKnowledge(sample).is_right(wrong)


def test_every_task_has_such_samples():
    assert {one.metadata["task"] for one in ALL[::8]} == set(TASKS)


def odd(target, task="medqa", choices=(), **metadata):
    return Sample(Problem("o", "Which?", dict(choices)), target, {"task": task, **metadata})


@each_row(
    "sample",
    [
        odd("A"),
        odd("E", choices={"A": "gout"}),
        odd(None),
        odd(["a"], "emrqa"),
        odd({}, "medcalc"),
        odd({"answer": []}, "emrqa"),
        odd({"answer": [{}, "x"]}, "medmentions"),
        odd({"answer": None}, "medmentions"),
        odd({"accepted": []}, "slake"),
        odd({"answer": "A", "answer_idx": 0}),
        odd({"answer": "('3 weeks', '2 days')"}, "medcalc"),
        odd({"answer": "nan"}, "medcalc"),
        odd("no", "pubmedqa", decisions=["no"]),
    ],
)
def test_odd_keys_get_some_answer(sample):
    for right in (True, False):
        assert all(
            isinstance(text, str) and isinstance(ClinicalKnowledge(sample).is_right(text), bool)
            for text in said(sample, right)
        )


def test_a_letter_is_recognised_with_its_text_and_alone():
    known = ClinicalKnowledge(odd("A", choices={"A": "gout", "B": "scurvy"}))
    assert all(known.is_right(text) for text in ("A", "A. gout", "gout", "Answer: A"))
    assert not any(known.is_right(text) for text in ("B", "scurvy", ""))


def test_a_number_is_not_right_because_it_holds_the_right_one():
    assert not ClinicalKnowledge(odd({"answer": "5"}, "medcalc")).is_right("15")


def test_only_tasks_of_the_benchmark_are_clinical():
    assert Clinical().knowledge(odd("A"))
    for task in ("none", None, ["medqa"]):
        assert Clinical().knowledge(Sample(Problem("x", "y"), "z", {"task": task})) is None


def test_a_wrong_option_is_another_than_the_one_that_is_named():
    choices = {"A": "a", "B": "b", "C": "c"}
    seen = {
        ClinicalKnowledge(odd("B", choices=choices.items())).opinion(False, Draws(n, ()), "A. a") for n in range(20)
    }
    assert seen == {"C. c"}
