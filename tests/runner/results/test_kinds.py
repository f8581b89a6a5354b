"""Kinds of scores, as a manifest declares them."""

import pytest

from components.core.errors import ConfigError
from runner.results.kinds import kinds_of, natural_order
from runner.results.metrics import summarise
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


def test_numbers_in_names_are_in_the_order_of_numbers():
    names = ["", "-5", "0.25", "0.5", "7", "20", "20-39", "100", "100-119", "<20", "a", "a 9", "a 10", "\u00b2"]
    assert sorted(reversed(names), key=natural_order) == names
    rows = [record(str(n), 1.0) | {"strata": {"age": age}} for n, age in enumerate(("100", "20", "7"))]
    assert list(summarise(rows)["strata"]["age"]) == ["7", "20", "100"]
    assert sorted(("9" * 400, "1"), key=natural_order)[0] == "1"
