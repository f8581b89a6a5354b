from statistics import fmean

import pytest

from components.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.querying import is_records, on_records
from components.prompts import load
from components.types import Demonstration, Problem, Sample

SQL = "select count(*) from admissions where admissions.subject_id in ( select patients.subject_id from patients where patients.gender = 'm' )"
QUESTION = "How many stays of men are there?"
FACTS = {"sql": SQL, "sql_dialect": "mimic_iii"}
SAMPLE = Sample(Problem("g", QUESTION), {"answer": ["5"]}, FACTS)
NONE = Sample(Problem("n", QUESTION), {"answer": None}, {"sql": None, "sql_dialect": "mimic_iii"})
HELD = {
    "overview": "A hospital.", "columns": "patients: SUBJECT_ID, GENDER\nadmissions: ROW_ID, SUBJECT_ID", "clock": "",
    "groups": True,
}  # fmt: skip
SHOT = Demonstration("How many?", "answer = 3", {"knowledge": "- nothing", "code": "answer = 3", "sql": "select 3"})
SEEDS = range(150)
BASE = {"question": QUESTION, "metadata": HELD, "shots": [SHOT], "demonstrations": [SHOT], "code": True, "links": "- x"}


def said(messages, sample=SAMPLE, competence=1.0):
    rates = Rates(competence=competence)
    return [on_records(messages, (), sample, rates, Draws(n, messages)).text for n in SEEDS]


def asking(prompts, template, **values):
    return [Message("system", "x"), load(prompts).user(template, **{**BASE, **values})]


def test_samples_with_a_database_of_records_are_known():
    assert is_records(SAMPLE) and is_records(NONE)
    assert not any(is_records(one) for one in (None, Sample(SAMPLE.problem, {"answer": "5"}, FACTS),
                   Sample(SAMPLE.problem, "A"), Sample(SAMPLE.problem, SAMPLE.target, {**FACTS, "task": "ehrsql"})))  # fmt: skip


def test_knowledge_names_tables_columns_and_what_joins_them():
    asked = asking("ehragent", "knowledge")
    (text,) = set(said(asked))
    assert text.split("\n") == [
        "- admissions is read by SUBJECT_ID.", "- patients is read by SUBJECT_ID, GENDER.",
        "- SUBJECT_ID joins admissions and patients.",
    ] or "joins patients and admissions" in text  # fmt: skip
    assert 0.5 < fmean(one == text for one in said(asked, competence=0.5)) < 0.85
    unlisted = asking("ehragent", "knowledge", metadata={**HELD, "columns": "other: A, B"})
    assert set(said(unlisted)) == {"- No table is known that holds this."}


CELL = 'answer = SQLInterpreter("""%s""")'


@pytest.mark.parametrize(
    "ran,told",
    [
        (CELL % SQL.replace("gender", "sex"), "`gender` is meant where `sex` stands."),
        ((CELL % SQL).replace("answer", "found"), "`answer` is meant where `found` stands."),
        (f"{(CELL % SQL)}\nresult", "`result` does not belong there."),
        ((CELL % SQL).replace("count(*) ", ""), "is missing."),
        ("Thought: x\nAction: LoadDB[PATIENTS]", "`patients`"),
        (CELL % SQL, "A name or a value may not be there as it is written."),
    ],
)
def test_the_cause_is_what_the_code_differs_in_from_what_is_right(ran, told):
    assert all(told in text for text in said(asking("ehragent", "debug", cell=ran, failed="It failed.")))
    assert any(
        "may not be there" in text
        for text in said(asking("ehragent", "debug", cell=ran, failed="It failed."), competence=0.3)
    )


def sql(template, **values):
    system = load("din_sql").system("system", metadata=HELD, refusal_fields=values.pop("fields", {}))
    return [system, load("din_sql").user(template, **{**BASE, "kinds": ["easy"], "parts": [], **values})]


def test_the_four_stages_of_a_statement():
    assert all(text.startswith("- admissions") or text.startswith("- patients") for text in said(sql("linking")))
    assert all(text.startswith("Class: nested\nSub-questions:\n- ") for text in said(sql("classification")))
    for template in ("easy", "non_nested", "nested"):
        assert set(said(sql(template))) == {f"```sql\n{SQL}\n```"}
        assert f"```sql\n{SQL}\n```" not in said(sql(template), competence=0.0)
    assert set(said(sql("correction", sql=SQL), competence=0.0)) == {f"```sql\n{SQL}\n```"}
    assert 0.1 < fmean(SQL in text for text in said(sql("correction", sql="select 9"))) < 0.3


def test_links_to_the_schema_make_statements_right_more_often():
    rates = [
        fmean(SQL in text for text in said(sql("nested", links=links), competence=0.9))
        for links in ("- patients, admissions", "- none")
    ]
    assert rates[0] > rates[1] + 0.05


def test_a_class_is_told_by_tables_and_nested_queries():
    for statement, kind in (
        ("select a.b from a", "easy"),
        ("select a.b from a inner join c on a.b = c.b", "non-nested"),
    ):
        one = Sample(SAMPLE.problem, SAMPLE.target, {**FACTS, "sql": statement})
        assert set(said(sql("classification"), one)) == {f"Class: {kind}"}


def test_null_is_written_where_no_table_answers_if_the_prompt_tells_of_it():
    assert all(text.startswith("null: ") for text in said(sql("easy", fields={"reason": ()}), NONE))
    assert set(said(sql("easy"), NONE)) == {"```sql\nselect count(*) from patients\n```"}


def test_a_note_names_tables_and_columns_by_competence():
    asked = [load("ehr_reflexion").user("reflect", task=f"Instruction:\n{QUESTION}", chain="LoadDB[x]")]
    assert all("patients with SUBJECT_ID, GENDER" in text for text in said(asked))
    assert any("patients" not in text for text in said(asked, competence=0.3))


def test_a_last_answer_is_what_was_seen_and_one_without_looking_is_a_guess():
    seen = [Message("user", QUESTION), Message("assistant", "Action: GetValue[A]"), Message("user", "Observation: 7")]
    assert set(said([*seen, Message("user", f"Now answer the question\n{QUESTION}")])) == {"7"}
    plain = [Message("user", QUESTION)]
    assert set(said(plain)) == {"['5']"} and set(said(plain, NONE)) == {"no result"}
    assert fmean(text == "['5']" for text in said(plain, competence=0.8)) < 0.2


def test_a_verifier_is_answered_with_what_is_proposed():
    opening = [Message("system", "LoadDB[name]: x\nSQLInterpreter[sql]: x\nFinish[answer]"), Message("user", QUESTION)]
    asked = "[Candidate_Actions]\n1. Action: LoadDB[a]\n2. Action: LoadDB[b]\n\nSelected action:"
    assert set(said([*opening, Message("user", asked)])) == {"LoadDB[a]"}
    current = "[Review]\nCurrent action: LoadDB[c]\n\nRefined action:"
    assert set(said([*opening, Message("user", current)])) == {"Action: LoadDB[c]"}
