"""Kinds of scores, as a manifest declares them."""

import pytest

from components.core.errors import ConfigError
from runner.results.kinds import kinds_of
from tests.table import each_row


def test_declared_kinds_are_used_and_missing_ones_inferred():
    assert kinds_of({"kinds": {"a": "share"}}, []) == {"a": "share"}
    assert kinds_of({}, [{"scores": {"a": 1.0, "b": 0.5}}]) == {"a": "proportion", "b": "share"}


@each_row("kinds", [None, [1], "share", {"a": "banana"}, {"a": 5}, {"a": ["share"]}])
def test_unknown_kinds_are_refused(kinds):
    with pytest.raises(ConfigError, match=r"manifest\.json is damaged: kinds must name one of proportion, share"):
        kinds_of({"kinds": kinds}, [])
