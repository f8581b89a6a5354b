"""What goes to litellm and what comes from it, without litellm, which takes seconds to import."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import orjson

from components.core.messages import ToolSpec
from components.models.litellm_chat import LitellmChat, fault_of, reply_of
from components.models.replies import read_reply
from tests.table import each_row


def choice(finish="stop", native=None, **message):
    kept = {"refusal": message.pop("refusal", None)}
    shown = {"content": "Hello", "tool_calls": None, "provider_specific_fields": kept, **message}
    fields = {"native_finish_reason": native} if native else None
    return SimpleNamespace(message=SimpleNamespace(**shown), finish_reason=finish, provider_specific_fields=fields)


def read(choices, **response):
    return read_reply(reply_of(SimpleNamespace(choices=choices, **response)), None)


def test_fields_moved_by_litellm_are_restored():
    function = {"name": "measure", "arguments": '{"site": "liv'}
    found = read([choice("stop", "eos_token", tool_calls=[{"id": "c1", "function": function}], reasoning_content="So.")],
                 usage={"prompt_tokens": 3, "completion_tokens": 2}, model="m")  # fmt: skip
    assert (found.finish, found.message.reasoning, found.model) == ("tool_calls", "So.", "m")
    assert (found.message.tool_calls[0].arguments, found.usage.input_tokens) == ('{"site": "liv', 3)


@each_row(
    "finish, native, read_as",
    [
        ("stop", None, "stop"),
        ("stop", "repetition", "repetition"),
        ("length", None, "length"),
        ("finish_reason_unspecified", None, "model_context_window_exceeded"),
    ],
)
def test_a_finish_is_the_providers_own(finish, native, read_as):
    assert read([choice(finish, native)]).finish == read_as


def test_a_refusal_is_the_answer():
    assert read([choice(content=None, refusal="No.")]).finish == "refusal"


class ContextWindowExceededError(Exception):
    status_code = 400
    message = "too long"


@each_row(
    "fields, kind, retry_after",
    [
        ({"status_code": 429, "litellm_response_headers": {"retry-after": "7"}}, "rate_limit", 7.0),
        ({"status_code": 408}, "timeout", None),
        ({"status_code": 200, "message": "bad JSON"}, "unreadable", None),
        ({"status_code": "none"}, "server", None),
        ({"status_code": 401, "code": "invalid_api_key"}, "auth", None),
    ],
)
def test_an_error_counts_by_its_status(fields, kind, retry_after):
    fault = fault_of(SimpleNamespace(**fields))
    assert (fault.kind, fault.retry_after) == (kind, retry_after)


def test_litellms_own_class_for_a_long_prompt_is_read():
    assert fault_of(ContextWindowExceededError()).kind == "context_window"


def test_arguments_are_the_request(ask):
    chat = LitellmChat("openai/m", seeded=False)
    sent = chat.arguments(ask("Hi", tools=[ToolSpec("measure", "Measures.", {})], temperature=0.0))
    assert (sent["temperature"], sent["messages"][0]["content"], len(sent["tools"])) == (0.0, "Hi", 1)
    assert "seed" not in sent and orjson.dumps(sent)


def test_import_is_lazy():
    code = "import sys, components.models.litellm_chat as m; m.LitellmChat('openai/x'); print('litellm' in sys.modules)"
    root = str(Path(__file__).parents[3])
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert found.stdout.strip() == "False"
