from dataclasses import replace
from statistics import fmean

from components.core.messages import Message
from components.core.types import Demonstration, Problem, Sample
from components.ehr.simulated import UNCAUSED, Records
from components.ehr.simulated.queries import sql_cell
from components.panel.simulated import Expert, favoured_answers
from components.prompts import load
from components.simulation.asked import Voice
from tests.simulated import asked
from tests.slow import slow
from tests.table import each_row

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


def said(messages, sample=SAMPLE, competence=1.0, voice=None, **more):
    records, rates = Records(), {"competence": competence, **more}
    requests = [replace(asked(messages, sample, seed=n, **rates), voice=voice or Voice()) for n in SEEDS]
    return [records.reply(one).text for one in requests]


def asking(prompts, template, **values):
    return [Message("system", "x"), load(prompts).user(template, **{**BASE, **values})]


def test_knowledge_names_tables_columns_and_what_joins_them():
    given = asking("ehragent", "knowledge")
    (text,) = set(said(given))
    assert text.split("\n") == [
        "- admissions is read by SUBJECT_ID.", "- patients is read by SUBJECT_ID, GENDER.",
        "- SUBJECT_ID joins admissions and patients.",
    ] or "joins patients and admissions" in text  # fmt: skip
    assert 0.5 < fmean(one == text for one in said(given, competence=0.5)) < 0.85
    unlisted = asking("ehragent", "knowledge", metadata={**HELD, "columns": "other: A, B"})
    assert set(said(unlisted)) == {"- No table is known that holds this."}


CELL = sql_cell(SQL)
FAILED = "The cell failed in line 1 with EhrError: The statement failed: "


def caused(ran, failed, **rates):
    return said(asking("ehragent", "debug", cell=ran, failed=failed), **rates)


@slow
@each_row(
    "ran, failed, cause",
    [
        (CELL.replace("gender", "gender_no"), f"{FAILED}no such column: patients.gender_no.", "`GENDER` is meant where `gender_no` stands."),
        (CELL.replace("answer", "found"), "nothing was assigned to the variable `answer`", "`answer` is meant where `found` stands."),
        (CELL.replace("answer", "found") + "\nanswer = result", "name 'result' is not defined", "`found` is meant where `result` stands."),
        (CELL.replace("'m'", "'m"), f'{FAILED}unrecognized token: "x".', "`'m'` is meant where `'m` stands."),
        ("Thought: x\nAction: LoadDB[PATIENTS]", "There is no table `PATIENTS`; there are admissions, patients.", "`patients` is meant where `PATIENTS` stands."),
    ],
)  # fmt: skip
def test_a_cause_is_read_off_the_error_by_competence(ran, failed, cause):
    assert set(caused(ran, failed)) == {cause}
    assert set(caused(ran, failed, competence=0.3)) == {cause, UNCAUSED}
    assert set(caused(ran, failed, competence=0.0)) == {UNCAUSED}
    assert set(caused(ran, "")) == {"Nothing is told of what came of it, so the cause cannot be seen."}
    assert set(caused(ran, "It failed.")) == {UNCAUSED}


def test_a_cause_names_only_what_the_error_names_and_not_the_answer_key():
    other = "answer = GetValue(LoadDB('cost'), 'PRICE')"
    assert set(caused(other, "There is no column `PRICE`; the columns are ROW_ID, COST.")) == {UNCAUSED}


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
    assert set(said(sql("correction", sql="select 9"))) == {"```sql\nselect 9\n```"}


@slow
@each_row("slip", [("patients.gender", "patients.gender_no"), ("from patients", "from patients_table"), ("= 'm'", "!= 'm'")])  # fmt: skip
def test_a_draft_is_repaired_by_schema_and_question_at_the_rate_of_competence(slip):
    found = [fmean(SQL in text.lower() for text in said(sql("correction", sql=SQL.replace(*slip)), competence=c)) for c in (0.0, 0.85, 1.0)]  # fmt: skip
    assert found[0] == 0 and 0.25 < found[1] < 0.5 and found[2] == 1


def test_links_to_the_schema_make_statements_right_more_often():
    rates = [
        fmean(SQL in text for text in said(sql("nested", links=links), competence=0.9))
        for links in ("- patients, admissions", "- none")
    ]
    assert rates[0] > rates[1] + 0.05


def test_a_question_class_is_determined_by_tables_and_nested_queries():
    for statement, kind in (
        ("select a.b from a", "easy"),
        ("select a.b from a inner join c on a.b = c.b", "non-nested"),
    ):
        one = Sample(SAMPLE.problem, SAMPLE.target, {**FACTS, "sql": statement})
        assert set(said(sql("classification"), one)) == {f"Class: {kind}"}


def test_null_is_written_for_unanswerable_questions_if_the_prompt_mentions_it():
    assert all(text.startswith("null: ") for text in said(sql("easy", fields={"reason": ()}), NONE))
    assert set(said(sql("easy"), NONE)) == {"```sql\nselect count(*) from patients\n```"}


def test_a_note_names_tables_and_columns_by_competence():
    given = [load("ehr_reflexion").user("reflect", task=f"Instruction:\n{QUESTION}", chain="LoadDB[x]")]
    assert all("patients with SUBJECT_ID, GENDER" in text for text in said(given))
    assert any("patients" not in text for text in said(given, competence=0.3))


def test_a_last_answer_is_the_last_result_and_without_one_a_guess():
    seen = [Message("user", QUESTION), Message("assistant", "Action: GetValue[A]"), Message("user", "Observation: 7")]
    assert set(said([*seen, Message("user", load("react").render("conclude", problem=SAMPLE.problem, held=""))])) == {
        "7"
    }
    plain = [Message("user", QUESTION)]
    assert set(said(plain)) == {"['5']"} and set(said(plain, NONE)) == {"no result"}
    assert fmean(text == "['5']" for text in said(plain, competence=0.8)) < 0.2


def test_a_verifier_is_answered_with_what_is_proposed():
    opening = [Message("system", "LoadDB[name]: x\nSQLInterpreter[sql]: x\nFinish[answer]"), Message("user", QUESTION)]
    given = "[Candidate_Actions]\n1. Action: LoadDB[a]\n2. Action: LoadDB[b]\n\nSelected action:"
    assert set(said([*opening, Message("user", given)])) == {"LoadDB[a]"}
    current = "[Review]\nCurrent action: LoadDB[c]\n\nRefined action:"
    assert set(said([*opening, Message("user", current)])) == {"Action: LoadDB[c]"}


@each_row("template", ["easy", "linking", "classification"])
def test_malformed_replies_are_prose_for_every_agent_at_the_configured_rate(template):
    for given in (sql(template), asking("ehragent", "debug", cell="x", failed="y"), [Message("user", QUESTION)]):
        texts = said(given, malformed=1.0)
        assert not any("```" in text or "`" in text or "- " in text for text in texts) and len(set(texts)) == 2
    assert 0.35 < fmean("```" in text for text in said(sql("easy"), malformed=0.5)) < 0.65


def test_an_expert_answers_from_memory_at_the_rate_of_its_competence():
    voice = Expert("Surgery", neutral=False)
    texts = said([Message("user", QUESTION)], competence=0.85, voice=voice)
    assert all(favoured_answers(text) for text in texts) and 0.05 < fmean("['5']" in text for text in texts) < 0.3
