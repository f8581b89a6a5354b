"""Messages: the fields that are sent, the fields that identify a request, and the others."""

from dataclasses import FrozenInstanceError, replace

import orjson
import pytest

from components.core.messages import Image, Message, Sampling, ToolCall, ToolSpec, ToolSpecs, continued


def test_the_wire_form_is_that_of_chat_completions():
    call = ToolCall("1", "count", '{"n": 1}')
    assert orjson.loads(Message("assistant", "hm", (call,)).wire) == {
        "role": "assistant",
        "content": "hm",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "count", "arguments": '{"n": 1}'}}],
    }
    assert orjson.loads(Message("tool", "2", tool_call_id="1").wire)["tool_call_id"] == "1"
    picture = Message("user", ("look", Image("data:image/png;base64,AA==")))
    assert [part["type"] for part in orjson.loads(picture.wire)["content"]] == ["text", "image_url"]
    assert picture.text == "look"


def test_source_and_reasoning_are_not_sent_and_do_not_identify():
    plain = Message("user", "a")
    noted = Message("user", "a", source="set/x.jinja", reasoning="because")
    assert plain == noted and plain.digest == noted.digest and b"because" not in noted.wire
    assert Message("user", "b").digest != plain.digest != Message("system", "a").digest


def test_arguments_that_are_not_an_object_are_refused():
    assert ToolCall("1", "count", "").parsed == {}
    with pytest.raises(ValueError, match="must be a JSON object, found list"):
        _ = ToolCall("1", "count", "[1]").parsed
    with pytest.raises(ValueError):
        _ = ToolCall("1", "count", "{").parsed


def test_a_card_is_one_line_and_facts_are_never_shown():
    spec = ToolSpec("count", "adds\nthings", card={"Name": "count", "Note": "a\nb"}, facts={"secret": 7})
    assert "\n" not in spec.card_text and "secret" not in spec.card_text and b"secret" not in spec.wire
    assert orjson.loads(ToolSpec("count", "adds").card_text)["description"] == "adds"


def test_sampling_is_merged_field_by_field():
    base = Sampling(temperature=0.0, max_tokens=9, extra={"a": 1, "b": 1})
    merged = base.merged(Sampling(temperature=1.0, stop=("x",), extra={"b": 2}))
    assert orjson.loads(merged.wire) == {"temperature": 1.0, "max_tokens": 9, "stop": ["x"], "a": 1, "b": 2}
    assert base.merged(None) is base


ASK = Message("user", "And now?")


def test_a_question_is_joined_to_the_users_last_message():
    assert [m.text for m in continued([Message("system", "s"), Message("user", "u")], ASK)] == ["s", "u\n\nAnd now?"]
    assert [m.text for m in continued([Message("assistant", "a")], ASK)] == ["a", "And now?"]
    seen = Message("user", ("look", Image("data:x")))
    assert continued([seen], ASK)[0].content == ("look", Image("data:x"), "And now?")


def test_a_message_cannot_be_changed_and_is_equal_by_what_is_sent():
    message = Message("user", "a", source="set/a.jinja")
    with pytest.raises(FrozenInstanceError):
        message.content = "b"
    assert message == Message(role="user", content="a", reasoning="x") != replace(message, content="b")
    assert replace(message, content="b").source == "set/a.jinja" and hash(message) == hash(Message("user", "a"))


def test_system_messages_with_equal_content_share_their_bytes_and_others_do_not():
    one, same = Message("system", "Act."), Message("system", "Act.", source="prompts/act.j2")
    assert one.wire is same.wire and one.digest is same.digest
    for other in (Message("system", ("Act.",)), Message("system", "Act"), Message("user", "Act.")):
        assert other.wire != one.wire and other.digest != one.digest


def test_tools_are_encoded_once_for_all_requests():
    tools = ToolSpecs([ToolSpec("a", "A"), ToolSpec("b", "B")])
    assert [spec["function"]["name"] for spec in orjson.loads(b"[%s]" % tools.wire)] == ["a", "b"]
    assert tools.wire is tools.wire and tools.digests == tools[0].digest + tools[1].digest
    assert tools.name != ToolSpecs(reversed(tools)).name and len(tools.name) == 16
