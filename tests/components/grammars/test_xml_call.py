import orjson
import pytest

from components.core.errors import ActionError
from components.core.messages import Image, Message, ToolCall, ToolSpec
from components.core.tools import Offer
from components.core.types import Observation
from components.grammars.xml_call import XmlCall
from components.radiology.tasks import REFUSAL_FIELDS
from tests.table import each_row


class Tool:
    spec = ToolSpec("TOOL1", "Finds.", card={"Name": "TOOL1", "Ability": "finds"})
    effect = "episode"


OPEN = Offer({"TOOL1": Tool()})
REFUSABLE = Offer({"TOOL1": Tool()}, refusal_fields=REFUSAL_FIELDS)
NO_CALL = (
    "<NoCall><Purpose>none fits</Purpose><Category>Organ Segmentor</Category><Anatomy>Chest</Anatomy>"
    "<Modality>CT</Modality><Ability>SpecificToolMissing</Ability></NoCall>"
)


def parse(text, offer=OPEN):
    return XmlCall().parse(Message("assistant", text), offer)


def element(tag="Call", tool="TOOL1", given="['$Image$']"):
    return f"<{tag}><Purpose> do it </Purpose>\n<Tool> {tool} </Tool><Input>{given}</Input></{tag}>"


def test_first_complete_element_counts_and_text_around_it_is_ignored():
    action = parse(f"Well, <Call> is the tag.</EndCall> {element('EndCall')} and {element('EndCall', 'TOOL2')}")
    assert [(call.name, call.parsed["input"]) for call in action.calls] == [("TOOL1", "['$Image$']")]
    assert (action.last, action.purpose) == (True, "do it")


def test_call_continues_and_end_call_is_the_last():
    assert not parse(element("Call")).last
    assert parse(element("EndCall")).last


def test_tool_that_does_not_exist_is_read_all_the_same():
    assert parse(element(tool="TOOL9")).calls[0].name == "TOOL9"


def test_input_that_is_a_json_object_gives_named_arguments():
    assert parse(element(given='{"expression": "2 + 2"}')).calls[0].parsed == {"expression": "2 + 2"}
    broken = parse(element(given='{"expression": ')).calls[0].parsed
    assert broken == {"purpose": "do it", "input": '{"expression":'}


@each_row(
    "text, message",
    [
        ("I would call TOOL1.", "no complete <Call> or <EndCall>"),
        (element().replace("Call>", "call>"), "no complete"),
        (element().replace("</Call>", ""), "no complete"),
        ("<Call><Tool>TOOL1</Tool><Input>x</Input></Call>", "<Purpose> is missing"),
        ("<Call><Purpose>p</Purpose><Tool>TOOL1</Tool><Input>x</Call>", "<Input> is missing"),
        (NO_CALL, "no complete <Call> or <EndCall>"),
    ],
)
def test_a_reply_that_breaks_the_grammar_is_reported_with_the_reason(text, message):
    with pytest.raises(ActionError, match=message) as caught:
        parse(text)
    assert caught.value.label == "unparsable_reply"


def test_refusal_is_read_where_the_task_may_be_refused():
    action = parse(NO_CALL, REFUSABLE)
    assert list(action.refusal.grounds) == list(REFUSAL_FIELDS)
    assert action.refusal.grounds["modality"] == "CT"
    with pytest.raises(ActionError, match="<Ability> is missing"):
        parse(NO_CALL.replace("Ability>", "Able>"), REFUSABLE)


def test_instructions_hold_the_cards_and_the_refusal_only_where_it_is_open():
    text = XmlCall().instructions(OPEN)
    assert orjson.dumps(Tool.spec.card).decode() in text.splitlines() and "NoCall" not in text
    assert "<NoCall>" in XmlCall().instructions(REFUSABLE)
    assert XmlCall().specs(REFUSABLE) == ()


def test_observation_is_the_next_user_message_with_its_images():
    image = Image("data:image/png;base64,AA")
    message = XmlCall().render(ToolCall("call", "TOOL1", "{}"), Observation("seen", images=(image,)))
    assert (message.role, message.content) == ("user", ("<Observation>\nseen\n</Observation>", image))
