import pytest

from components.models.simulated.rates import Rates
from components.models.simulated.skills.knowing import is_alike, is_known, mend_rate, right_rate
from components.models.simulated.skills.told import Told, gold_of
from components.types import Problem, Sample

SQL = (
    "select patients.gender from patients where patients.subject_id in ( select admissions.subject_id from admissions )"
)
GOLD = gold_of(Sample(Problem("g", "Which?"), {"answer": ["m"]}, {"sql": SQL, "sql_dialect": "mimic_iii"}))
ALL = "patients GENDER SUBJECT_ID admissions"
FULL = Told(ALL, known="- patients and admissions", solved=(ALL,))
RATES = Rates(competence=0.85)
RIGHT, WRONG = "answer = GetValue(patients, 'GENDER')", "answer = GetValue(patients, 'SEX')"
ERROR = "The cell failed in line 1 with EhrError."


def test_knowledge_and_solved_questions_are_recognised_by_names():
    assert is_known(GOLD, FULL) and is_alike(GOLD, FULL)
    assert not is_known(GOLD, Told(ALL, known="- patients")) and not is_alike(GOLD, Told(ALL, solved=("patients",)))


def test_each_text_makes_it_right_more_often_and_goes_with_the_text():
    full = right_rate(GOLD, FULL, RATES)
    for less in (Told(ALL, FULL.known), Told(ALL, "", FULL.solved), Told("", FULL.known, FULL.solved)):
        assert right_rate(GOLD, less, RATES) < full - 0.1
    assert right_rate(GOLD, Told(""), Rates()) == 1


@pytest.mark.parametrize(
    "better,worse",
    [
        (f"{ERROR}\n\nPotential reasons:\n`GENDER` is meant.", f"{ERROR}\n\nPotential reasons:\nA value is not there."),
        (f"{ERROR} The columns are GENDER, DOB.", ERROR),
        (ERROR, "Traceback (most recent call last)"),
    ],
)
def test_what_is_told_of_a_failure_decides_how_often_it_is_mended(better, worse):
    rates = [mend_rate(GOLD, told, RATES, RIGHT, WRONG, text) for text in (better, worse) for told in (FULL, Told(ALL))]
    assert rates[0] > rates[2] and rates[1] > rates[3] and rates[0] > rates[1]


def test_a_core_that_never_errs_mends_everything():
    assert mend_rate(GOLD, Told(""), Rates(), RIGHT, WRONG, "Traceback") == 1
