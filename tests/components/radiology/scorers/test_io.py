"""Input/output metrics."""

import pytest

from components.core.types import Trajectory
from components.radiology.scorers.io import InputOutput
from components.radiology.switches import Switches
from components.radiology.tasks import AC, MC, OS
from tests.components.radiology.scripted import CODE, PAPER, act, episode, exact, sample

FAILED = [act(("TOOL1", AC)), act(("TOOL2", MC)), act(("TOOL3", OS, "missing_value"))]
KIND = "redundant_high"


def values(trajectory: Trajectory, switches: Switches) -> list[float | None]:
    return [score.value for score in InputOutput(switches).score(sample("0126"), trajectory)]


@pytest.mark.parametrize("switches", [CODE, PAPER])
def test_a_completed_episode_has_no_share_before_failure(switches: Switches) -> None:
    assert values(exact("0126", kind=KIND), switches) == [1.0, None]


def test_the_reference_counts_the_failing_call() -> None:
    trajectory = episode(FAILED, stop="failed", kind=KIND)
    assert values(trajectory, CODE) == [0.0, 0.75]
    assert values(trajectory, PAPER) == [0.0, 0.5]


def test_a_long_failure_is_clipped_in_the_article_only() -> None:
    trajectory = episode([act(("TOOL1", AC))] * 6, stop="limit", kind=KIND)
    assert values(trajectory, CODE) == [0.0, 1.5]
    assert values(trajectory, PAPER) == [0.0, 1.0]


def test_an_agent_that_recovers_did_not_execute_without_errors() -> None:
    trajectory = episode([*FAILED, act(("TOOL3", OS))], kind=KIND)
    assert values(trajectory, PAPER) == [0.0, 0.5]


def test_an_unreadable_first_reply() -> None:
    trajectory = episode([act(unreadable=True)], stop="failed", kind=KIND)
    assert values(trajectory, CODE) == values(trajectory, PAPER) == [0.0, 0.0]


def test_a_refusal_is_no_failure() -> None:
    assert values(episode([], stop="refused", kind=KIND), CODE) == [1.0, None]
    assert values(episode([], stop="refused", kind=KIND), PAPER) == [0.0, None]


def test_where_it_is_scored() -> None:
    assert values(exact("0126", kind="baseline"), CODE) == [None, None]
    assert values(exact("0126", kind="baseline"), PAPER) == [1.0, None]
    assert values(exact("0126", kind="insufficient_config2"), PAPER) == [None, None]
