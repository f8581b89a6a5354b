import re
from itertools import product

import pytest

from components.core.errors import ActionError
from components.core.messages import Image, Message, ToolCall, ToolSpec
from components.core.tools import Offer
from components.core.types import Observation
from components.grammars.bracket_json import BracketJson, find_marker, read_call
from components.radiology.tasks import REFUSAL_FIELDS
from tests.table import each_row

REFUSAL = (
    '{"purpose": "No segmentor.", "category": "Organ Segmentor", "anatomy": "Chest", "modality": "CT", '
    '"ability": "SpecificToolMissing"}'
)


class Calculator:
    spec = ToolSpec("Calculator", "Computes.", {"type": "object", "properties": {"expression": {"type": "string"}}})
    effect = "pure"


OPEN = Offer({"Calculator": Calculator()})
REFUSABLE = Offer({"Calculator": Calculator()}, refusal_fields=REFUSAL_FIELDS)


def parse(text, offer=OPEN):
    return BracketJson().parse(Message("assistant", text), offer)


def test_thought_and_action_are_read_and_the_rest_is_ignored():
    action = parse('Thought: I add.\nNow.\nAction: Calculator[{"expression": "2 + 2"}]\nObservation: 5\nAction: X[{}]')
    assert [(call.name, call.parsed) for call in action.calls] == [("Calculator", {"expression": "2 + 2"})]
    assert action.answer is None and not action.last


@each_row(
    "text",
    [
        "Thought: I know it. Calculator[{}]",
        "Thought: no action",
        "Well.\nAction: Calculator[{}]",
        "Calculator[{}",
        'Calculator[{"expression": "1"}',
        "",
        "Calculator",
    ],
)
def test_a_reply_without_a_readable_action_is_answered_with_the_expected_form(text):
    with pytest.raises(ActionError, match="Action: Name") as caught:
        parse(text)
    assert caught.value.label == "unparsable_reply"


def test_parameters_survive_brackets_line_breaks_quotes_and_the_word_action():
    text = 'Finish[{"response": "as in [{x}] the\nAction of \\"it\\""}]'
    assert read_call(text).params == {"response": 'as in [{x}] the\nAction of "it"'}


def test_python_literals_are_read_without_being_evaluated():
    text = """X[{'a': True, "b": (1, None), 'c': 'it\\'s "so"', 'd': {'e': -2.5},}]"""
    assert read_call(text).params == {"a": True, "b": [1, None], "c": 'it\'s "so"', "d": {"e": -2.5}}
    assert read_call("X[{'a': __import__('os')}]").params == {"a": "__import__('os')"}


@each_row("value, answer", [('"B"', "B"), ("7", "7"), ("true", "true"), ('["a", "ß"]', '["a", "ß"]'), ("null", "null")])
def test_finish_gives_the_answer_as_text(value, answer):
    assert parse(f'Action: Finish[{{"response": {value}}}]').answer == answer


@each_row("params", ["{}", '{"answer": "B"}', '{"response": "B", "sure": true}'])
def test_finish_with_wrong_parameters_is_reported_and_is_not_an_answer(params):
    with pytest.raises(ActionError, match="response") as caught:
        parse(f"Finish[{params}]")
    assert caught.value.label == "bad_arguments"


def test_refusal_holds_the_five_fields():
    action = parse(f"Thought: it is missing\nAction: Refuse[{REFUSAL}]", REFUSABLE)
    assert action.refusal.grounds["ability"] == "SpecificToolMissing"
    assert list(action.refusal.grounds) == list(REFUSAL_FIELDS)
    assert action.purpose == "No segmentor."


def test_refusal_without_a_field_is_reported_with_the_field():
    with pytest.raises(ActionError, match="'category' is missing"):
        parse('Refuse[{"purpose": "No segmentor."}]', REFUSABLE)


def test_refuse_is_an_unknown_tool_where_the_task_may_not_be_refused():
    assert [call.name for call in parse(f"Refuse[{REFUSAL}]").calls] == ["Refuse"]


def test_radiology_call_keeps_purpose_and_variables():
    action = parse('Action: TOOL3[{"purpose": "find organs", "input": ["$Image$", "$Anatomy$"]}]')
    assert action.purpose == "find organs"
    assert action.calls[0].parsed["input"] == ["$Image$", "$Anatomy$"]


def test_unserialisable_parameters_are_reported_and_do_not_stop_the_run():
    for text in ('X[{"a": "\\ud800"}]', "X[{" + '"a":{' * 5000, "X[{" + "'a': " * 5000):
        with pytest.raises(ActionError):
            parse(text)


def test_instructions_name_tools_closing_and_refusal_only_where_it_is_open():
    text = BracketJson().instructions(OPEN)
    assert '"name":"Calculator"' in text and "Finish[" in text and "Refuse" not in text
    text = BracketJson().instructions(REFUSABLE)
    assert all(value in text for values in REFUSAL_FIELDS.values() for value in values)
    example = next(line for line in text.splitlines() if line.startswith("Action: Refuse"))
    assert list(parse(example, REFUSABLE).refusal.grounds) == list(REFUSAL_FIELDS)


def test_observation_is_the_next_user_message_with_its_images():
    image = Image("data:image/png;base64,AA")
    call = ToolCall("call", "Calculator", "{}")
    assert BracketJson().render(call, Observation("4")) == Message("user", "Observation: 4")
    assert BracketJson().render(call, Observation("see", images=(image,))).content == ("Observation: see", image)


def test_an_action_begins_a_line():
    letters = ("Action:", "x", " ", "\t", "\n")
    for parts in product(letters, repeat=5):
        found = re.search(r"^[ \t]*Action:", text := "".join(parts), re.MULTILINE)
        assert find_marker(text) == (found and found.start()), text
