import pytest

from components.cab.scorers.case import Case
from components.cab.scorers.texts import official, rouge1_recall, strict
from tests.slow import slow
from tests.table import each_row


@each_row(
    "answer, gold, by_reference, repaired",
    [
        ("The answer is right lower lobe.", "Right lower lobe", 1, 1),
        ("Abnormal", "normal", 1, 0),
        ("There is nothing", "No", 1, 0),
        ("There is no effusion", "No", 1, 1),
        ("Yes, there is no doubt", "No", 1, 0),
        ("The spleen and the liver", "Liver, Spleen", 0, 1),
        ("Liver", "Liver, Spleen", 0, 0),
        ("It could be CT; the answer is MRI. CT is out.", "CT", 0, 0),
        ("The answer is 2.5 cm", "2.5 cm", 0, 1),
        ("CT", "+", 0, 0),
        ("sign +", "+", 1, 1),
    ],
)
def test_containment(answer, gold, by_reference, repaired):
    case = Case(answer, {"answer": gold}, form="contains")
    assert (official(case).value, strict(case).value) == (by_reference, repaired)


def test_recall_of_the_marked_answer_stops_at_a_full_stop_and_in_strict_does_not():
    case = Case("The answer is 0.5 mg lorazepam daily.", {"answer": "0.5 mg lorazepam"}, form="rouge1_recall")
    assert official(case).value == 0.25
    assert strict(case).value == 1


PAIRS = [
    ("3 days of metformin", "a day of Metformin for three days"),
    ("aspirin aspirin", "aspirin"),
    ("dying, flies and tied", "die fly tie"),
    ("0.5 mg b.i.d.", "0.5 MG bid"),
    ("naïve β-blocker_x", "na ve blocker x"),
    ("pains", "pain"),
    ("", "something"),
    ("...", "something"),
    ("something", ""),
]


@slow
@each_row("reference, response", PAIRS)
def test_recall_is_that_of_rouge_score(reference, response):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rouge1"], use_stemmer=True)
    assert rouge1_recall(reference, response) == pytest.approx(scorer.score(reference, response)["rouge1"].recall)
