import pytest

from components.core.errors import ModelError
from components.core.messages import NO_TOOLS, Message, Request, Sampling, ToolCall
from components.models.scripted import Scripted


def request(text="Which part is shown?"):
    return Request((Message("user", text),), NO_TOOLS, Sampling(), "act", "main", "s", 0, "main", 0, 7)


async def test_replies_come_in_order_and_requests_are_kept():
    model = Scripted(["one", Message("assistant", "", (ToolCall("a", "add", "{}"),))])
    first, second = await model.generate(request("x")), await model.generate(request("y"))
    assert (first.message, first.finish) == (Message("assistant", "one"), "stop")
    assert (second.message.tool_calls[0].name, second.finish) == ("add", "tool_calls")
    assert [asked.messages[0].text for asked in model.requests] == ["x", "y"]


async def test_function_replies_to_the_request():
    model = Scripted(lambda asked: asked.messages[0].text.upper())
    completion = await model.generate(request())
    assert completion.message.text == "WHICH PART IS SHOWN?"
    assert (completion.usage.input_tokens, completion.usage.output_tokens, completion.usage.cost_usd) == (4, 4, 0.0)


async def test_an_error_in_the_script_is_raised_and_the_script_continues():
    model = Scripted([ModelError("slow", "timeout"), "one"])
    with pytest.raises(ModelError, match="slow"):
        await model.generate(request())
    assert (await model.generate(request())).message.text == "one"
    await model.close()


async def test_script_that_is_over_is_an_error_and_never_an_answer():
    with pytest.raises(ModelError, match="0 replies and no more") as caught:
        await Scripted([]).generate(request())
    assert caught.value.kind == "script_exhausted"


def test_identity_follows_the_script():
    assert Scripted(["a"]).identity == Scripted(["a"]).identity != Scripted(["b"]).identity
    assert Scripted(request).identity != Scripted(lambda asked: "x").identity
