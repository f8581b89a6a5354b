"""Where a model is served, and retired models."""

from datetime import date

import pytest

from components.core.errors import ConfigError
from components.models.endpoints import Endpoint, Retired
from components.models.gateway import Gateway
from tests.table import each_row


def endpoint(provider="", transport="auto", api_base=None, name="m"):
    return Endpoint(name, provider, transport, api_base)


@each_row(
    "provider, api_base, direct",
    [
        ("openai", None, True),
        ("vllm", None, True),
        ("hosted_vllm", None, True),
        ("ollama", None, True),
        ("", "http://here/v1", True),
        ("", None, False),
        ("anthropic", None, False),
        ("azure", "https://mine.openai.azure.com", False),
        ("bedrock", None, False),
    ],
)
def test_auto_is_direct_where_chat_completions_are_spoken(provider, api_base, direct):
    assert endpoint(provider, api_base=api_base).direct is direct
    assert endpoint(provider, "litellm", api_base).direct is False


@each_row(
    "provider, name, string",
    [
        ("openai", "gpt-4o", "openai/gpt-4o"),
        ("vllm", "meta-llama/Llama-3.1-8B", "hosted_vllm/meta-llama/Llama-3.1-8B"),
        ("ollama", "llama3.1", "hosted_vllm/llama3.1"),
        ("gemini", "gemini/gemini-2.5-flash", "gemini/gemini-2.5-flash"),
        ("", "groq/llama", "groq/llama"),
    ],
)
def test_model_string_for_litellm(provider, name, string):
    assert endpoint(provider, name=name).litellm_model == string


@each_row(
    "api_base, base",
    [
        ("http://here/v1/", "http://here/v1"),
        ("http://here/v1/chat/completions", "http://here/v1"),
        (None, "https://api.openai.com/v1"),
    ],
)
def test_base_ends_where_the_path_begins(api_base, base):
    assert endpoint("openai", api_base=api_base).base == base


def test_litellm_is_never_left_to_guess_where_a_local_server_is():
    assert endpoint("vllm", "litellm").base == "http://127.0.0.1:8000/v1"


def test_the_displayed_endpoint_holds_no_path():
    assert endpoint(api_base="https://host:8443/v1/secret-path").address == "https://host:8443"
    assert endpoint("anthropic").address == "litellm (anthropic)"
    assert endpoint(name="groq/llama").address == "litellm (groq)"


DAY = date(2026, 10, 23)


def refused(retired, today=DAY):
    with pytest.raises(ConfigError) as caught:
        retired.refuse("gpt-x", today)
    return str(caught.value)


def test_a_retired_model_is_available_until_the_day_before():
    retired = Retired("OpenAI", "openai/gpt-y", "2026-10-23")
    retired.refuse("gpt-x", date(2026, 10, 22))
    said = refused(retired)
    assert "OpenAI retired 'gpt-x' on 2026-10-23; the nearest choice is model=openai/gpt-y" in said
    assert "retired=null" in said


def test_an_unknown_retirement_date_is_not_invented():
    assert "OpenAI no longer serves 'gpt-x'; the nearest choice is" in refused(Retired("OpenAI", "openai"))


def test_a_model_that_was_never_offered_is_not_searched_elsewhere():
    said = refused(Retired("Google", "gemini", offered=False))
    assert "Google never offered 'gpt-x' to the public" in said and "model.retired" not in said


def test_a_retirement_date_must_be_a_date():
    with pytest.raises(ConfigError, match=r"^retired: since must be a day such as 2026-10-23, found 'soon'$"):
        Retired("OpenAI", "openai", "soon")


def test_a_gateway_is_refused_from_that_day_and_not_before():
    address = {"name": "m", "api_base": "http://127.0.0.1:1/v1"}
    assert Gateway(**address, retired=Retired("A", "b", "2999-01-01")).name == "m"
    with pytest.raises(ConfigError, match="A retired 'm' on 2000-01-01"):
        Gateway(**address, retired=Retired("A", "b", "2000-01-01"))


def test_a_stated_window_wins_over_the_table():
    assert Gateway("gpt-4o-2024-08-06", "openai", context=5).traits.context_tokens == 5
    assert Gateway("gpt-4o-2024-08-06", "openai").traits.context_tokens == 128_000


@each_row("base", ["127.0.0.1:8000", "ftp://host/v1", "http://host:99999/v1", "http://host:abc/v1", "http://a..b/v1"])
def test_an_address_that_cannot_be_one_is_refused(base):
    with pytest.raises(ConfigError, match=r"^model\.api_base must be an http"):
        Gateway("m", api_base=base)
