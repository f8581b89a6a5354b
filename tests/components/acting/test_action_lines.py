import json

import pytest

from components.acting.arguments import action_lines, call_of, describe_tools, line_text, parameter_of
from components.core.errors import ActionError, ConfigError
from components.core.messages import Message, ToolCall, ToolSpec
from components.core.types import Action
from tests.attempts import Echo
from tests.table import each_row

TOOLS = {"echo": Echo()}


@each_row(
    "line,name,argument",
    [
        ("LoadDB[admissions]", "LoadDB", "admissions"),
        ("Action: LoadDB[ admissions ]", "LoadDB", "admissions"),
        ("Action 2: LoadDB[admissions]", "LoadDB", "admissions"),
        ("  3. Action: `LoadDB[admissions]`", "LoadDB", "admissions"),
        ("**Action:** LoadDB[admissions]", "LoadDB", "admissions"),
        ("#4 = LoadDB[admissions]", "LoadDB", "admissions"),
        ("- 1) LoadDB [admissions] (the stays)", "LoadDB", "admissions"),
        ("FilterDB[HADM_ID in ['1', '2']||max(T)]", "FilterDB", "HADM_ID in ['1', '2']||max(T)"),
        ("SQLInterpreter[select [a b] from t where x = ']']", "SQLInterpreter", "select [a b] from t where x = ']'"),
        ("Finish[]", "Finish", ""),
        ("GetValue[DRUG", "GetValue", None),
    ],
)
def test_an_action_is_a_name_and_the_text_up_to_the_last_bracket_of_its_line(line, name, argument):
    (found,) = action_lines(line)
    assert (found.name, found.argument) == (name, argument)
    assert line[: found.end].endswith("]") or argument is None


@each_row(
    "text", ["", "Thought: LoadDB[admissions] comes first", "Plan:", "Observation: [(1,)]", "so LoadDB[a]", "[1, 2]"]
)
def test_other_lines_hold_no_action(text):
    assert list(action_lines(text)) == []


def test_the_actions_of_a_text_stand_in_their_order_with_where_they_end():
    text = "Thought: why\n1. LoadDB[a] ok\n\nObservation: b\n2. Finish[c]"
    found = list(action_lines(text))
    assert [one.text for one in found] == ["LoadDB[a]", "Finish[c]"]
    assert text[: found[0].end] == "Thought: why\n1. LoadDB[a]" and text[: found[1].end] == text


def test_endless_heads_take_no_time():
    assert list(action_lines("1." * 100_000 + "\n" + "Action:" * 50_000 + "\n" + " " * 100_000)) == []


def test_a_call_hands_the_argument_over_under_the_tools_own_name():
    assert call_of("echo", 'a "b"\tß', TOOLS).parsed == {"query": 'a "b"\tß'}
    assert call_of("nothing", "x", TOOLS).parsed == {"argument": "x"}


@pytest.mark.parametrize("argument,message", [(None, "not closed"), ("\ud800", "cannot be written")])
def test_a_call_with_invalid_arguments_is_reported(argument, message):
    with pytest.raises(ActionError, match=message):
        call_of("echo", argument, TOOLS)


@each_row("properties", [{}, {"a": {"type": "string"}, "b": {"type": "string"}}, {"n": {"type": "number"}}, {"x": {}}])
def test_tools_with_other_parameters_are_refused(properties):
    with pytest.raises(ConfigError, match="one text parameter; odd has"):
        parameter_of(ToolSpec("odd", "", {"type": "object", "properties": properties}))


def test_tools_are_described_by_name_argument_and_what_they_do():
    assert describe_tools(TOOLS) == [{"name": "echo", "argument": "query", "about": "repeats"}]


def calls(*arguments):
    return Action(Message("assistant", "as written"), tuple(ToolCall("call", "echo", one) for one in arguments))


@each_row(
    "action,text",
    [
        (Action(Message("assistant", "Finish[5]"), answer="5"), "Finish[5]"),
        (calls('{"query": "a"}', '{"query": "b"}'), "echo[a]; echo[b]"),
        (calls('{"n": 2}'), 'echo[{"n":2}]'),
        (calls("broken"), "echo[broken]"),
        (Action(Message("assistant", " prose "), error="unparsable_reply"), "prose"),
    ],
)
def test_an_action_is_described_as_one_line_where_it_has_that_form(action, text):
    assert line_text(action) == text


def test_arguments_are_json():
    assert json.loads(call_of("echo", "a\\b", TOOLS).arguments) == {"query": "a\\b"}
