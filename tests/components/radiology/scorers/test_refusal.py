"""Awareness and grounding."""

import pytest

from components.core.messages import Message, Usage
from components.core.types import Action, Step, Trajectory
from components.radiology.scorers.refusal import Refusals
from components.radiology.switches import Switches
from components.radiology.tasks import AD, DD, DI, OS
from tests.components.radiology.scripted import CODE, PAPER, episode, exact, refused, sample

FACTS = {
    1: {"accepted": [DD, DI], "ability": "CategoryMissing", "ground_truth_code": DD, "anatomy": "Universal"},
    2: {
        "accepted": [OS],
        "ability": "SpecificToolMissing",
        "ground_truth_code": None,
        "anatomy": "Chest",
        "modality": "CT",
    },
    3: {"accepted": [DD, DI], "ability": "InsufficientCapability", "ground_truth_code": DD, "anatomy": "Chest"},
}


def run(config: int, trajectory: Trajectory, switches: Switches) -> list[float | None]:
    trajectory.facts = {"condition": f"insufficient_config{config}", "kind": "insufficient", **FACTS[config]}
    scores = Refusals(switches).score(sample("014"), trajectory)
    assert [score.ceiling for score in scores] == [1.0, 1.0]
    return [score.value for score in scores]


def refusal(config: int, switches: Switches, **grounds: str) -> list[float | None]:
    return run(config, episode([], stop="refused", refusal=refused(**grounds)), switches)


def validated(text: str, switches: Switches, config: int = 3) -> list[float | None]:
    step = Step("validate", "main", "main", 0, 0, (), Message("assistant", text), Usage())
    return run(config, episode([step], answer="x"), switches)


@pytest.mark.parametrize("switches", [CODE, PAPER])
def test_no_refusal_is_not_aware(switches: Switches) -> None:
    for config in FACTS:
        assert run(config, exact("014"), switches) == [0.0, 0.0]
        assert run(config, episode([], stop="failed"), switches) == [0.0, 0.0]


def test_a_missing_category() -> None:
    right = {"anatomy": "Universal", "modality": "Universal", "ability": "CategoryMissing"}
    assert refusal(1, PAPER, category=DD, **right) == refusal(1, CODE, category=DD, **right) == [1.0, 1.0]
    assert refusal(1, PAPER, category=DI, **right) == [1.0, 1.0]
    assert refusal(1, CODE, category=DI, **right) == [1.0, 0.0]
    assert refusal(1, CODE, category=f"the {DD} tool") == [1.0, 1.0]
    assert refusal(1, PAPER, category=DD, ability="SpecificToolMissing") == [1.0, 0.0]


def test_no_tool_for_the_patient() -> None:
    right = {"anatomy": "Chest", "modality": "CT", "ability": "SpecificToolMissing"}
    assert refusal(2, PAPER, category=OS, **right) == refusal(2, CODE, category=OS, **right) == [1.0, 1.0]
    assert refusal(2, PAPER, category=AD, **right) == [1.0, 0.0]
    assert refusal(2, PAPER, category=OS, **{**right, "modality": "MRI"}) == [1.0, 0.0]
    assert refusal(2, CODE, category=AD, anatomy="Universal", modality="CT", ability="x") == [1.0, 1.0]
    assert refusal(2, CODE, category=OS, anatomy="Limb", modality="CT") == [1.0, 0.0]


def test_lists_that_do_not_hold_the_entity() -> None:
    assert refusal(3, PAPER, category=DI, ability="InsufficientCapability") == [1.0, 1.0]
    assert refusal(3, CODE, category=DI, ability="InsufficientCapability") == [1.0, 0.0]
    assert refusal(3, CODE, category="x", ability=f"InsufficientCapability of {DD}") == [1.0, 1.0]
    assert refusal(3, PAPER, category=DD, ability="CategoryMissing") == [1.0, 0.0]


def test_a_problem_found_at_validation() -> None:
    assert validated(f"<INVALID>The {DI} lacks the Capability</INVALID>", PAPER) == [1.0, 1.0]
    assert validated(f"<INVALID>The {DI} lacks the capability</INVALID>", CODE) == [1.0, 0.0]
    assert validated(f"<INVALID>{DD} cannot</INVALID>", PAPER) == [1.0, 0.0]
    assert validated("<INVALID>a < b</INVALID>", PAPER) == [1.0, 0.0]
    assert validated("<VALID>fine</VALID>", PAPER) == [0.0, 0.0]
    assert validated("<INVALID>cut", PAPER) == [0.0, 0.0]
    assert validated(f"<INVALID>{DD} capability</INVALID>", PAPER, config=1) == [0.0, 0.0]


def test_a_refusal_without_fields_is_aware_but_not_grounded() -> None:
    for config in FACTS:
        assert refusal(config, PAPER) == refusal(config, CODE) == [1.0, 0.0]


def test_a_refusal_after_which_a_tool_was_built_counts_as_the_refusal_it_was() -> None:
    right = refused(category=DD, anatomy="Universal", modality="Universal", ability="CategoryMissing")
    said = Message("assistant", "no")
    step = Step("act", "main", "main", 0, 0, (), said, Usage(), action=Action(said, refusal=right))
    resumed = episode([step], answer="x")
    assert run(1, resumed, PAPER) == [0.0, 0.0]
    resumed.facts = {"condition": "insufficient_config1", "kind": "insufficient", **FACTS[1], "build_tools": "code"}
    assert [score.value for score in Refusals(PAPER).score(sample("014"), resumed)] == [1.0, 1.0]


def test_solvable_conditions_are_unscored() -> None:
    scores = Refusals(PAPER).score(sample("014"), exact("014"))
    assert [(score.value, score.ceiling) for score in scores] == [(None, None), (None, None)]
