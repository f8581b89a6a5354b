"""A model that can no longer be had is refused in one line that names the nearest one."""

from datetime import date

import pytest

from components.core.errors import ConfigError
from components.models.gateway import Gateway
from components.models.retired import Retired

DAY = date(2026, 10, 23)


def refused(retired, today=DAY):
    with pytest.raises(ConfigError) as caught:
        retired.refuse("gpt-x", today)
    return str(caught.value)


def test_it_can_be_had_until_the_day_before():
    retired = Retired("OpenAI", "openai/gpt-y", "2026-10-23")
    retired.refuse("gpt-x", date(2026, 10, 22))
    said = refused(retired)
    assert "OpenAI retired 'gpt-x' on 2026-10-23; the nearest choice is model=openai/gpt-y" in said
    assert "retired=null" in said


def test_a_day_that_nobody_knows_is_not_made_up():
    assert "OpenAI no longer serves 'gpt-x'; the nearest choice is" in refused(Retired("OpenAI", "openai"))


def test_what_was_never_offered_is_not_looked_for_elsewhere():
    said = refused(Retired("Google", "gemini", offered=False))
    assert "Google never offered 'gpt-x' to the public" in said and "model.retired" not in said


def test_a_day_is_a_day():
    with pytest.raises(ConfigError, match=r"^retired: since must be a day such as 2026-10-23, found 'soon'$"):
        Retired("OpenAI", "openai", "soon")


def test_a_gateway_is_refused_from_that_day_and_not_before():
    address = {"name": "m", "api_base": "http://127.0.0.1:1/v1"}
    assert Gateway(**address, retired=Retired("A", "b", "2999-01-01")).name == "m"
    with pytest.raises(ConfigError, match="A retired 'm' on 2000-01-01"):
        Gateway(**address, retired=Retired("A", "b", "2000-01-01"))


def test_a_stated_window_wins_over_the_table():
    assert Gateway("gpt-4o-2024-08-06", "openai", context=5).context_tokens == 5
    assert Gateway("gpt-4o-2024-08-06", "openai").context_tokens == 128_000
