from components.core.messages import Message
from components.core.types import Problem, Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.choose import choose, extracted

LETTERS = Sample(Problem("1", "Which?", {"A": "liver", "B": "spleen", "C": "lung"}), "B")
DECISION = Sample(Problem("2", "Is it?"), "Yes")


def said(sample, reasons=False, **rates):
    return {choose(sample, reasons, Rates(**rates), Draws(seed, [Message("user", "x")])) for seed in range(40)}


def test_a_competent_core_is_right():
    assert said(LETTERS) == {"Answer: B"} and said(DECISION) == {"Answer: Yes"}


def test_a_core_that_knows_nothing_is_wrong_in_every_way():
    assert said(LETTERS, competence=0.0) == {"Answer: A", "Answer: C"}
    assert said(DECISION, competence=0.0) == {"Answer: no", "Answer: maybe"}


def test_reasoning_comes_before_the_answer_and_names_it():
    (text,) = said(LETTERS, reasons=True)
    assert text.splitlines()[-1] == "Answer: B" and "spleen" in text.splitlines()[0]


def test_an_unknown_question_gets_no_letter():
    assert said(None) == {"Answer: not known"}


def test_an_extraction_repeats_what_the_reasoning_names_and_nothing_else_is_one():
    asks = "Q: Which?\nA: Let's think step by step\nIt fits the spleen.\nAnswer: B\nTherefore, among A through C, the answer is"
    assert extracted(asks) == "The answer is B"
    assert extracted(asks.replace("Answer: B\n", "")) is None and extracted("Q: Which?\nA: The answer is") is None
