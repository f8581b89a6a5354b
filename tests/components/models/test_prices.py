import pytest

from components.core.errors import ConfigError
from components.models.prices import Price, PriceRow, configured_price, look_up, row_in
from tests.table import each_row

TABLE = {
    "sample_spec": {"input_cost_per_token": 0.0, "litellm_provider": "one of"},
    "fallback_generalizations": {"rules": []},
    "gpt-x": {
        "litellm_provider": "openai",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 2e-06,
        "cache_read_input_token_cost": 1e-07,
        "max_input_tokens": 1000,
    },
    "gemini/pro": {
        "litellm_provider": "gemini",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 2e-06,
        "input_cost_per_token_above_200k_tokens": 3e-06,
        "output_cost_per_token_above_200k_tokens": 4e-06,
    },
    "us.claude": {
        "litellm_provider": "bedrock_converse",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 2e-06,
    },
    "ollama/free": {"litellm_provider": "ollama", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
    "openai/per-second": {"litellm_provider": "openai", "input_cost_per_second": 1.0, "max_input_tokens": 5},
}


def found(name, provider=""):
    return row_in(TABLE, name, provider, "test")


@each_row(
    "name, provider, row",
    [
        ("gpt-x", "openai", "gpt-x"),
        ("openai/gpt-x", "", "gpt-x"),
        ("pro", "gemini", "gemini/pro"),
        ("gemini/pro", "", "gemini/pro"),
        ("us.claude", "bedrock", "us.claude"),
        ("bedrock/us.claude", "", "us.claude"),
        ("gpt-x", "hosted_vllm", None),
        ("gpt-x", "", None),
        ("gpt-future", "openai", None),
        ("sample_spec", "one of", None),
        ("fallback_generalizations", "openai", None),
    ],
)
def test_the_row_is_that_of_the_provider(name, provider, row):
    assert found(name, provider).row == row


def test_price_is_in_dollars_per_million():
    row = found("gpt-x", "openai")
    assert (row.price, row.context_tokens, row.reason) == (Price(1.0, 2.0, 0.1), 1000, "")


@each_row("name, provider", [("gpt-future", "openai"), ("free", "ollama"), ("per-second", "openai"), ("own", "")])
def test_an_unknown_price_is_none_and_reported_as_such(name, provider):
    row = found(name, provider)
    assert row.price is None
    assert row.reason.startswith("price unknown: ") and name in row.reason and "model.price" in row.reason
    assert row.facts["input"] is None


def test_cached_tokens_and_long_prompts_have_their_price():
    assert found("gpt-x", "openai").price.cost(1000, 100, 400) == pytest.approx((600 * 1 + 400 * 0.1 + 100 * 2) / 1e6)
    assert Price(1.0, 2.0).cost(1000, 100, 400) == pytest.approx(1200 / 1e6)
    long = found("pro", "gemini").price
    assert long.cost(200_000, 10) == pytest.approx(0.20002)
    assert long.cost(200_001, 10) == pytest.approx((200_001 * 3 + 40) / 1e6)


def test_a_stated_price_overrides_and_may_be_0():
    row = configured_price({"input": 0, "output": 0}, found("own"))
    assert (row.price, row.price.cost(10, 10), row.source, row.reason) == (Price(0, 0), 0.0, "model.price", "")


@each_row("price", [{}, {"input": 1}, {"input": 1, "output": 2, "x": 3}])
def test_a_stated_price_has_its_two_parts(price):
    with pytest.raises(ConfigError, match=r"model\.price must hold input and output"):
        configured_price(price, PriceRow(None, None, None, ""))


@each_row("value", [-1, "1", True, float("nan")])
def test_a_stated_price_is_a_number(value):
    with pytest.raises(ConfigError, match=r"model\.price\.output must be a number of at least 0"):
        configured_price({"input": 1, "output": value}, PriceRow(None, None, None, ""))


def test_the_table_that_litellm_ships_is_read_once_per_model():
    row = look_up("gpt-4o-mini-2024-07-18", "openai")
    assert row.price == Price(0.15, 0.6, 0.075)
    assert row.source.startswith("litellm ") and row.context_tokens == 128_000
    assert look_up("gpt-4o-mini-2024-07-18", "openai") is row


@pytest.mark.parametrize(("name", "provider"), [("claude-future-9", "anthropic"), ("anything", "ollama")])
def test_a_model_that_litellm_would_price_at_0_is_unknown(name, provider):
    assert look_up(name, provider).price is None
