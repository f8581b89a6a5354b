from functools import cache
from statistics import fmean

import pytest

from components.core.messages import Message
from components.core.types import Problem, Sample
from components.ehr.simulated.steps import code, right_cells
from components.prompts import load
from tests.components.ehr.simulated.chartroom import case
from tests.slow import slow
from tests.table import each_row

SQL = "select patients.gender from patients where patients.subject_id = 7"
FACTS = {"sql": SQL, "sql_dialect": "mimic_iii"}
GOLD = Sample(Problem("g", "Is patient 7 male?"), {"answer": ["m"]}, FACTS)
NONE = Sample(Problem("n", "Where does patient 7 live?"), {"answer": None}, {"sql": None, "sql_dialect": "mimic_iii"})
SYSTEM = "Reply with one cell between ```python and ```. End with the word TERMINATE."
FUNCTIONS = "LoadDB(name)\nFilterDB(table, conditions)\nGetValue(table, argument)\nSQLInterpreter(sql)"
COLUMNS = "patients: SUBJECT_ID, GENDER"
REFUSAL = 'reply with:\nRefuse[{"reason": "..."}]'
SEEDS = range(120)
ERROR = "The cell failed in line 1 with EhrError: There is no column. The line reads: x"


def opening(*parts):
    return [
        Message("system", SYSTEM),
        Message("user", "\n\n".join([FUNCTIONS, COLUMNS, *parts, "Question: Is patient 7 male?"])),
    ]


def said(messages, gold=GOLD, seeds=SEEDS, **rates):
    return [code(case(messages, gold, n, **rates)).text for n in seeds]


def after(cell, saw, *parts, system=None):
    messages = [*opening(*parts), Message("assistant", f"```python\n{cell}\n```"), Message("user", saw)]
    return [Message("system", system), *messages[1:]] if system else messages


@cache
def right():
    return {f"```python\n{one}\n```" for n in SEEDS for one in right_cells(case(opening(), GOLD, n))}


def test_a_competent_core_writes_a_program_or_submits_the_statement():
    found = said(opening())
    assert set(found) == right() and len(right()) == 2
    assert 0.35 < fmean("LoadDB" in text for text in found) < 0.65


def test_it_calls_only_functions_the_prompt_names():
    def only(*names):
        messages = [Message("system", SYSTEM), Message("user", "\n".join(names))]
        return set(said(messages))

    assert all("LoadDB" in text for text in only("LoadDB FilterDB GetValue"))
    assert all("SQLInterpreter" in text for text in only("SQLInterpreter"))
    assert not any("```" in text for text in only("LoadDB", "GetValue") | only())


SLIPS = {
    "a column": "_no",
    "a table": "LoadDB('PATIENTS')",
    "a table in a statement": "from patients_table",
    "a quotation": "LoadDB('patients)",
    "a variable": "answer = result",
    "an answer": "found = GetValue",
    "a comparison": "SUBJECT_ID!=7",
    "a comparison in a statement": "patients.subject_id != 7",
}


def test_an_incompetent_core_writes_slips_of_every_kind():
    found = set(said(opening(), competence=0.0))
    assert not found & right()
    assert {what for what, mark in SLIPS.items() if not any(mark in text for text in found)} == set()


def test_the_end_is_said_after_a_value_and_now_and_then_with_the_cell():
    assert set(said(after("answer = 1", "m"))) == {"TERMINATE"}
    together = said(opening(), malformed=0.3)
    assert 0.1 < fmean(text.endswith("```\nTERMINATE") for text in together) < 0.35


SLIP = "patients = LoadDB('patients')\npatients = FilterDB(patients, 'SUBJECT_ID_no=7')\nanswer = GetValue(patients, 'GENDER')"
PROGRAM = SLIP.replace("_no", "")
DETAILED_ERROR = ERROR.replace(
    "There is no column", "There is no column `SUBJECT_ID_no`; the columns are SUBJECT_ID, GENDER"
)
CAUSE = f"{ERROR}\n\nPotential reasons:\n`SUBJECT_ID` is meant where `SUBJECT_ID_no` stands."
KNOWN = "Knowledge:\n- patients holds it."
SOLVED = "Question: Is patient 8 male?\nSolution:\npatients SUBJECT_ID GENDER"
FULL = f"{SOLVED}\n\n### The solved questions end here\n\n{KNOWN}"
MANY = range(600)


def share(messages, texts=None, seeds=MANY, competence=0.85):
    """How often one of these texts is written, by default one that is right."""
    replies = replied(tuple((one.role, one.text) for one in messages), seeds, competence)
    return fmean(text in (texts or right()) for text in replies)


@cache
def replied(messages, seeds, competence):
    return said([Message(*one) for one in messages], seeds=seeds, competence=competence)


