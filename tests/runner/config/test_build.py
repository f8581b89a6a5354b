"""Parts built from plain dicts, and the errors for those that cannot be built."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.plain import Accept
from components.core.protocols import Agent, Verifier
from runner.config.build import check, construct, part
from runner.config.errors import ConfigErrors, nearest
from tests.table import each_row

HERE = __name__
ALLOW = ("tests",)


@dataclass(frozen=True)
class Switches:
    order: Literal["fixed", "free"] = "fixed"
    steps: int | None = 3


@dataclass(frozen=True)
class Part:
    count: Annotated[int, Ge(1)]
    rate: float = 0.5
    path: Path | None = None
    names: Sequence[str] = ()
    prices: Mapping[str, float] = field(default_factory=dict)
    mode: Literal["auto", "direct"] = "auto"
    switches: Switches = Switches()
    several: Sequence[Switches] = ()
    inner: Verifier | None = None
    inners: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.count == 12:
            raise ConfigError("count: twelve is one too few")
        if self.count == 13:
            raise ConfigError("thirteen is refused by the part itself")
        if self.count == 14:
            raise ValueError("no fourteen")


class Open:
    def __init__(self, **anything: object) -> None:
        self.anything = anything


def node(**arguments):
    return {"_target_": f"{HERE}.Part", "count": 1, **arguments}


def findings(value, where="part", allow=ALLOW):
    with pytest.raises(ConfigErrors) as caught:
        construct(value, where, allow)
    return {finding.key: finding.text for finding in caught.value.findings}


def test_arguments_arrive_in_the_types_of_the_constructor():
    built = construct(
        node(
            rate=1, path="a/b", names=["x"], prices={"in": 1.5}, mode="direct", switches={"order": "free", "steps": None},
            several=[{"steps": 1}, {}], inner={"_target_": "components.core.plain.Accept"},
            inners={"a": {"_target_": "components.core.plain.Accept"}, "b": [1, {"c": 2}]},
        ),
        "part",
        ALLOW,
    )  # fmt: skip
    assert built == Part(
        1, 1.0, Path("a/b"), ["x"], {"in": 1.5}, "direct", Switches("free", None), [Switches(steps=1), Switches()],
        Accept(), {"a": Accept(), "b": [1, {"c": 2}]},
    )  # fmt: skip


def test_part_with_var_keywords_gets_all_arguments():
    assert construct({"_target_": f"{HERE}.Open", "a": 1, "b": {"c": [2]}}, "x", ALLOW).anything == {
        "a": 1,
        "b": {"c": [2]},
    }


@each_row(
    "wrong, key, words",
    [
        ({"count": "a"}, "part.count", ["found 'a'", "whole number"]),
        ({"count": True}, "part.count", ["found True", "whole number"]),
        ({"count": 0}, "part.count", ["found 0", "greater than or equal to 1"]),
        ({"rate": "much"}, "part.rate", ["number"]),
        ({"rate": float("inf")}, "part.rate", ["found inf", "finite number"]),
        ({"prices": {"in": float("nan")}}, "part.prices.in", ["found nan", "finite number"]),
        ({"names": "abc"}, "part.names", ["list"]),
        ({"names": ["a", 3]}, "part.names[1]", ["found 3", "text"]),
        ({"prices": {"in": "a"}}, "part.prices.in", ["number"]),
        ({"mode": "direkt"}, "part.mode", ["did you mean direct?"]),
        ({"switches": {"order": "freee"}}, "part.switches.order", ["did you mean free?"]),
        ({"switches": {"stepz": 3}}, "part.switches.stepz", ["no such key", "did you mean steps?"]),
        ({"switches": 3}, "part.switches", ["found 3", "a mapping"]),
        ({"several": [{}, {"steps": "x"}]}, "part.several[1].steps", ["whole number"]),
        ({"inner": {"_target_": "components.core.plain.Acept"}}, "part.inner._target_", ["did you mean Accept or Intact?"]),
        ({"inner": 3}, "part.inner", ["Verifier"]),
        ({"cuont": 1}, "part.cuont", ["no such key", "did you mean count?"]),
        ({"count": 12}, "part.count", ["twelve is one too few"]),
        ({"count": 13}, "part", ["thirteen is refused by the part itself"]),
        ({"count": 14}, "part", ["no fourteen"]),
    ],
)  # fmt: skip
def test_errors_name_their_key(wrong, key, words):
    found = findings(node(**wrong))
    assert list(found) == [key]
    assert all(word in found[key] for word in words), found


def test_all_errors_are_reported_together():
    assert set(findings({"_target_": f"{HERE}.Part", "rate": "x", "zzz": 1, "switches": {"steps": "y"}})) == {
        "part.count", "part.rate", "part.zzz", "part.switches.steps",
    }  # fmt: skip


def test_api_key_in_a_value_is_not_printed():
    assert "sk-abcdef" not in findings(node(mode="sk-abcdef0123456789"))["part.mode"]


@each_row(
    "target, words",
    [
        ("os.system", ["run.allow_targets=[os]"]),
        ("componentsx.agents.X", ["run.allow_targets=[componentsx]"]),
        ("subprocess.Popen", ["not part of Wardround"]),
        ("components.agents.reactt.ReAct", ["no module components.agents.reactt", "did you mean react"]),
        ("components.agents.react.ReAkt", ["did you mean ReAct?"]),
        ("components.agents.react.Any", ["no class Any"]),
        ("components.records", ["no class records"]),
        ("React", ["package.module.Class"]),
        (None, ["package.module.Class"]),
        ("tests.no_such_module.X", ["no module tests.no_such_module"]),
    ],
)
def test_missing_or_forbidden_target_is_refused(target, words):
    (text,) = findings({"_target_": target}).values()
    assert all(word in text for word in words), text


def test_imported_name_is_not_a_part_of_the_module():
    """Only names that a package defines itself: an allowed module does not allow everything it imports."""
    (text,) = findings({"_target_": f"{HERE}.Path"}).values()
    assert "no class Path" in text


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    (tmp_path / "needy.py").write_text("import no_such_library_at_all\nclass A: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    (text,) = findings({"_target_": "needy.A"}, allow=["needy"]).values()
    assert text == "needy needs the package no_such_library_at_all, which is not installed"
    assert "needy" not in sys.modules


def test_error_in_a_custom_constructor_is_reported_with_its_line(tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(
        'class A:\n    def __init__(self):\n        raise RuntimeError("boom\\nmore")\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = findings({"_target_": "failing.A"}, allow=["failing"])
    assert found == {"part._target_": "failing.A: RuntimeError: boom (failing.py:3)"}


@each_row("value", [None, 3, "x", [], {}, {"count": 1}])
def test_value_that_is_not_a_node_is_refused(value):
    assert "expected a mapping with a _target_" in findings(value)["part"]


def test_a_part_must_have_the_methods_of_its_protocol():
    with pytest.raises(ConfigErrors, match="agent: Accept is not an Agent: it lacks solve"):
        part({"_target_": "components.core.plain.Accept"}, "agent", (), Agent)


def test_a_mapping_is_checked_against_a_dataclass_without_building_nodes():
    assert check(Part, {"count": 2, "inners": {"a": {"_target_": "os.system"}}}).inners == {
        "a": {"_target_": "os.system"}
    }


def test_suggestions_stay_short():
    assert nearest("a", []) == "there are none"
    assert nearest("reactt", ["react", "cot"]) == "did you mean react? valid: cot, react"
    assert nearest("x", map(str, range(100, 130))).endswith("and 18 more")


def test_fields_that_a_dataclass_inherits_from_another_module_are_checked_too():
    with pytest.raises(ConfigErrors, match="max_steps"):
        construct({"_target_": "components.agents.react.ReAct", "max_steps": 0}, "agent")


def test_plain_name_in_place_of_a_part_explains_how_to_choose_one():
    node = {"_target_": "components.agents.self_consistency.SelfConsistency", "inner": "react"}
    with pytest.raises(ConfigErrors, match=r"found 'react'; expected a choice, as in agent@agent\.inner=react"):
        construct(node, "agent")
