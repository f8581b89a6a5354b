import ast
import os
from pathlib import Path

import orjson
import pytest

from components.core.errors import ToolError
from components.files.attachments import SampleFiles
from components.sql.cleaning import text_rows
from components.tools.sql_coder import SQLCoder
from tests.components.tools.ward import SCRIPT, Speaking, ward
from tests.slow import slow

DATA = os.environ.get("CLINICAL_DATA_DIR")
COUNT = "SELECT count(*) FROM patients"
TABLES = [
    {"db_id": "mimic_iv", "table_names_original": ["patients"], "column_names_original": [[-1, "*"], [0, "subject_id"]],
     "column_types": ["text", "number"], "primary_keys": [1], "foreign_keys": []}
]  # fmt: skip


def speaking(folder, *replies, name="mimic_iv", script=SCRIPT):
    return Speaking(SampleFiles({name: ward(folder, name, script)}), list(replies))


async def test_the_models_statement_is_run(tmp_path):
    context = speaking(tmp_path, "Here:\n```sql\nSELECT drug\nFROM prescriptions\n```")
    found = await SQLCoder()(context, sql_database="mimic_iv", query="Which drugs were given?")
    assert found.text == "[['aspirin'], ['heparin']]"
    assert found.data == {"sql": "SELECT drug FROM prescriptions", "attempts": 1, "n_rows": 2}
    assert context.roles == ["tool"]


async def test_the_prompt_shows_schema_time_and_question(tmp_path):
    context = speaking(tmp_path, COUNT)
    await SQLCoder()(context, sql_database="mimic_iv", query="How many patients?")
    ((message,),) = context.asked
    assert message.source == "sql_coder/convert.jinja"
    for part in (
        "patients(subject_id, gender)\nprescriptions(row_id, subject_id, drug, starttime)\n"
        "prescriptions.subject_id = patients.subject_id\n",
        "The time of asking is fixed: 2100-12-31 23:59:00.",
        "Question: How many patients?",
    ):
        assert part in message.text
    assert "failed" not in message.text


async def test_the_next_prompt_shows_what_failed(tmp_path):
    context = speaking(tmp_path, "SELECT dose FROM prescriptions", "DROP TABLE patients", COUNT)
    found = await SQLCoder()(context, sql_database="mimic_iv", query="How many patients?")
    assert found.text == "[['2.0']]" and found.data["attempts"] == 3
    second, third = context.asked[1][0].text, context.asked[2][0].text
    assert "SELECT dose FROM prescriptions\nSQLite said: no such column: dose" in second
    assert "DROP TABLE patients\nSQLite said: not authorized" in third and "dose" not in third


async def test_a_damaged_database_is_unavailable_and_no_model_is_asked_to_repair_it(tmp_path):
    context = speaking(tmp_path, COUNT)
    file = next(path for path in tmp_path.rglob("*.sqlite"))
    folder = file.parent
    (folder / "tables.json").write_bytes(orjson.dumps(TABLES))
    file.write_bytes(b"no database" * 99)
    with pytest.raises(
        ToolError, match=r"^The database 'mimic_iv' cannot be read: file is not a database\.$"
    ) as caught:
        await SQLCoder()(context, sql_database="mimic_iv", query="How many patients?")
    assert caught.value.label == "unavailable" and len(context.asked) == 1


async def test_after_the_last_attempt_the_conversion_has_failed(tmp_path):
    context = speaking(tmp_path, *[f"SELECT x{n} FROM patients" for n in range(1, 6)])
    with pytest.raises(ToolError, match=r"after 5 attempts; the last error: no such column: x5$") as caught:
        await SQLCoder()(context, sql_database="mimic_iv", query="Which x?")
    assert caught.value.label == "conversion_failed" and len(context.asked) == 5
    assert caught.value.data == {"sql": "SELECT x5 FROM patients", "attempts": 5, "n_rows": 0}


@pytest.mark.parametrize("reply", ["null", " NULL ", "```sql\nnull\n```", "'null';"])
async def test_null_declines(tmp_path, reply):
    with pytest.raises(ToolError, match=r"^null$") as caught:
        await SQLCoder()(speaking(tmp_path, reply), sql_database="mimic_iv", query="What is the weather?")
    assert caught.value.label == "declined"


async def test_no_rows_are_an_answer(tmp_path):
    context = speaking(tmp_path, "SELECT drug FROM prescriptions WHERE drug = 'x'")
    found = await SQLCoder()(context, sql_database="mimic_iv", query="Which drugs?")
    assert (found.text, found.data["n_rows"]) == ("[]", 0)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT drug FROM prescriptions WHERE starttime > datetime(current_time, '-2 day')",
        "SELECT drug FROM prescriptions WHERE starttime > datetime(CURRENT_TIME, '-2 day')",
        "with p as (select * from prescriptions) select drug from p where row_id = 0",
        "```sql\nselect 'heparin'\n```",
    ],
)
async def test_sql_is_run_without_a_model(tmp_path, query):
    context = speaking(tmp_path)
    found = await SQLCoder(attempts=0)(context, sql_database="mimic_iv", query=query)
    assert found.text == "[['heparin']]" and not context.asked and found.data["attempts"] == 0


