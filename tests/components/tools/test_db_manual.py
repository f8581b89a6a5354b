import pytest

from components.core.errors import ToolError
from components.files.attachments import SampleFiles
from components.tools.db_manual import DBManual
from tests.components.tools.ward import Speaking, ward


def speaking(folder, *replies, name="ward"):
    return Speaking(SampleFiles({name: ward(folder, name)}), list(replies))


async def test_a_database_without_notes_has_a_manual_from_its_schema(tmp_path):
    context = speaking(tmp_path)
    found = await DBManual()(context, sql_database="ward", query="Which drug was prescribed?")
    assert found.text == (
        "Database ward\n\nTables that fit the query:\n"
        "- prescriptions(row_id int, subject_id int, drug text, starttime timestamp(0))\n\n"
        "Joins:\n- prescriptions.subject_id = patients.subject_id\n\n"
        "Other tables:\n- patients"
    )
    assert found.data == {"database": "ward", "tables": ["prescriptions"]} and not context.asked


async def test_notes_of_a_known_database_are_shown(tmp_path):
    found = await DBManual()(speaking(tmp_path, name="mimic_iv"), sql_database="mimic_iv", query="how many women?")
    assert found.text.startswith("Database mimic_iv; the time of asking (current_time) is 2100-12-31 23:59:00\n\nGood")
    assert "- patients(subject_id int key, gender text): One row per person." in found.text
    assert "- prescriptions: Drugs and medications prescribed.\n" in found.text + "\n"


async def test_all_tables_are_shown_when_none_matches(tmp_path):
    found = await DBManual()(speaking(tmp_path), sql_database="ward", query="the weather")
    assert found.data["tables"] == ["patients", "prescriptions"] and "Other tables" not in found.text


REPLY = "Hints: Count the rows of patients.\nUse gender = 'f'.\n\nQuestion: And then?\nHints: no"


async def test_hints_are_the_models_up_to_the_next_question(tmp_path):
    context = speaking(tmp_path, REPLY, name="mimic_iii")
    found = await DBManual(hints=True)(context, sql_database="mimic_iii", query="How many women?")
    assert found.text == "Count the rows of patients.\nUse gender = 'f'."
    ((message,),) = context.asked
    assert context.roles == ["tool"] and message.source == "db_manual/hints.jinja"
    assert "Tables that fit the query:\n- patients(" in message.text
    assert message.text.count("\nQuestion: ") == 4 and message.text.endswith("Question: How many women?\nHints:")


@pytest.mark.parametrize("reply", ["", " \n", "Hints:", "Question: x\nHints: y"])
async def test_no_hints_are_an_error(tmp_path, reply):
    with pytest.raises(ToolError, match="no hints") as caught:
        await DBManual(hints=True)(speaking(tmp_path, reply), sql_database="ward", query="drug")
    assert caught.value.label == "empty"


async def test_an_unknown_database_is_not_found(tmp_path):
    with pytest.raises(ToolError, match="no input 'other'") as caught:
        await DBManual()(speaking(tmp_path), sql_database="other", query="drug")
    assert caught.value.label == "not_found"


async def test_a_schema_that_cannot_be_read_is_unavailable(tmp_path):
    context = speaking(tmp_path)
    (tmp_path / "ward" / "tables.json").write_text("[]")
    with pytest.raises(ToolError, match=r"tables\.json of 'ward'") as caught:
        await DBManual()(context, sql_database="ward", query="drug")
    assert caught.value.label == "unavailable"


@pytest.mark.parametrize("arguments", [{"query": 3}, {"query": ""}, {"sql_database": None}])
async def test_arguments_are_checked(tmp_path, arguments):
    with pytest.raises(ToolError) as caught:
        await DBManual()(speaking(tmp_path), **({"sql_database": "ward", "query": "drug"} | arguments))
    assert caught.value.label == "bad_arguments"


def test_the_spec_says_what_it_needs():
    assert DBManual().spec.name == "DBManual" and DBManual().spec.facts["needs"] == "sql_database"
