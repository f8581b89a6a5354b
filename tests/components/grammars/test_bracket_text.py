from dataclasses import replace

import pytest

from components.core.errors import ActionError, ConfigError
from components.core.messages import Image, Message, ToolCall
from components.core.tools import Offer
from components.core.types import Observation
from components.grammars.bracket_json import BracketText
from components.radiology.tasks import REFUSAL_FIELDS
from tests.attempts import Echo
from tests.parts import Count
from tests.table import each_row

OPEN = Offer({"echo": Echo()})
REFUSABLE = replace(OPEN, refusal_fields={"reason": ()})


def parse(text, offer=OPEN):
    return BracketText().parse(Message("assistant", text), offer)


def test_the_first_action_counts_and_what_the_model_made_up_after_it_is_cut_off():
    action = parse("Thought: first this.\nAction: echo[a[0] > 1]\nObservation: 5\nAction: Finish[5]")
    assert [(call.name, call.parsed) for call in action.calls] == [("echo", {"query": "a[0] > 1"})]
    assert action.message == Message("assistant", "Thought: first this.\nAction: echo[a[0] > 1]")


def test_finish_gives_the_text_between_its_brackets():
    assert parse("Thought: done\nFinish[a, b [c]]").answer == "a, b [c]"


@each_row("text", ["", "The answer is 5.", "Thought: echo[a]", "Action: echo(a)"])
def test_a_reply_without_an_action_is_answered_with_the_expected_form(text):
    with pytest.raises(ActionError, match=r"Name\[argument\]") as caught:
        parse(text)
    assert caught.value.label == "unparsable_reply"


def test_an_unclosed_bracket_is_reported():
    with pytest.raises(ActionError, match="'echo' is not closed on its line"):
        parse("Action: echo[select 1\nfrom a]")


def test_an_unknown_tool_is_a_call_that_the_door_refuses():
    assert [(call.name, call.parsed) for call in parse("sum[a]").calls] == [("sum", {"argument": "a"})]


@pytest.mark.parametrize("text", ["Refuse[no table holds it]", 'Refuse[{"reason": "no table holds it"}]'])
def test_a_refusal_states_its_grounds_where_it_is_open(text):
    assert parse(text, REFUSABLE).refusal.grounds == {"reason": "no table holds it"}
    assert [call.name for call in parse(text).calls] == ["Refuse"]


def test_a_refusal_with_several_grounds_names_each():
    offer = replace(OPEN, refusal_fields=REFUSAL_FIELDS)
    fields = ", ".join(f'"{name}": "x"' for name in REFUSAL_FIELDS)
    assert list(parse(f"Refuse[{{{fields}}}]", offer).refusal.grounds) == list(REFUSAL_FIELDS)
    with pytest.raises(ActionError, match="is missing"):
        parse('Refuse[{"purpose": "x"}]', offer)


def test_instructions_name_tools_the_end_and_the_refusal_only_where_it_is_open():
    text = BracketText().instructions(OPEN)
    assert "echo[query]: repeats" in text and "Finish[answer]" in text and "Refuse" not in text
    assert "Refuse[" in BracketText().instructions(REFUSABLE)
    assert "echo" not in BracketText().instructions(Offer({})) and BracketText().specs(OPEN) == ()


def test_tools_with_other_parameters_than_one_text_are_refused():
    with pytest.raises(ConfigError, match="count has n"):
        BracketText().instructions(Offer({"count": Count()}))


def test_the_observation_is_the_next_user_message_with_its_images():
    call, image = ToolCall("call", "echo", "{}"), Image("data:x")
    assert BracketText().render(call, Observation("4")) == Message("user", "Observation: 4")
    assert BracketText().render(call, Observation("see", images=(image,))).content == ("Observation: see", image)
