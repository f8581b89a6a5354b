"""litellm's own proxy, with keys, budgets and mock replies, in an environment and a process of its own.

Sources: https://docs.litellm.ai/docs/proxy/custom_auth, https://docs.litellm.ai/docs/proxy/provider_budget_routing,
https://docs.litellm.ai/docs/completion/mock_requests. Keys are checked by a function, since those that the proxy makes
need a database. Runs with ``WARDROUND_TEST_SLOW=1 python -m pytest tests/components/models/wire/test_litellm_proxy.py``.
"""

import os
import secrets
import socket
import time
from importlib.metadata import version

import pytest

from components.core.messages import ToolSpec
from components.models.openai_chat import OpenAIChat
from tests.acceptance.command import ROOT
from tests.components.models.wire.forms import Failed, Seen, read
from tests.server_process import running
from tests.slow import slow

PROXY = ROOT / ".venv-proxy/bin/litellm"
NEEDED = f"litellm[proxy]=={version('litellm')}"
INSTALL = f".venv/bin/uv venv .venv-proxy && .venv/bin/uv pip install --python .venv-proxy/bin/python '{NEEDED}'"
pytestmark = [slow, pytest.mark.skipif(not PROXY.exists(), reason=f"not installed: {INSTALL}")]

KEYS = """
import litellm
from litellm.proxy._types import ProxyErrorTypes, ProxyException, UserAPIKeyAuth

async def check(request, api_key):
    if api_key == "sk-spent":
        raise litellm.BudgetExceededError(current_cost=2.0, max_budget=1.0)
    if api_key not in ("sk-good", "sk-slow"):
        raise ProxyException("Invalid proxy server token passed", ProxyErrorTypes.auth_error, None, 401)
    return UserAPIKeyAuth(api_key=api_key, rpm_limit=1 if api_key == "sk-slow" else None)
"""
CONFIG = """
model_list:
  - {model_name: plain, litellm_params: {model: openai/gpt-4o-mini, api_key: x, mock_response: It is the liver.}}
  - model_name: calling
    litellm_params: {model: openai/gpt-4o-mini, api_key: x, mock_response: "", mock_tool_calls: [
      {id: c1, type: function, function: {name: measure, arguments: '{"site": "liver"}'}}]}
  - {model_name: limited, litellm_params: {model: openai/gpt-4o-mini, api_key: x, mock_response: litellm.RateLimitError}}
  - {model_name: long, litellm_params: {model: openai/gpt-4o-mini, api_key: x, mock_response: litellm.ContextWindowExceededError}}
  - {model_name: broken, litellm_params: {model: openai/gpt-4o-mini, api_key: x, mock_response: litellm.InternalServerError}}
  - {model_name: budgeted, litellm_params: {model: openai/gpt-4o-mini, api_key: x, mock_response: Paid., max_budget: 1.0e-9,
     budget_duration: 1d}}
router_settings: {num_retries: 0}
general_settings: {custom_auth: keys.check}
"""
SPEC = ToolSpec("measure", "Measures.", {"type": "object", "properties": {"site": {"type": "string"}}})
USAGE = (10, 20, None, None)
READ = [
    ("sk-good", "plain", Seen("It is the liver.", usage=USAGE)),
    ("sk-good", "calling", Seen("", None, (("c1", "measure", '{"site": "liver"}'),), "tool_calls", USAGE)),
    ("sk-good", "limited", Failed("rate_limit", None, True)),
    ("sk-good", "long", Failed("context_window")),
    ("sk-good", "broken", Failed("server", None, True)),
    ("sk-good", "unknown", Failed("bad_request")),
    ("sk-wrong", "plain", Failed("auth")),
    ("sk-spent", "plain", Failed("quota")),
    ("sk-slow", "plain", Seen("It is the liver.", usage=USAGE)),
    ("sk-slow", "plain", Failed("rate_limit", 60.0, True)),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a proxy that runs."""
    folder = tmp_path_factory.mktemp("proxy")
    (folder / "keys.py").write_text(KEYS)
    (folder / "config.yaml").write_text(CONFIG)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    environment = {
        "PATH": f"{PROXY.parent}:{os.environ['PATH']}", "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": f"sk-{secrets.token_urlsafe(32)}",
    }  # fmt: skip
    command = [PROXY, "--config", "config.yaml", "--host", "127.0.0.1", "--port", port, "--telemetry", "False"]
    with running(
        command, folder, environment, f"http://127.0.0.1:{port}/health/liveliness"
    ):  # it takes 10 to 30 seconds
        yield f"http://127.0.0.1:{port}/v1"


async def once(url, ask, key, model):
    chat = OpenAIChat(url, model, key)
    seen = await read(chat, ask("Hi", tools=[SPEC]))
    await chat.close()
    return seen


async def test_replies_and_refusals_of_the_proxy_are_read(url, ask):
    assert [(key, model, await once(url, ask, key, model)) for key, model, _ in READ] == READ


async def test_a_spent_budget_of_a_model_is_no_rate_limit(url, ask):
    paid, until = Seen("Paid.", usage=USAGE), time.monotonic() + 30
    assert await once(url, ask, "sk-good", "budgeted") == paid
    while (seen := await once(url, ask, "sk-good", "budgeted")) == paid and time.monotonic() < until:
        time.sleep(0.2)  # it adds up what was spent in the background
    assert seen == Failed("quota")
