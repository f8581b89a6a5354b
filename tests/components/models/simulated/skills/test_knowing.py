from itertools import pairwise

import pytest

from components.core.types import Problem, Sample
from components.models.simulated.rates import Rates
from components.models.simulated.skills.knowing import is_alike, is_known, mend_rate, right_rate
from components.models.simulated.skills.record_key import gold_of
from components.models.simulated.skills.told import Told

SQL = (
    "select patients.gender from patients where patients.subject_id in ( select admissions.subject_id from admissions )"
)
GOLD = gold_of(Sample(Problem("g", "Which?"), {"answer": ["m"]}, {"sql": SQL, "sql_dialect": "mimic_iii"}))
ALL = "patients GENDER SUBJECT_ID admissions"
FULL = Told(ALL, known="- patients and admissions", solved=(ALL,))
RATES = Rates(competence=0.85)
WRONG = "answer = GetValue(patients, 'GENDRE')"
ERROR = "The cell failed in line 1 with EhrError: There is no column `GENDRE`."
TOLDS = {
    "a cause": f"{ERROR}\n\nPotential reasons:\nThe column `patients.GENDER` is meant.",
    "an error that lists what there is": ERROR.replace("`.", "`; the columns are GENDER, DOB."),
    "an error": ERROR,
    "a traceback": f"Traceback (most recent call last)\n{ERROR}",
}


def test_knowledge_and_solved_questions_are_recognised_by_names():
    assert is_known(GOLD, FULL) and is_alike(GOLD, FULL)
    assert not is_known(GOLD, Told(ALL, known="- patients")) and not is_alike(GOLD, Told(ALL, solved=("patients",)))


def test_each_text_makes_it_right_more_often_and_goes_with_the_text():
    full = right_rate(GOLD, FULL, RATES)
    for less in (Told(ALL, FULL.known), Told(ALL, "", FULL.solved), Told("", FULL.known, FULL.solved)):
        assert right_rate(GOLD, less, RATES) < full - 0.1
    assert right_rate(GOLD, Told(""), Rates()) == 1


@pytest.mark.parametrize("told", [FULL, Told(ALL)])
def test_what_is_told_of_a_failure_decides_how_often_it_is_mended(told):
    rates = [mend_rate(GOLD, told, RATES, WRONG, text) for text in TOLDS.values()]
    assert rates == sorted(rates, reverse=True) and len(set(rates)) == 4
    assert mend_rate(GOLD, told, RATES, WRONG, "") == mend_rate(GOLD, told, RATES, WRONG, ERROR)


@pytest.mark.parametrize("what", TOLDS)
def test_mending_rises_with_competence_without_a_step(what):
    grid = [n / 200 for n in range(201)]
    for told in (FULL, Told("")):
        rates = [mend_rate(GOLD, told, Rates(competence=one), WRONG, TOLDS[what]) for one in grid]
        assert (rates[0], rates[-1]) == (0, 1) and rates == sorted(rates)
        assert max(later - one for one, later in pairwise(rates)) < 0.12
        assert mend_rate(GOLD, FULL, RATES, WRONG, TOLDS[what]) >= mend_rate(GOLD, told, RATES, WRONG, TOLDS[what])
