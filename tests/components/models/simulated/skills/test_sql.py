from components.core.messages import Message
from components.core.types import Problem, Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.sql import statement
from components.prompts import load
from components.sql.cleaning import clean_sql

GOLD = "select count(*) from patients where patients.subject_id = 1"
ASKED = Sample(Problem("s", "How many?"), {"answer": "[['1']]"}, {"task": "ehrsql", "sql": GOLD})
GAP = Sample(Problem("g", "Which telephone?"), {}, {"task": "ehr_halt"})
SCHEMA = "patients(subject_id, gender)"


def said(sample, error="", **rates):
    prompt = load("sql_coder").render(
        "convert", schema=SCHEMA, now="", question="How many?", failed="x" if error else "", error=error
    )
    return [statement(sample, prompt, Rates(**rates), Draws(n, [Message("user", "x")])) for n in range(100)]


def test_a_competent_core_writes_the_statement_or_sees_the_gap():
    assert {clean_sql(text, "mimic_iv") for text in said(ASKED)} == {GOLD}
    assert set(said(GAP)) == set(said(None)) == {"null"}


def test_else_it_asks_the_wrong_thing_or_writes_what_does_not_run():
    wrong = set(said(ASKED, competence=0.0))
    assert len(wrong) == 2 and any("from the patients" in text for text in wrong)
    assert set(said(GAP, competence=0.0)) == {"```sql\nselect count(*) from patients\n```"}


def test_an_error_that_is_shown_is_mostly_mended():
    mended = said(ASKED, error="no such table: the", competence=0.0)
    assert 70 < sum(GOLD in text for text in mended) < 98


def test_without_tables_it_asks_what_every_database_has():
    text = statement(GAP, "```sql", Rates(competence=0.0), Draws(0, [Message("user", "x")]))
    assert "sqlite_master" in text
