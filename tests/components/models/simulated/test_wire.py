import orjson
import pytest

from components.core.messages import Image, Message, ToolCall, ToolSpec
from components.models.simulated.wire import Unreadable, asked_in, body_of, message_of, spec_of


def test_what_came_over_the_wire_has_the_same_digest():
    messages = [
        Message("user", ("text", Image("data:image/png;base64,AA"))),
        Message("assistant", "", (ToolCall("1", "add", '{"n": 1}'),)),
        Message("tool", "2", tool_call_id="1"),
    ]
    assert [message_of(orjson.loads(m.wire)).digest for m in messages] == [m.digest for m in messages]
    tool = ToolSpec("add", "Adds.", {"type": "object", "properties": {"n": {"type": "integer"}}})
    assert spec_of(orjson.loads(tool.wire)).digest == tool.digest


def test_a_request_is_read_with_what_it_may_leave_out():
    asked = asked_in(body_of(b'{"messages": [{"role": "user", "content": "x"}]}'))
    assert (asked.messages, asked.tools, asked.seed, asked.model) == ((Message("user", "x"),), (), 0, "")
    assert asked_in(body_of(b'{"messages": [{"role": "user"}], "seed": 3, "model": "m"}')).seed == 3


@pytest.mark.parametrize("raw", [b"{", b"[]", b"3", b"{}", b'{"messages": []}', b'{"messages": [3]}', b'{"messages": [{"role": "user"}], "seed": "x"}', b'{"messages": [{"role": "user"}], "tools": [1]}'])  # fmt: skip
def test_what_is_no_request_is_unreadable(raw):
    with pytest.raises(Unreadable):
        asked_in(body_of(raw))
