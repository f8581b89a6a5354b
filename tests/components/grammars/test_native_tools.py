import pytest

from components.core.errors import ActionError
from components.core.messages import Image, Message, ToolCall, ToolSpec
from components.core.tools import Offer
from components.core.types import Observation
from components.grammars.native_tools import NativeTools
from components.radiology.tasks import REFUSAL_FIELDS
from tests.table import each_row


class Measure:
    spec = ToolSpec("measure", "Measures.", {"type": "object", "properties": {"site": {"type": "string"}}})
    effect = "pure"


OPEN = Offer({"measure": Measure()})
REFUSABLE = Offer({"measure": Measure()}, refusal_fields=REFUSAL_FIELDS)
GROUNDS = (
    '{"purpose": "No tool.", "category": "Organ Segmentor", "anatomy": "Chest", "modality": "CT", '
    '"ability": "SpecificToolMissing"}'
)


def reply(*calls, text=""):
    return Message("assistant", text, tuple(ToolCall(*call) for call in calls))


def test_offered_tools_are_sent_and_refuse_only_where_it_is_open():
    assert [spec.name for spec in NativeTools().specs(OPEN)] == ["measure"]
    measure, refuse = NativeTools().specs(REFUSABLE)
    assert measure is Measure.spec
    assert refuse.parameters["required"] == list(REFUSAL_FIELDS)
    assert refuse.parameters["properties"]["ability"]["enum"] == list(REFUSAL_FIELDS["ability"])
    assert "enum" not in refuse.parameters["properties"]["purpose"]


def test_a_custom_set_is_given_the_names_of_the_tools(tmp_path):
    (tmp_path / "instructions.jinja").write_text("Call {{ tools | join(' or ') }}.")
    grammar = NativeTools(str(tmp_path))
    assert grammar.instructions(OPEN) == "Call measure."
    assert grammar.instructions(Offer({"look": Measure(), "measure": Measure()})) == "Call look or measure."


def test_several_calls_of_one_reply_are_kept_with_their_ids():
    message = reply(("a", "measure", '{"site": "arm"}'), ("b", "unheard_of", ""), text="I measure.")
    action = NativeTools().parse(message, OPEN)
    assert action.calls == message.tool_calls
    assert action.answer is None


def test_message_without_calls_is_the_answer():
    assert NativeTools().parse(reply(text="Answer: B"), OPEN).answer == "Answer: B"


def test_an_empty_message_is_reported_and_is_not_an_answer():
    with pytest.raises(ActionError) as caught:
        NativeTools().parse(reply(text=" \n"), OPEN)
    assert (caught.value.label, caught.value.call_id) == ("empty_reply", None)


@each_row("arguments", ['{"site": ', '["arm"]', "arm", '"\ud800"'])
def test_malformed_arguments_are_reported_with_the_id_of_the_call(arguments):
    with pytest.raises(ActionError, match=r"measure are not a JSON object.*none of the 2") as caught:
        NativeTools().parse(reply(("a", "measure", "{}"), ("b", "measure", arguments)), OPEN)
    assert caught.value.call_id == "b"


def test_a_refusal_ends_the_episode_whatever_else_the_reply_contains():
    message = reply(("a", "measure", "{}"), ("b", "refuse", GROUNDS))
    action = NativeTools().parse(message, REFUSABLE)
    assert action.refusal.grounds["anatomy"] == "Chest"
    assert action.calls == ()


def test_refusal_without_a_field_is_reported_with_the_field():
    with pytest.raises(ActionError, match="'ability' is missing") as caught:
        NativeTools().parse(reply(("b", "refuse", GROUNDS.replace("ability", "able"))), REFUSABLE)
    assert caught.value.call_id == "b"


def test_refuse_is_an_unknown_tool_where_the_task_may_not_be_refused():
    assert [call.name for call in NativeTools().parse(reply(("b", "refuse", GROUNDS)), OPEN).calls] == ["refuse"]


def test_observation_answers_its_call_and_says_what_it_cannot_show():
    seen = Observation("four", images=(Image("data:image/png;base64,AA"),))
    message = NativeTools().render(ToolCall("a", "measure", "{}"), seen)
    assert (message.role, message.tool_call_id) == ("tool", "a")
    assert message.text.startswith("four\n[1 image")


def test_observation_that_answers_no_call_is_a_user_message():
    message = NativeTools().render(ToolCall("call", "", ""), Observation("Your reply could not be read."))
    assert message == Message("user", "Your reply could not be read.")


def test_instructions_speak_of_functions_and_refusal_only_where_they_are_offered():
    assert "functions" not in NativeTools().instructions(Offer({}))
    assert "refuse" not in NativeTools().instructions(OPEN)
    assert "call refuse" in NativeTools().instructions(REFUSABLE)
