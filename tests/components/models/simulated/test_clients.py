"""Clients of others against the simulated endpoint: streams, the responses API, errors in OpenAI's form."""

import json
import os
import subprocess
import sys

import pytest

from components.models.simulated import Simulated
from components.models.simulated.serve import Server
from tests.acceptance.command import ROOT, Served
from tests.slow import slow

ASKED = {"role": "user", "content": "Look up pneumonia, then answer."}
SCHEMA = {"type": "object", "properties": {"term": {"type": "string"}}, "required": ["term"]}
FUNCTION = {"name": "look_up", "description": "Looks a term up.", "parameters": SCHEMA}
TOOLS = [{"type": "function", "function": FUNCTION}]
ARGUMENTS = {"term": ASKED["content"]}  # of the simulated model's first call
ANSWER = "Answer: not known"
PEERS = ROOT / ".venv-peers/bin/python"


@pytest.fixture(scope="module")
def url():
    with Served(Server(Simulated())) as served:
        yield served.url


@pytest.fixture(scope="module")
def openai():
    import openai  # a second of imports

    return openai


@pytest.fixture(scope="module")
def client(openai, url):
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@slow
def test_chat_completions_are_streamed_with_their_tool_calls_and_usage(client):
    create = client.chat.completions.create
    whole = create(model="simulated", messages=[ASKED], tools=TOOLS)
    chunks = list(
        create(model="simulated", messages=[ASKED], tools=TOOLS, stream=True, stream_options={"include_usage": True})
    )
    deltas = [one.choices[0].delta for one in chunks if one.choices]
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    expected = whole.choices[0].message.tool_calls[0]
    assert (calls[0].id, calls[0].function.name) == (expected.id, "look_up")
    assert json.loads("".join(call.function.arguments for call in calls)) == ARGUMENTS
    assert [one.choices[0].finish_reason for one in chunks if one.choices][-1] == "tool_calls"
    assert chunks[-1].usage == whole.usage and all(one.usage is None for one in chunks[:-1])

    call = {"role": "assistant", "tool_calls": [expected.model_dump()]}
    dialogue = [ASKED, call, {"role": "tool", "tool_call_id": expected.id, "content": "an infection"}]
    chunks = list(create(model="simulated", messages=dialogue, stream=True))
    words = [one.choices[0].delta.content or "" for one in chunks]
    assert "".join(words) == create(model="simulated", messages=dialogue).choices[0].message.content == ANSWER
    assert len([word for word in words if word]) == 3
    assert all(one.usage is None for one in chunks)


@slow
def test_the_responses_api_has_the_same_dialogue_whole_and_streamed(client):
    settings = {"model": "simulated", "tools": [{"type": "function", "strict": False, **FUNCTION}]}
    whole = client.responses.create(input=ASKED["content"], instructions="Be brief.", **settings)
    (call,) = whole.output
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "look_up", ARGUMENTS)
    with client.responses.stream(input=ASKED["content"], instructions="Be brief.", **settings) as stream:
        assert "response.function_call_arguments.delta" in [event.type for event in stream]
        (streamed,) = stream.get_final_response().output
    assert (streamed.call_id, streamed.arguments) == (call.call_id, call.arguments)

    result = {"type": "function_call_output", "call_id": call.call_id, "output": "an infection"}
    parts = {"role": "user", "content": [{"type": "input_text", "text": ASKED["content"]}]}
    dialogue = [{"role": "developer", "content": "Be brief."}, parts, call.model_dump(), result]
    answer = client.responses.create(input=dialogue, **settings)
    assert answer.output_text == ANSWER and answer.usage.total_tokens > 0
    with client.responses.stream(input=dialogue, **settings) as stream:
        assert "".join(event.delta for event in stream if event.type == "response.output_text.delta") == ANSWER
        assert stream.get_final_response().usage == answer.usage


@slow
def test_what_is_not_there_is_refused_in_the_form_of_openai(openai, client):
    with pytest.raises(openai.NotFoundError, match="model `gpt-9` does not exist; this server has simulated") as error:
        client.chat.completions.create(model="gpt-9", messages=[ASKED])
    assert error.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError, match="gpt-9"):
        client.models.retrieve("gpt-9")
    assert client.models.retrieve("simulated").id == "simulated"
    with pytest.raises(openai.NotFoundError, match="Not Found: POST /v1/embeddings"):
        client.embeddings.create(model="simulated", input="x")
    with pytest.raises(openai.BadRequestError, match="previous_response_id: nothing is stored here"):
        client.responses.create(model="simulated", input="x", previous_response_id="resp_1")
    with pytest.raises(openai.BadRequestError, match="a tool of type web_search is not supported"):
        client.responses.create(model="simulated", input="x", tools=[{"type": "web_search"}])


LITELLM = """
import sys, litellm

url, asked = sys.argv[1], [{"role": "user", "content": "Look up pneumonia, then answer."}]
schema = {"type": "object", "properties": {"term": {"type": "string"}}, "required": ["term"]}
tool = {"type": "function", "function": {"name": "look_up", "description": "Looks a term up.", "parameters": schema}}
ask = dict(model="openai/simulated", messages=asked, api_base=url, api_key="none", _skip_mcp_handler=True)
call = litellm.completion(tools=[tool], **ask).choices[0].message.tool_calls[0].function
print(call.name, eval(call.arguments))
print("".join(part.choices[0].delta.content or "" for part in litellm.completion(stream=True, **ask)))
"""
INSPECT = """
import asyncio, sys
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.tool import ToolInfo, ToolParams

url, responses = sys.argv[1], sys.argv[2] == "True"

async def main():
    model = get_model("openai/simulated", base_url=url, api_key="none", responses_api=responses)
    offered = ToolInfo(name="look_up", description="Looks a term up.", parameters=ToolParams(
        properties={"term": {"type": "string"}}, required=["term"]))
    asked = ChatMessageUser(content="Look up pneumonia, then answer.")
    reply = await model.generate([asked], tools=[offered])
    print(reply.message.tool_calls[0].function, reply.message.tool_calls[0].arguments)
    print((await model.generate([asked])).completion)

asyncio.run(main())
"""
LANGCHAIN = """
import sys
from langchain_openai import ChatOpenAI

url, responses = sys.argv[1], sys.argv[2] == "True"
model = ChatOpenAI(model="simulated", base_url=url, api_key="none", use_responses_api=responses)
tool = {"name": "look_up", "description": "Looks a term up.", "parameters": {
    "type": "object", "properties": {"term": {"type": "string"}}, "required": ["term"]}}
call = model.bind_tools([tool]).invoke("Look up pneumonia, then answer.").tool_calls[0]
print(call["name"], call["args"])
print("".join(part.text for part in model.stream("Look up pneumonia, then answer.")))
"""


@slow
@pytest.mark.parametrize(
    "python, script, responses",
    [
        (sys.executable, LITELLM, False),
        *((PEERS, INSPECT, responses) for responses in (False, True)),
        *((PEERS, LANGCHAIN, responses) for responses in (False, True)),
    ],
    ids=["litellm", "inspect_ai", "inspect_ai responses", "langchain_openai", "langchain_openai responses"],
)
def test_other_libraries_get_calls_and_answers(url, python, script, responses):
    if not PEERS.exists() and python == PEERS:
        pytest.skip("not installed: make .venv-peers/.installed")
    environment = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [python, "-c", script, url, str(responses)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.stdout.splitlines() == [f"look_up {ARGUMENTS}", ANSWER], done.stderr
