import copy

import pytest

from components.radiology.synthesis.checks import nouns_of
from components.radiology.synthesis.question_checks import guessed_chain, needed_in_answer, question_flaws
from components.radiology.tasks import TASKS
from tests.components.radiology.synthesis.sound import case
from tests.table import each_row

SPOILT = {
    "names the disease": ("014", "Q", "Which disease, after all, is pulmonary sarcoidosis?", "gives away 'pulmonary'"),
    "names the modality": ("012", "Q", "Outline the organ on this radiograph.", "gives away 'radiograph'"),
    "says a number": ("0126", "Q", "Is the organ measured as 9 mm?", "gives away '9 mm'"),
    "another task": ("012", "Q", "How should one treat this?", "reads like one of 012356789, treatment plan"),
    "another patient": ("012", "Q", "Outline the organ of a man aged 36.", "the record's is a woman aged 36"),
    "an empty answer": ("014", "A", "It is benign.", "the answer lacks 'Pulmonary sarcoidosis'"),
    "a mask too much": ("014", "A", "Pulmonary sarcoidosis, see [Organ Mask].", "shows [Organ Mask]"),
    "braces": ("014", "A", "Pulmonary sarcoidosis {x}.", "'{' stands in"),
    "markup": (
        "014",
        "A",
        "Pulmonary sarcoidosis <img src=x onerror=alert(1)>.",
        "'<img src=x onerror=alert(1)>' stands",
    ),
    "another script": ("014", "Q", "Which disease is it? \u75be\u75c5", "'\u75be' stands in"),
    "a small letter": ("014", "A", "pulmonary sarcoidosis.", "begins with a small letter"),
    "a word twice": ("014", "A", "Pulmonary sarcoidosis is is likely.", "'is is' stands in"),
}


@each_row("what", SPOILT)
def test_an_error_in_a_question_is_found(what):
    entry = case()
    assert question_flaws(entry["case"], entry["QA"]) == []
    chain, key, text, said = SPOILT[what]
    entry["QA"][chain][key] = text
    flaws = question_flaws(entry["case"], entry["QA"])
    assert any(said in flaw and flaw.startswith(f"{chain}: ") for flaw in flaws), flaws


@pytest.mark.parametrize("spoil", [lambda qa: qa.pop("014"), lambda qa: qa.update({"014": {"Q": "Why?"}})])
def test_an_invalid_set_of_eleven_questions_gets_only_that_message(spoil):
    entry = copy.deepcopy(case())
    spoil(entry["QA"])
    (flaw,) = question_flaws(entry["case"], entry["QA"])
    assert "expected" in flaw


def test_every_task_has_what_its_answer_needs_and_can_be_guessed():
    entry = case()
    assert list(needed_in_answer(entry["case"])) == list(TASKS)
    assert [guessed_chain(pair["Q"]) for pair in entry["QA"].values()] == list(TASKS)
    assert [nouns_of("Male", 17), nouns_of("Female", 18)] == ["boy", "woman"]
