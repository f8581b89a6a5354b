"""The order of tiers, their self-tests, and what is refused."""

import pytest

from components.core.errors import ConfigError
from components.sandbox import ORDER, Sandbox, flaw


def test_a_tier_without_protection_fails_its_self_test():
    lead, _, attacks = flaw("rlimits").rpartition(": ")
    assert {"socket", "fork", "write outside", "read outside", "read the project", "signal"} <= set(attacks.split(", "))
    assert "got through" in lead


def test_a_missing_program_and_a_wrong_machine_are_named(monkeypatch):
    monkeypatch.setenv("PATH", "/none")
    flaw.cache_clear()
    with pytest.raises(ConfigError, match=r"bwrap: bwrap is not installed\): code can be run with"):
        Sandbox(backend="bwrap").report()
    flaw.cache_clear()
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ConfigError, match="needs Linux, this is darwin"):
        Sandbox().report()


def test_the_first_working_tier_is_chosen_and_refusals_of_others_are_reported(sandbox):
    report = sandbox.report()
    assert report["tier"] in ORDER[:3]
    assert list(report["refused"]) == list(ORDER[: ORDER.index(report["tier"])])


def test_no_weaker_tier_replaces_the_requested_one(monkeypatch):
    monkeypatch.setenv("PATH", "/none")
    flaw.cache_clear()
    with pytest.raises(ConfigError, match="a strict sandbox needs"):
        Sandbox(backend="bwrap", strict=True).report()
    flaw.cache_clear()
