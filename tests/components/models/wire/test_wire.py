"""Each vendor's replies and errors, as its documentation has them, through the client that reads them.

The tables next to this file have the sources. litellm takes seconds to import:
``WARDROUND_TEST_SLOW=1 python -m pytest tests/components/models/wire``.
"""

import orjson
import pytest

from components.core.messages import ToolSpec
from components.models.litellm_chat import LitellmChat
from components.models.openai_chat import OpenAIChat
from tests.components.models.wire import anthropic, gemini, ollama, openai, tgi, vllm
from tests.components.models.wire.forms import read
from tests.slow import slow

SPEC = ToolSpec("measure", "Measures.", {"type": "object", "properties": {"site": {"type": "string"}}})
KEY = "sk-test-123456"


@pytest.mark.filterwarnings("ignore")  # of pydantic, about litellm's own classes
@pytest.mark.parametrize(
    ("vendor", "model"),
    [
        pytest.param(openai, None, id="OpenAI"),
        pytest.param(vllm, None, id="vLLM"),
        pytest.param(ollama, None, id="Ollama"),
        pytest.param(tgi, None, id="TGI"),
        pytest.param(anthropic, "anthropic/claude-sonnet-4-5", id="Anthropic", marks=slow),
        pytest.param(gemini, "gemini/gemini-2.5-flash", id="Gemini", marks=slow),
    ],
)
async def test_every_form_of_a_vendor_is_read(server, ask, vendor, model):
    chat = OpenAIChat(server.url, "m", KEY) if model is None else LitellmChat(model, server.url, KEY)
    request, wrong = ask("Hi", tools=[SPEC], max_tokens=50), {}
    for name, form in vendor.FORMS.items():
        body = form.body if isinstance(form.body, bytes) else orjson.dumps(form.body)
        server.will(server.raw(body, form.status, form.headers))
        if (seen := await read(chat, request)) != form.seen:
            wrong[name] = (seen, form.seen)
    await chat.close()
    assert not wrong and len(server.bodies) == len(vendor.FORMS)
