"""Kinds of scores, as a manifest declares them."""

import pytest

from components.core.errors import ConfigError
from runner.results.kinds import kinds_of
from tests.runner.results.records import record
from tests.table import each_row


def test_declared_kinds_are_used_and_missing_ones_inferred():
    assert kinds_of({"kinds": {"a": "share"}}, []) == {"a": "share"}
    one = record("s", 0.5) | {"scores": {"a": 1.0, "b": 0.5, "c": None}}
    assert kinds_of({}, [one]) == {"a": "proportion", "b": "share"}


@each_row("kinds", [None, [1], "share", {"a": "banana"}, {"a": 5}, {"a": ["share"]}])
def test_unknown_kinds_are_refused(kinds):
    with pytest.raises(ConfigError, match=r"manifest\.json is damaged: kinds must name one of proportion, share"):
        kinds_of({"kinds": kinds}, [])
