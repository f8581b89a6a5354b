"""Names of classes that have moved, and declarations of parts."""

from dataclasses import dataclass

import pytest

from components.core.errors import ConfigError
from components.core.moved import NEW, as_first_named, renew
from components.core.protocols import Agent
from components.core.traits import Requirements, declared
from components.core.types import Answer
from runner.config.targets import locate
from runner.storage.resume import differences


def test_every_moved_class_exists_and_has_one_original_name():
    assert all(callable(locate(new, ())) for new in NEW.values())
    first = {name: as_first_named({"_target_": name})["_target_"] for name in (*NEW, *NEW.values())}
    assert all(first[old] == first[new] for old, new in NEW.items()) and set(first.values()) <= set(NEW)
    assert first["components.cab.datasets.bioasq.BioAsq"] == "components.datasets.bioasq.BioAsq"


def test_moved_name_is_refused_with_the_current_one():
    with pytest.raises(ConfigError) as caught:
        locate("components.verifiers.accept.Accept", ())
    assert str(caught.value) == "components.verifiers.accept.Accept has moved: it is now components.core.plain.Accept"


def test_stored_configs_use_current_names_and_compare_by_original_ones():
    old = {"verifier": {"_target_": "components.verifiers.accept.Accept"}, "tools": [{"_target_": "mine.Tool"}]}
    new = renew(old)
    assert new == {"verifier": {"_target_": "components.core.plain.Accept"}, "tools": [{"_target_": "mine.Tool"}]}
    assert as_first_named(new) == old and differences(old, new) == []


@dataclass(frozen=True)
class Plain:
    """An agent that declares nothing."""

    async def solve(self, episode):
        return Answer("")


def test_an_agent_that_declares_nothing_has_the_default_requirements():
    assert isinstance(Plain(), Agent) and declared(Plain(), Requirements) == Requirements()


def test_declaration_of_the_wrong_type_is_refused():
    class Odd(Plain):
        requirements = ("start",)

    with pytest.raises(ConfigError, match=r"Odd.requirements is .*; it must be Requirements\(...\)"):
        declared(Odd(), Requirements)
