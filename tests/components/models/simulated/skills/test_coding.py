from functools import cache
from statistics import fmean

import pytest

from components.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.coding import code, right_cells
from components.models.simulated.skills.told import gold_of, read_told
from components.types import Problem, Sample

SQL = "select patients.gender from patients where patients.subject_id = 7"
FACTS = {"sql": SQL, "sql_dialect": "mimic_iii"}
GOLD = gold_of(Sample(Problem("g", "Is patient 7 male?"), {"answer": ["m"]}, FACTS))
NONE = gold_of(Sample(Problem("n", "Where does patient 7 live?"), {"answer": None}, {"sql": None}))
SYSTEM = "Reply with one cell between ```python and ```. End with the word TERMINATE."
FUNCTIONS = "LoadDB(name)\nFilterDB(table, conditions)\nGetValue(table, argument)\nSQLInterpreter(sql)"
COLUMNS = "patients: SUBJECT_ID, GENDER"
REFUSAL = 'reply with:\nRefuse[{"reason": "..."}]'
SEEDS = range(200)
ERROR = "The cell failed in line 1 with EhrError: There is no column. The line reads: x"


def opening(*parts):
    return [
        Message("system", SYSTEM),
        Message("user", "\n\n".join([FUNCTIONS, COLUMNS, *parts, "Question: Is patient 7 male?"])),
    ]


def said(messages, gold=GOLD, seeds=SEEDS, **rates):
    told = read_told(messages, ())
    return [code(messages, gold, told, Rates(**rates), Draws(n, messages)).text for n in seeds]


def after(cell, saw, *parts, system=None):
    messages = [*opening(*parts), Message("assistant", f"```python\n{cell}\n```"), Message("user", saw)]
    return [Message("system", system), *messages[1:]] if system else messages


@cache
def right():
    messages = opening()
    return {
        f"```python\n{one}\n```"
        for n in SEEDS
        for one in right_cells(GOLD, read_told(messages, ()), Draws(n, messages))
    }


def test_a_competent_core_writes_a_program_or_hands_the_statement_on():
    found = said(opening())
    assert set(found) == right() and len(right()) == 2
    assert 0.35 < fmean("LoadDB" in text for text in found) < 0.65


def test_it_calls_nothing_that_the_prompt_does_not_name():
    def only(*names):
        messages = [Message("system", SYSTEM), Message("user", "\n".join(names))]
        return set(said(messages))

    assert all("LoadDB" in text for text in only("LoadDB FilterDB GetValue"))
    assert all("SQLInterpreter" in text for text in only("SQLInterpreter"))
    assert not any("```" in text for text in only("LoadDB", "GetValue") | only())


def test_else_it_writes_slips_of_every_kind():
    found = set(said(opening(), competence=0.0))
    assert not found & right() and len(found) > 8


def test_malformed_replies_are_prose():
    assert all("```" not in text and "TERMINATE" not in text for text in said(opening(), malformed=1.0))


def test_the_end_is_said_after_a_value_and_now_and_then_with_the_cell():
    assert set(said(after("answer = 1", "m"))) == {"TERMINATE"}
    together = said(opening(), malformed=0.3)
    assert 0.1 < fmean(text.endswith("```\nTERMINATE") for text in together) < 0.35


def test_a_value_that_is_none_is_looked_at_again():
    found = said(after("answer = 1", "[]"), competence=0.5)
    assert 0.35 < fmean(text != "TERMINATE" for text in found) < 0.65


SLIP = "patients = LoadDB('patients')\npatients = FilterDB(patients, 'SUBJECT_ID_no=7')\nanswer = GetValue(patients, 'GENDER')"
CAUSE = f"{ERROR}\n\nPotential reasons:\n`SUBJECT_ID` is meant where `SUBJECT_ID_no` stands."
KNOWN = "Knowledge:\n- patients holds it."
SOLVED = "Question: Is patient 8 male?\nSolution:\npatients SUBJECT_ID GENDER"


@pytest.mark.parametrize(
    "more,less",
    [
        (after(SLIP, CAUSE), after(SLIP, ERROR)),
        (after(SLIP, CAUSE), after(SLIP, CAUSE.replace("`", ""))),
        (after(SLIP, f"{ERROR} the columns are SUBJECT_ID"), after(SLIP, "Traceback: the columns are SUBJECT_ID")),
        (after(SLIP, CAUSE, KNOWN), after(SLIP, CAUSE)),
        (after(SLIP, CAUSE, SOLVED), after(SLIP, CAUSE)),
        (opening(KNOWN), opening()),
        (opening(SOLVED), opening()),
    ],
)  # fmt: skip
def test_causes_names_knowledge_and_solved_questions_help_and_go_with_their_texts(more, less):
    rates = [
        fmean(text in right() for text in said(messages, seeds=range(600), competence=0.85))
        for messages in (more, less)
    ]
    assert rates[0] > rates[1] + 0.05


def test_what_failed_though_it_was_right_is_done_in_the_other_way():
    (sql,) = (one for one in right() if "SQLInterpreter" in one)
    (program,) = right() - {sql}
    cell = program.removeprefix("```python\n").removesuffix("\n```")
    assert set(said(after(cell, ERROR))) == {sql}


EXPLAINS = "Explain it. Write the cell anew between ```python and ```, or end with the word TERMINATE."


def test_an_explanation_ends_with_a_verdict_or_with_the_cell():
    def told(saw):
        return f"What came of the cell:\n{saw}\n\nExplain the cell line by line, and judge."

    verdicts = said(after(SLIP, told("f"), system=EXPLAINS), competence=0.5)
    assert 0.03 < fmean("```" in text for text in verdicts) < 0.3
    assert all(text.endswith("TERMINATE") != ("```" in text) for text in verdicts)
    assert all("```" in text for text in said(after(SLIP, told("Traceback"), system=EXPLAINS), competence=0.5))


def test_where_no_table_answers_it_refuses_by_competence_if_it_is_told_how():
    assert all(
        text == 'Refuse[{"reason":"No table of the database holds what is asked."}]'
        for text in said(opening(REFUSAL), NONE)
    )
    for messages, competence in ((opening(REFUSAL), 0.0), (opening(), 1.0)):
        assert all("select count(*) from patients" in text for text in said(messages, NONE, competence=competence))
