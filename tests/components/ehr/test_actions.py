from dataclasses import dataclass

import pytest

from components.core.errors import ToolError
from components.core.tools import NoState, Tool
from components.ehr.actions import Calculate, Calendar, FilterDB, GetValue, LoadDB, SQLInterpreter
from tests.record_desk import TOOLS, counting, state
from tests.table import each_row


@dataclass
class Given:
    """The context of a call."""

    state: object


@pytest.fixture
def given():
    return Given(state())


def test_a_table_is_loaded_narrowed_and_read(given):
    loaded = LoadDB()(given, name="admissions")
    assert loaded.text == "admissions: 3 rows with the columns SUBJECT_ID, HADM_ID, ADMITTIME, DISCHTIME."
    assert FilterDB()(given, conditions="SUBJECT_ID=1").text == "The current table is down to 2 rows."
    assert FilterDB()(given, conditions="max(ADMITTIME)").text == "The current table is down to 1 row."
    assert GetValue()(given, argument="HADM_ID").text == "12"
    LoadDB()(given, name=" prescriptions ")
    assert GetValue()(given, argument="DOSE, sum").text == "183.5"
    assert GetValue()(given, argument="DRUG, list").text.startswith("['aspirin', 'heparin [5,000 units]'")


def test_the_other_tools_need_no_table(given):
    sql = "select DRUG from prescriptions where HADM_ID = 13"
    assert SQLInterpreter()(given, sql=sql).text == "[('insulin',)]"
    assert Calendar()(given, duration="-1 year").text == "2104-12-31 23:59:00"
    assert Calculate()(given, expression="2 ^ 3 ^ 2").text == "512"


def test_an_empty_result_is_said_and_kept_as_it_is(given):
    LoadDB()(given, name="admissions")
    FilterDB()(given, conditions="SUBJECT_ID>7")
    seen = GetValue()(given, argument="HADM_ID")
    assert seen.text and seen.data == {"value": ""}


def test_a_long_result_is_cut_where_a_model_reads_it(given):
    seen = SQLInterpreter()(given, sql=counting(1000))
    assert "first 4,000 of 7,893 characters" in seen.text and len(seen.data["value"]) == 7893
    seen = SQLInterpreter()(given, sql=counting(9000))
    assert seen.data == {"value": None}


@each_row(
    "tool,arguments,label",
    [
        (FilterDB(), {"conditions": "A=1"}, "unknown_table"),
        (GetValue(), {"argument": "A"}, "unknown_table"),
        (LoadDB(), {"name": "patients"}, "unknown_table"),
        (LoadDB(), {"name": ""}, "bad_arguments"),
        (LoadDB(), {"name": 5}, "bad_arguments"),
        (SQLInterpreter(), {"sql": "drop table admissions"}, "forbidden_sql"),
        (SQLInterpreter(), {"sql": "select nothing from admissions"}, "sql_error"),
        (Calendar(), {"duration": "yesterday"}, "bad_duration"),
        (Calculate(), {"expression": "__import__('os')"}, "bad_expression"),
        (Calculate(), {"expression": "9" * 200_000}, "bad_arguments"),
    ],
)
def test_errors_are_reported_with_their_kind(given, tool, arguments, label):
    with pytest.raises(ToolError) as caught:
        tool(given, **arguments)
    assert caught.value.label == label and str(caught.value)


@pytest.mark.parametrize(
    "tool,arguments,label",
    [
        (FilterDB(), {"conditions": "DRUG=1"}, "unknown_column"),
        (FilterDB(), {"conditions": "HADM_ID=5"}, "no_such_value"),
        (FilterDB(), {"conditions": "HADM_ID"}, "bad_condition"),
        (FilterDB(), {"conditions": "HADM_ID>x"}, "type_mismatch"),
        (GetValue(), {"argument": "HADM_ID, median"}, "unknown_operation"),
    ],
)
def test_a_failed_action_leaves_the_current_table_as_it_was(given, tool, arguments, label):
    LoadDB()(given, name="admissions")
    with pytest.raises(ToolError) as caught:
        tool(given, **arguments)
    assert caught.value.label == label and GetValue()(given, argument="HADM_ID, count").text == "3"


def test_groups_are_counted_only_where_that_is_offered(given):
    LoadDB()(given, name="admissions")
    with pytest.raises(ToolError):
        FilterDB(groups=False)(given, conditions="count(SUBJECT_ID)>=2")
    assert "2 rows" in FilterDB()(given, conditions="count(SUBJECT_ID)>=2").text
    assert "count(" in FilterDB().spec.description and "count(" not in FilterDB(groups=False).spec.description


def test_without_a_clock_nothing_is_relative_to_the_current_time():
    with pytest.raises(ToolError, match="no time of its own"):
        Calendar()(Given(state("treqs")), duration="-1 year")


def test_forks_have_tables_of_their_own(given):
    LoadDB()(given, name="admissions")
    fork = Given(given.state.fork())
    FilterDB()(fork, conditions="SUBJECT_ID=2")
    assert GetValue()(given, argument="HADM_ID, count").text == "3"


def test_another_state_is_a_configuration_error():
    with pytest.raises(TypeError, match="state of the toolset ehr"):
        LoadDB()(Given(NoState()), name="admissions")


def test_each_takes_one_text_and_is_a_tool():
    assert all(isinstance(tool, Tool) for tool in TOOLS)
    names = {tool.spec.name: list(tool.spec.parameters["properties"]) for tool in TOOLS}
    assert names == {
        "LoadDB": ["name"], "FilterDB": ["conditions"], "GetValue": ["argument"], "SQLInterpreter": ["sql"],
        "Calendar": ["duration"], "Calculate": ["expression"],
    }  # fmt: skip
