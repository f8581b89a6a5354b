import pytest

from components.models.endpoints import Endpoint


def endpoint(provider="", transport="auto", api_base=None, name="m"):
    return Endpoint(name, provider, transport, api_base)


@pytest.mark.parametrize(
    ("provider", "api_base", "direct"),
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


@pytest.mark.parametrize(
    ("provider", "name", "string"),
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


@pytest.mark.parametrize(
    ("api_base", "base"),
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


def test_what_is_shown_holds_no_path():
    assert endpoint(api_base="https://host:8443/v1/secret-path").shown == "https://host:8443"
    assert endpoint("anthropic").shown == "litellm (anthropic)"
    assert endpoint(name="groq/llama").shown == "litellm (groq)"
