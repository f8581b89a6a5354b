"""Task completion."""

from dataclasses import replace

from components.core.types import Trajectory
from components.radiology.scorers.completion import Completion
from components.radiology.switches import Switches
from components.radiology.tasks import AC, AD, DD, MC, OS, TR
from tests.components.radiology.scripted import CODE, PAPER, act, episode, exact, sample


def values(chain: str, trajectory: Trajectory, switches: Switches = PAPER) -> list[float | None]:
    return [score.value for score in Completion(switches).score(sample(chain), trajectory)]


def test_an_exact_episode_is_complete_by_every_rule() -> None:
    assert values("012356789", exact("012356789")) == [1.0] * 4


def test_extra_tools_spoil_exactness_only() -> None:
    steps = [act(("TOOL1", AC)), act(("TOOL2", MC)), act(("TOOL5", DD)), act(("TOOL4", AD))]
    assert values("013", episode(steps)) == [1.0, 1.0, 1.0, 0.0]


def test_a_treatment_without_work_up_hits_the_target_only() -> None:
    trajectory = episode([act(("TOOL12", TR))])
    assert values("012356789", trajectory) == [0.0, 1.0, 0.0, 0.0]
    assert values("012356789", trajectory, replace(PAPER, completion_rule="target_hit"))[0] == 1.0


def test_both_quantifications_are_needed() -> None:
    trajectory = exact("0123568")
    del trajectory.steps[6]
    assert values("0123568", trajectory) == [0.0, 1.0, 0.0, 0.0]


def test_failures_on_the_way_and_unanswered_episodes_are_incomplete() -> None:
    recovered = episode([act(("TOOL3", OS, "missing_value")), *exact("012").steps])
    assert values("012", recovered) == [0.0] * 4
    for stop in ("failed", "limit", "refused"):
        assert values("012", replace(exact("012"), stop=stop)) == [0.0] * 4
    assert values("012", episode([], answer="only words")) == [0.0] * 4


def test_unscored_where_there_is_nothing_to_complete() -> None:
    assert values("012", exact("012", kind="insufficient_config1")) == [None] * 4
    assert values("012", exact("012"), CODE) == [None] * 4


def test_where_tools_are_built_what_could_not_be_done_can_be_completed() -> None:
    done, refused = exact("012", kind="insufficient_config1"), replace(exact("012"), stop="refused")
    for trajectory, expected in ((done, 1.0), (refused, 0.0)):
        trajectory.facts = {"kind": "insufficient", "condition": "insufficient_config1", "build_tools": "simulated"}
        assert values("012", trajectory)[0] == expected
    assert values("012", done, CODE) == [None] * 4
