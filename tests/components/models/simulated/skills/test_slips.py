import pytest

from components.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.skills.programs import sql_cell
from components.models.simulated.skills.slips import lacking, loud, silent

PROGRAM = "patients = LoadDB('patients')\npatients = FilterDB(patients, 'SUBJECT_ID=7')\nanswer = GetValue(patients, 'GENDER')"
CELL = sql_cell("select patients.gender from patients where patients.subject_id = 7 and patients.dob > '2000'")
COLUMNS = frozenset({"gender", "subject_id", "dob"})


def draws(number):
    return Draws(number, [Message("user", "x")])


def test_a_loud_slip_is_one_of_five():
    found = {loud(PROGRAM, COLUMNS, draws(n)) for n in range(60)}
    assert len(found) == 5
    marks = ("GENDER_no", "LoadDB('PATIENTS')", "LoadDB('patients)", "answer = result", "found = GetValue")
    assert all(any(mark in text for text in found) for mark in marks)


def test_statements_and_actions_have_those_that_fit():
    found = {loud(CELL, COLUMNS, draws(n)) for n in range(60)}
    assert len(found) == 5 and any("from patients_table" in text for text in found)
    assert {loud("LoadDB[patients]", COLUMNS, draws(n)) for n in range(20)} == {"LoadDB[PATIENTS]"}
    assert {loud("GetValue[GENDER]", COLUMNS, draws(n)) for n in range(20)} == {"GetValue[GENDER_no]"}


@pytest.mark.parametrize(
    "text,turned",
    [
        ("answer = 1 if len(a) > 0 else 0", "answer = 1 if len(a) == 0 else 0"),
        ("select count(*) > 0 from a where a.b = 'c'", "select count(*) = 0 from a where a.b = 'c'"),
        ("FilterDB[A=b||B>=c]", "FilterDB[A!=b||B>=c]"),
        ("FilterDB[A=null||B=c]", "FilterDB[A=null||B!=c]"),
        ("select max(a.b) from a", "select min(a.b) from a"),
        ("FilterDB[B>=c]", "FilterDB[B<c]"),
        ("GetValue[AGE, min]", "GetValue[AGE, max]"),
        ("LoadDB[a]", "LoadDB[a]"),
    ],
)  # fmt: skip
def test_a_silent_slip_turns_a_comparison_round(text, turned):
    assert silent(text) == turned


def test_what_cannot_fail_is_wrong_silently():
    assert loud("FilterDB[1=2]", frozenset(), draws(0)) == silent("FilterDB[1=2]")


def test_what_a_text_lacks_is_told_in_its_order():
    assert lacking("a = B('c')", "a = b('c')") == ["B"]
    assert lacking("x", "x y") == []
