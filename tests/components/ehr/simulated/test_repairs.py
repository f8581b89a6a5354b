from components.ehr.simulated.mistakes import (
    Fault,
    fault_in,
    find_unlisted,
    repair,
    turn_back,
)
from tests.table import each_row

PROGRAM = "patients = LoadDB('patients')\npatients = FilterDB(patients, 'SUBJECT_ID=7')\nanswer = GetValue(patients, 'GENDER')"
CELL = 'answer = SQLInterpreter("""select gender from patients where dob = \'a b\' and sex = \'m\'""")'
LISTED = ["patients", "admissions", "SUBJECT_ID", "GENDER", "DOB", "SEX"]
FAILED = "The cell failed in line 2 with EhrError: "
UNKNOWN = (
    FAILED
    + "There is no column `SUBJECT_ID_no` (in `SUBJECT_ID_no=7`); the columns are SUBJECT_ID, GENDER. The line reads: x"
)
SLIPPED = PROGRAM.replace("SUBJECT_ID", "SUBJECT_ID_no")
# What is right, what was run, and the error reported for it.
REPAIRED = {
    "a column that the error lists": (PROGRAM, SLIPPED, UNKNOWN),
    "a column that is known": (CELL, CELL.replace("dob", "dob_no"), f"{FAILED}no such column: patients.dob_no."),
    "a table": (PROGRAM, PROGRAM.replace("'patients'", "'PATIENTS'"), f"{FAILED}There is no table `PATIENTS`; there are admissions, patients."),
    "a table in a statement": (CELL, CELL.replace("from patients", "from patients_table"), "Traceback\nEhrError: The statement failed: no such table: patients_table."),
    "a variable": (PROGRAM.replace("answer", "found") + "\nanswer = found", PROGRAM.replace("answer", "found") + "\nanswer = result", "The cell failed in line 4 with NameError: name 'result' is not defined."),
    "an answer": (PROGRAM, PROGRAM.replace("answer", "found"), "The cell ran to its end, but nothing was assigned to the variable `answer`. Run it again."),
    "a quotation in code": (PROGRAM, PROGRAM.replace("'patients'", "'patients", 1), "Traceback\nSyntaxError: unterminated string literal (detected at line 1)"),
    "a quotation in a statement": (CELL, CELL.replace("'a b'", "'a b"), f'{FAILED}near "m": syntax error.'),
    "the last quotation": (CELL, CELL.replace("'m'", "'m"), f'{FAILED}unrecognized token: "\'m".'),
    "an action": ("FilterDB[GENDER=m]", "FilterDB[GENDER_no=m]", "There is no column `GENDER_no` (in `GENDER_no=m`); the columns are GENDER, DOB."),
}  # fmt: skip


@each_row("what", REPAIRED)
def test_a_failure_is_repaired_at_the_location_its_error_gives(what):
    right, ran, failed = REPAIRED[what]
    repaired = repair(ran, fault_in(ran, failed, LISTED))
    assert repaired == right or ("select" in repaired and repaired.lower() == right.lower())


@each_row("what", REPAIRED)
def test_without_the_error_nothing_is_repaired(what):
    _, ran, _ = REPAIRED[what]
    for failed in ("", "[]", "The cell failed.", "The cell was stopped: it took too long.", f"{FAILED}There is no value `7` in the column SUBJECT_ID; it has `8`."):  # fmt: skip
        assert fault_in(ran, failed, LISTED) is None and repair(ran, None) == ran


CAUSED = {
    "`SUBJECT_ID` is meant where `SUBJECT_ID_no` stands.": True,
    "The column is `SUBJECT_ID`.": True,
    "Filter by `SUBJECT_ID=7` instead.": True,
    "It should read `t.SUBJECT_ID`.": True,
    "`SUBJECT_ID_no` is not there.": False,
    "`SUBJECT_ID_no=7` is wrong.": False,
    "`(` is missing.": False,
    "A name or a value may not be there as it is written.": False,
}


@each_row("cause", CAUSED)
def test_a_cause_is_followed_where_it_names_the_intended_value(cause):
    failed = f"{FAILED}There is no column `SUBJECT_ID_no`.\n\nPotential reasons:\n{cause}"
    fault = fault_in(SLIPPED, failed)
    assert (fault is not None and fault.source == "cause") == CAUSED[cause]
    if CAUSED[cause]:
        assert repair(SLIPPED, fault) == PROGRAM


def test_a_cause_takes_precedence_over_the_error_even_where_it_is_wrong():
    failed = f"{UNKNOWN}\n\nPotential reasons:\n`GENDER` is meant where `SUBJECT_ID_no` stands."
    assert "'GENDER=7'" in repair(SLIPPED, fault_in(SLIPPED, failed, LISTED))


def test_an_error_that_lists_names_identifies_the_right_one():
    unlisted = UNKNOWN.partition(";")[0]
    assert [fault_in(SLIPPED, UNKNOWN).source, fault_in(SLIPPED, unlisted, LISTED).source] == ["error", ""]
    assert fault_in(SLIPPED, unlisted) is None


def test_a_name_without_a_similar_one_is_left_unchanged():
    assert fault_in("GetValue[weight]", "There is no column `weight`; the columns are GENDER, DOB.", LISTED) is None
    near = fault_in("GetValue[GENDRE]", "There is no column `GENDRE`; the columns are GENDER, DOB.", LISTED)
    assert near == Fault("GENDRE", "GENDER", "error")


@each_row(
    "text, question, meant",
    [
        ("FilterDB(a, 'B!=c')", "Which have c?", "FilterDB(a, 'B=c')"),
        ("FilterDB(a, 'B!=c')", "Which do not have c?", "FilterDB(a, 'B!=c')"),
        ("FilterDB(a, 'B!=null')", "Which have c?", "FilterDB(a, 'B!=null')"),
        ("where a.b != 'c'", "Which have c?", "where a.b = 'c'"),
        ("select min(a.b) from a", "What was the highest b?", "select max(a.b) from a"),
        ("select min(a.b) from a", "What was the lowest b?", "select min(a.b) from a"),
        ("answer = 1 if len(a) == 0 else 0", "Is there an a?", "answer = 1 if len(a) > 0 else 0"),
        ("select 2 * count(*) from a", "How many?", "select count(*) from a"),
    ],
)
def test_a_comparison_that_contradicts_the_question_is_reversed(text, question, meant):
    assert turn_back(text, question) == meant


def test_a_name_missing_from_the_schema_is_found_in_a_statement():
    tables = {"patients": ["SUBJECT_ID", "GENDER"]}
    assert find_unlisted("select patients.gender from patients", tables) is None
    assert find_unlisted("select patients.gender_no from patients", tables) == Fault("gender_no", "gender")
    assert find_unlisted("select t1.c1 from (select gender as c1 from patients_table) as t1", tables) == Fault(
        "patients_table", "patients"
    )
    assert find_unlisted("select a.b from a", {}) is None