async def test_sql_that_fails_is_repaired(tmp_path):
    context = speaking(tmp_path, COUNT)
    found = await SQLCoder()(context, sql_database="mimic_iv", query="SELECT count(*) FROM people")
    assert found.text == "[['2.0']]"
    assert "SELECT count(*) FROM people\nSQLite said: no such table: people" in context.asked[0][0].text


@pytest.mark.parametrize(
    ("query", "message"),
    [("How many?", "no SQL statement, and no model was asked"), ("SELECT x FROM y", "no such table: y")],
)
async def test_without_attempts_only_sql_is_accepted(tmp_path, query, message):
    with pytest.raises(ToolError, match=message) as caught:
        await SQLCoder(attempts=0)(speaking(tmp_path), sql_database="mimic_iv", query=query)
    assert caught.value.label == "conversion_failed"


async def test_the_dataset_chooses_the_time(tmp_path):
    context = speaking(tmp_path, name="ward", script=SCRIPT)
    query = "SELECT current_time"
    with pytest.raises(ToolError, match="'ward' has no fixed current_time"):
        await SQLCoder(attempts=0)(context, sql_database="ward", query=query)
    context = speaking(tmp_path / "x", name="eicu", script=SCRIPT)
    found = await SQLCoder(attempts=0)(context, sql_database="eicu", query=query)
    assert found.text == "[['2105-12-31 23:59:00']]"


async def test_a_database_without_a_fixed_time_has_none_in_its_prompt(tmp_path):
    context = speaking(tmp_path, COUNT, name="ward")
    await SQLCoder()(context, sql_database="ward", query="How many patients?")
    assert "time of asking" not in context.asked[0][0].text


async def test_a_schema_that_cannot_be_read_is_unavailable(tmp_path):
    context = speaking(tmp_path)
    (tmp_path / "mimic_iv" / "tables.json").write_text("{")
    with pytest.raises(ToolError, match=r"tables\.json") as caught:
        await SQLCoder()(context, sql_database="mimic_iv", query="How many?")
    assert caught.value.label == "unavailable"


@pytest.mark.parametrize("arguments", [{"query": 3}, {"query": ""}, {"sql_database": None}])
async def test_arguments_are_checked(tmp_path, arguments):
    with pytest.raises(ToolError) as caught:
        await SQLCoder()(speaking(tmp_path), **({"sql_database": "mimic_iv", "query": COUNT} | arguments))
    assert caught.value.label == "bad_arguments"


@pytest.mark.parametrize("query", ["Selected drugs?", "How many? select"])
async def test_a_question_is_not_a_statement(tmp_path, query):
    with pytest.raises(ToolError, match="no SQL statement"):
        await SQLCoder(attempts=0)(speaking(tmp_path), sql_database="mimic_iv", query=query)


MIMIC_IV = Path(DATA or ".", "ehrsql2024", "data", "mimic_iv")
DEMO = Path(DATA or ".", "ehragent_demo")


async def wrong_answers(folder, questions):
    """The questions whose gold statement, run as the tool runs it, does not return the published rows."""
    tool, context = SQLCoder(attempts=0), Speaking(SampleFiles({"db": folder}))
    found = {}
    for id, sql, rows in questions:
        try:
            text = (await tool(context, sql_database="db", query=sql)).text
        except ToolError as error:
            text = str(error)
        if text != str(text_rows(rows)):
            found[id] = (sql, text, rows)
    return found


@pytest.mark.skipif(not MIMIC_IV.is_dir(), reason="needs CLINICAL_DATA_DIR/ehrsql2024")
@pytest.mark.parametrize(
    ("split", "size"), [pytest.param("train", 90, marks=slow), ("valid", 40), pytest.param("test", 240, marks=slow)]
)
async def test_published_answers_of_ehrsql_2024(split, size):
    labels, answers = (orjson.loads((MIMIC_IV / split / f"{n}.json").read_bytes()) for n in ("label", "answer"))
    questions = [(id, sql, ast.literal_eval(answers[id])) for id, sql in labels.items() if sql != "null"]
    assert len(questions) == size
    assert await wrong_answers(MIMIC_IV, questions) == {}


@pytest.mark.skipif(not DEMO.is_dir(), reason="needs CLINICAL_DATA_DIR/ehragent_demo")
@pytest.mark.parametrize(
    ("name", "split", "size"),
    [
        pytest.param("mimic_iii", "test", 90, marks=slow),
        ("mimic_iii", "valid", 40),
        pytest.param("eicu", "test", 159, marks=slow),
        pytest.param("eicu", "valid", 40, marks=slow),
    ],
)
async def test_published_answers_of_the_demo_databases(name, split, size):
    rows = orjson.loads((DEMO / name / f"{split}_preprocessed.json").read_bytes())
    tool = SQLCoder(attempts=0)
    assert len(rows) == size and tool.spec.name == "SQLCoder"
    assert await wrong_answers(DEMO / name, [(row["id"], row["query"], row["result"]) for row in rows]) == {}
