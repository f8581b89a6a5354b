from pathlib import Path
from statistics import fmean

from components.core.messages import Message
from components.ehr.errors import EhrError
from components.ehr.interpreters import run_sql
from components.ehr.metadata import metadata
from components.ehr.simulated.case import gold_of
from components.ehr.simulated.mistakes import loud_mistake, silent_mistake, wrong
from components.ehr.simulated.queries import plan, program, sql_cell, translate
from components.simulation.draws import Draws
from tests.components.ehr.simulated.chartroom import each, questions, toolset
from tests.slow import slow
from tests.table import each_row

PROGRAM = "patients = LoadDB('patients')\npatients = FilterDB(patients, 'SUBJECT_ID=7')\nanswer = GetValue(patients, 'GENDER')"
CELL = sql_cell("select patients.gender from patients where patients.subject_id = 7 and patients.dob > '2000'")
COLUMNS = frozenset({"gender", "subject_id", "dob"})


def draws(number):
    return Draws(number, [Message("user", "x")])


def test_a_loud_slip_is_one_of_five():
    found = {loud_mistake(PROGRAM, COLUMNS, draws(n)) for n in range(60)}
    assert len(found) == 5
    marks = ("GENDER_no", "LoadDB('PATIENTS')", "LoadDB('patients)", "answer = result", "found = GetValue")
    assert all(any(mark in text for text in found) for mark in marks)


def test_statements_and_actions_have_those_that_fit():
    found = {loud_mistake(CELL, COLUMNS, draws(n)) for n in range(60)}
    assert len(found) == 5 and any("from patients_table" in text for text in found)
    assert {loud_mistake("LoadDB[patients]", COLUMNS, draws(n)) for n in range(20)} == {"LoadDB[PATIENTS]"}
    assert {loud_mistake("GetValue[GENDER]", COLUMNS, draws(n)) for n in range(20)} == {"GetValue[GENDER_no]"}


@each_row(
    "text, turned",
    [
        ("answer = 1 if len(a) > 0 else 0", "answer = 1 if len(a) == 0 else 0"),
        ("select count(*) > 0 from a where a.b = 'c'", "select count(*) = 0 from a where a.b = 'c'"),
        ("FilterDB[A=b||B>=c]", "FilterDB[A!=b||B>=c]"),
        ("FilterDB[A=null||B=c]", "FilterDB[A=null||B!=c]"),
        ("select max(a.b) from a", "select min(a.b) from a"),
        ("FilterDB[B>=c]", "FilterDB[B<c]"),
        ("GetValue[AGE, min]", "GetValue[AGE, max]"),
        ("LoadDB[a]", "LoadDB[a]"),
        ("Calendar[-6 month]", "Calendar[-16 month]"),
        ("select distinct a.b from a", "select distinct 'x' || a.b from a"),
        ("select * from a", "select * from a"),
    ],
)  # fmt: skip
def test_a_silent_slip_turns_a_comparison_round(text, turned):
    assert silent_mistake(text) == turned


def test_a_text_without_a_possible_failure_gets_a_silent_slip():
    assert loud_mistake("FilterDB[1=2]", frozenset(), draws(0)) == silent_mistake("FilterDB[1=2]")


def golds(n=1):
    return [(sample, gold_of(sample)) for sample in questions()[::n]]


def test_a_slip_always_changes_the_text():
    for number, (_, gold) in enumerate(golds(3)):
        query = translate(gold.sql, gold.database)
        texts = [gold.sql, sql_cell(gold.sql), *([program(query), *(plan(query) or ())] if query else [])]
        for text in [*texts, "Calendar[start of year]", "Calculate[7]", "GetValue[ROW_ID, count]", "answer = 1"]:
            assert {wrong(text, gold.may_misspell, rate, draws(number)) for rate in (0.0, 1.0)}.isdisjoint({text}), text


def rows(sample, gold, sql):
    """What a statement gives; None where it fails."""
    try:
        return run_sql(Path(sample.files["database"]), sql, metadata(gold.database).clock)
    except EhrError:
        return None


@slow
def test_a_loud_slip_of_a_statement_fails_and_a_silent_one_gives_something_else():
    found = [(rows(sample, gold, loud_mistake(gold.sql, gold.may_misspell, draws(n))), rows(sample, gold, silent_mistake(gold.sql)),
              rows(sample, gold, gold.sql)) for n, (sample, gold) in enumerate(golds(2))]  # fmt: skip
    assert {outcome for outcome, _, _ in found} == {None} and all(turned is not None for _, turned, _ in found)
    assert fmean(turned != right for _, turned, right in found) > 0.9


ALIASED = "select t1.c1 from ( select patients.gender as c1 from patients ) as t1 where t1.c1 = 'm'"


def test_an_alias_defined_by_the_statement_is_not_misspelt():
    sample = questions()[0]
    gold = gold_of(type(sample)(sample.problem, sample.target, {**sample.metadata, "sql": ALIASED}))
    found = {loud_mistake(ALIASED, gold.may_misspell, draws(n)) for n in range(60)}
    assert not any("c1_no" in text for text in found) and any("gender_no" in text for text in found)
    assert {rows(sample, gold, text) is None for text in found} == {True}


@slow
async def test_loud_slips_of_cells_fail_and_most_silent_ones_run():
    found = []
    for number, sample in enumerate(each(30)):
        gold = gold_of(sample)
        query, offer = translate(gold.sql, gold.database), toolset(True).open(sample)
        try:
            for text in (program(query) if query else "answer = 1", sql_cell(gold.sql)):
                texts = (text, loud_mistake(text, gold.may_misspell, draws(number)), silent_mistake(text))
                found.append([(await offer.state.run(one)).status for one in texts])
        finally:
            offer.state.close()
    assert {right for right, _, _ in found} == {"ok"} and {slipped for _, slipped, _ in found} <= {"error", "no_answer"}
    assert fmean(turned == "ok" for _, _, turned in found) > 0.8