@slow
@each_row(
    "more, less",
    [
        (after(SLIP, CAUSE), after(SLIP, DETAILED_ERROR)),
        (after(SLIP, CAUSE), after(SLIP, CAUSE.replace("`", ""))),
        (after(SLIP, DETAILED_ERROR, FULL), after(SLIP, "Traceback (most recent call last)\n" + DETAILED_ERROR, FULL)),
        (after(SLIP, DETAILED_ERROR, FULL), after(SLIP, ERROR, FULL)),
        (after(SLIP, DETAILED_ERROR, FULL), after(SLIP, "", FULL)),
        (after(SLIP, DETAILED_ERROR, FULL), after(SLIP, "[]", FULL)),
        (after(SLIP, CAUSE, KNOWN), after(SLIP, CAUSE)),
        (after(SLIP, CAUSE, SOLVED), after(SLIP, CAUSE)),
        (opening(KNOWN), opening()),
        (opening(SOLVED), opening()),
    ],
)  # fmt: skip
def test_causes_names_knowledge_and_solved_questions_help_and_go_with_their_texts(more, less):
    assert share(more) > share(less) + 0.05


@slow
def test_less_error_detail_means_fewer_repairs_and_no_detail_counts_as_a_bare_error():
    shares = [share(after(SLIP, saw, FULL)) for saw in (CAUSE, DETAILED_ERROR, ERROR, "")]
    assert shares == sorted(shares, reverse=True) and shares[0] > shares[1] + 0.2
    nothing = share(after(SLIP, "[]", FULL))
    assert nothing == pytest.approx(shares[3], abs=0.06) and nothing < shares[1] - 0.05


def test_the_failing_cell_is_repaired_and_the_answer_key_is_not_used():
    extra = SLIP.replace("'GENDER')", "'GENDER')  # as asked")
    repaired = [f"```python\n{extra.replace('_no', '')}\n```"]
    assert share(after(extra, CAUSE, FULL), repaired) > 0.8 and share(after(extra, CAUSE)) < 0.05


@slow
@each_row("saw", [CAUSE, DETAILED_ERROR, ERROR, "", "[]"])
def test_without_competence_nothing_is_repaired_and_with_full_competence_everything(saw):
    shares = [share(after(SLIP, saw, FULL), seeds=SEEDS, competence=c) for c in (0.0, 0.5, 0.85, 0.97, 0.9999, 1.0)]
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0, 1) and shares[-2] > 0.99


def test_a_right_cell_that_failed_is_rewritten_in_the_other_form():
    (sql,) = (one for one in right() if "SQLInterpreter" in one)
    assert set(said(after(PROGRAM, ERROR))) == {sql}


@slow
@each_row("nothing", ["[]", "None", ""])
def test_an_empty_result_is_checked_once_more(nothing):
    slipped = PROGRAM.replace("=7", "!=7")
    again = [1 - share(after(cell, nothing, FULL), ["TERMINATE"]) for cell in (PROGRAM, slipped)]
    assert again[0] == pytest.approx(again[1], abs=0.05) and 0.1 < again[0] < 0.35
    twice = [*after(PROGRAM, nothing), Message("assistant", f"```python\n{slipped}\n```"), Message("user", nothing)]
    assert set(said(twice, competence=0.85)) == {"TERMINATE"}


EXPLAINS = "Explain it. Write the cell anew between ```python and ```, or end with the word TERMINATE."


@slow
def test_an_explanation_ends_with_a_verdict_or_with_the_cell():
    def replies_to(cell, saw, competence=0.85):
        asked = load("self_debugging").render("review", told=saw)
        return said(after(cell, asked, system=EXPLAINS), seeds=MANY, competence=competence)

    turned = replies_to(PROGRAM.replace("=7", "!=7"), "f")
    assert 0.25 < fmean(PROGRAM in text for text in turned) < 0.5
    assert all(text.endswith("TERMINATE") != ("```" in text) and "reads patients" in text for text in turned)
    assert all(
        text.endswith("TERMINATE") for text in replies_to(PROGRAM, "m") + replies_to(SLIP, "f")
    )  # nothing indicates these errors
    assert all("```" in text for text in replies_to(SLIP, "Traceback", competence=0.5))


def test_it_refuses_unanswerable_questions_by_competence_if_the_prompt_explains_how():
    assert all(
        text == 'Refuse[{"reason":"No table of the database holds what is asked."}]'
        for text in said(opening(REFUSAL), NONE)
    )
    for messages, competence in ((opening(REFUSAL), 0.0), (opening(), 1.0)):
        assert all("select count(*) from patients" in text for text in said(messages, NONE, competence=competence))
