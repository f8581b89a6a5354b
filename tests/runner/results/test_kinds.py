"""Kinds of scores, as a manifest declares them."""

import re

import orjson
import pytest

from components.core.errors import ConfigError
from runner.results.kinds import kinds_of, natural_order
from runner.results.metrics import summarise
from runner.results.runs import Run
from runner.storage.records import FILE
from tests.runner.results.folders import write
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


@each_row("kind, values, problem", {
    "share of ours": ("share", {"confidence/stated": 7.0}, "confidence/stated is 7, and a share is from 0 to 1"),
    "published share": ("share", {"score/official": 1.2}, None),
    "proportion": ("proportion", {"x": -0.5}, "x is -0.5, and a proportion is from 0 to 1"),
    "rounded": ("proportion", {"x": 1 + 1e-12}, None),
    "number": ("number", {"x": -1e300}, "x is -1e+300, and a number is from -1e+100 to 1e+100"),
    "none": ("count", {"x": None}, None),
}.values())  # fmt: skip
def test_number_that_is_none_of_its_kind_is_refused_with_its_line(tmp_path, kind, values, problem):
    run = Run.at(write(tmp_path, {"t": ("k", [1.0, 0.5])}, kinds=dict.fromkeys(values, kind)))
    first, second = (tmp_path / FILE).read_bytes().splitlines(keepends=True)
    changed = orjson.loads(second) | {"scores": values}
    (tmp_path / FILE).write_bytes(first + orjson.dumps(changed) + b"\n")
    if problem is None:
        assert len(run.table) == 2
    else:
        with pytest.raises(ConfigError, match=f"{re.escape(f'{FILE}:2: damaged record (scores/{problem}); ')}restore"):
            _ = run.table


def test_numbers_in_names_are_in_the_order_of_numbers():
    names = ["", "-5", "0.25", "0.5", "7", "20", "20-39", "100", "100-119", "<20", "a", "a 9", "a 10", "\u00b2"]
    assert sorted(reversed(names), key=natural_order) == names
    rows = [record(str(n), 1.0) | {"strata": {"age": age}} for n, age in enumerate(("100", "20", "7"))]
    assert list(summarise(rows)["strata"]["age"]) == ["7", "20", "100"]
    assert sorted(("9" * 400, "1"), key=natural_order)[0] == "1"
