"""Input/output metrics."""

from dataclasses import replace

import pytest

from components.core.types import Trajectory
from components.radiology.execution import Suitable, read
from components.radiology.scorers.execution import (
    BestTools,
    Completion,
    InputOutput,
    Orchestration,
    list_score,
    optimal_tools,
)
from components.radiology.switches import Switches
from components.radiology.tasks import AC, AD, DD, DI, IE, MC, OS, TR
from tests.components.radiology.scripted import CODE, PAIR, PAPER, RECORD, act, episode, exact, sample, tools

FAILED = [act(("TOOL1", AC)), act(("TOOL2", MC)), act(("TOOL3", OS, "missing_value"))]
KIND = "redundant_high"


def run_values(trajectory: Trajectory, switches: Switches) -> list[float | None]:
    return [score.value for score in InputOutput(switches).score(sample("0126"), trajectory)]


@pytest.mark.parametrize("switches", [CODE, PAPER])
def test_a_completed_episode_has_no_share_before_failure(switches: Switches) -> None:
    assert run_values(exact("0126", kind=KIND), switches) == [1.0, None]


def test_the_reference_counts_the_failing_call() -> None:
    trajectory = episode(FAILED, stop="failed", kind=KIND)
    assert run_values(trajectory, CODE) == [0.0, 0.75]
    assert run_values(trajectory, PAPER) == [0.0, 0.5]


def test_a_long_failure_is_clipped_in_the_article_only() -> None:
    trajectory = episode([act(("TOOL1", AC))] * 6, stop="limit", kind=KIND)
    assert run_values(trajectory, CODE) == [0.0, 1.5]
    assert run_values(trajectory, PAPER) == [0.0, 1.0]


def test_an_agent_that_recovers_did_not_execute_without_errors() -> None:
    trajectory = episode([*FAILED, act(("TOOL3", OS))], kind=KIND)
    assert run_values(trajectory, PAPER) == [0.0, 0.5]


def test_an_unreadable_first_reply() -> None:
    trajectory = episode([act(unreadable=True)], stop="failed", kind=KIND)
    assert run_values(trajectory, CODE) == run_values(trajectory, PAPER) == [0.0, 0.0]


def test_a_refusal_is_not_a_failure() -> None:
    assert run_values(episode([], stop="refused", kind=KIND), CODE) == [1.0, None]
    assert run_values(episode([], stop="refused", kind=KIND), PAPER) == [0.0, None]


def test_conditions_in_which_execution_is_scored() -> None:
    assert run_values(exact("0126", kind="baseline"), CODE) == [None, None]
    assert run_values(exact("0126", kind="baseline"), PAPER) == [1.0, None]
    assert run_values(exact("0126", kind="insufficient_config2"), PAPER) == [None, None]


def completion_values(chain: str, trajectory: Trajectory, switches: Switches = PAPER) -> list[float | None]:
    return [score.value for score in Completion(switches).score(sample(chain), trajectory)]


def test_an_exact_episode_is_complete_by_every_rule() -> None:
    assert completion_values("012356789", exact("012356789")) == [1.0] * 4


def test_extra_tools_spoil_exactness_only() -> None:
    steps = [act(("TOOL1", AC)), act(("TOOL2", MC)), act(("TOOL5", DD)), act(("TOOL4", AD))]
    assert completion_values("013", episode(steps)) == [1.0, 1.0, 1.0, 0.0]


def test_a_treatment_without_work_up_hits_the_target_only() -> None:
    trajectory = episode([act(("TOOL12", TR))])
    assert completion_values("012356789", trajectory) == [0.0, 1.0, 0.0, 0.0]
    assert completion_values("012356789", trajectory, replace(PAPER, completion_rule="target_hit"))[0] == 1.0


def test_both_quantifications_are_needed() -> None:
    trajectory = exact("0123568")
    del trajectory.steps[6]
    assert completion_values("0123568", trajectory) == [0.0, 1.0, 0.0, 0.0]


def test_failures_on_the_way_and_unanswered_episodes_are_incomplete() -> None:
    recovered = episode([act(("TOOL3", OS, "missing_value")), *exact("012").steps])
    assert completion_values("012", recovered) == [0.0] * 4
    for stop in ("failed", "limit", "refused"):
        assert completion_values("012", replace(exact("012"), stop=stop)) == [0.0] * 4
    assert completion_values("012", episode([], answer="only words")) == [0.0] * 4


def test_unscored_where_there_is_nothing_to_complete() -> None:
    assert completion_values("012", exact("012", kind="insufficient_config1")) == [None] * 4
    assert completion_values("012", exact("012"), CODE) == [None] * 4


def test_with_tool_building_unsolvable_tasks_can_be_completed() -> None:
    done, refused = exact("012", kind="insufficient_config1"), replace(exact("012"), stop="refused")
    for trajectory, expected in ((done, 1.0), (refused, 0.0)):
        trajectory.facts = {"kind": "insufficient", "condition": "insufficient_config1", "build_tools": "simulated"}
        assert completion_values("012", trajectory)[0] == expected
    assert completion_values("012", done, CODE) == [None] * 4


OTHER = ("Limb", "CT")
CHOICE = tools((OS, None, PAIR), (OS, None, PAIR, ("Lung", "Heart")), (OS, None, OTHER))


def choice_values(chain: str, trajectory: Trajectory, switches: Switches) -> list[float | None]:
    return [score.value for score in Orchestration(switches).score(sample(chain), trajectory)]


def score(*names: str, single: bool = False) -> float | None:
    steps = [act((name, OS)) for name in names]
    return optimal_tools(read(episode(steps), PAPER), Suitable(CHOICE, RECORD), single)


def test_tools_are_ranked_by_upper_bound() -> None:
    assert (score("TOOL14"), score("TOOL13"), score("TOOL3")) == (1.0, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert score("TOOL14", "TOOL3") == pytest.approx(2 / 3)
    assert score("TOOL15") == 0.0


def test_equal_tools_share_the_better_rank() -> None:
    steps = [act(("TOOL3", OS))]
    assert optimal_tools(read(episode(steps), PAPER), Suitable(tools((OS,)), RECORD), False) == 1.0


def test_calls_without_a_choice_and_failed_calls_are_left_out() -> None:
    alone = read(episode([act(("TOOL1", AC))]), PAPER)
    assert optimal_tools(alone, Suitable(CHOICE, RECORD), False) is None
    assert optimal_tools(alone, Suitable(CHOICE, RECORD), True) == 1.0
    failed = read(episode([act(("TOOL14", OS, "missing_value"))]), PAPER)
    assert optimal_tools(failed, Suitable(CHOICE, RECORD), True) is None


def test_a_quantifier_competes_with_its_own_type_only() -> None:
    offered = tools(("Biomarker Quantifier", "Anomaly", None, ("size", "x")))
    steps = [act(("TOOL7", "Organ|Biomarker Quantifier")), act(("TOOL8", "Anomaly|Biomarker Quantifier"))]
    assert optimal_tools(read(episode(steps), PAPER), Suitable(offered, RECORD), False) == 0.5


def test_fixed_lists_of_the_reference() -> None:
    assert list_score("014", ["TOOL9", "TOOL7"]) == 0.6
    assert list_score("014", ["TOOL1"]) == list_score("012", []) == 0.0


def test_the_target_must_come_last() -> None:
    early = episode([act(("TOOL3", OS)), act(("TOOL1", AC))], kind="redundant_high")
    assert choice_values("012", early, CODE)[0] == choice_values("012", early, PAPER)[0] == 0.0
    assert choice_values("012", exact("012", kind="redundant_high"), CODE) == [1.0, None, None]


def test_a_recovered_agent_hits_the_target_in_the_article_only() -> None:
    steps = [act(("TOOL3", OS, "missing_value")), act(("TOOL3", OS))]
    trajectory = episode(steps, kind="redundant_high")
    assert choice_values("012", trajectory, PAPER)[0] == 1.0
    assert choice_values("012", trajectory, CODE)[0] == 0.0


def test_unanswered_episodes_miss_the_target() -> None:
    for stop in ("failed", "limit", "refused"):
        assert choice_values("012", episode([act(("TOOL3", OS))], stop=stop), PAPER)[0] == 0.0


def test_the_milestone_counts_whatever_comes_after() -> None:
    failing = episode([act(("TOOL9", f"Organ|{IE}", "missing_value"))], stop="failed", kind="differentiated")
    assert choice_values("012356789", failing, CODE)[1] == 1.0
    assert choice_values("012356789", failing, PAPER)[1] == 0.0
    assert choice_values("012356789", episode([act(("TOOL12", TR))], kind="differentiated"), PAPER)[1] == 0.0


def test_the_milestone_outside_its_chain_is_repaired() -> None:
    trajectory = episode([act(("TOOL6", DI))], stop="failed", kind="differentiated")
    assert choice_values("0123568", trajectory, CODE)[1] == 0.0
    assert choice_values("0123568", trajectory, PAPER)[1] == 1.0


def test_an_episode_without_calls() -> None:
    assert choice_values("012", episode([], answer="a"), PAPER) == [0.0, 0.0, None]
    assert choice_values("012", episode([act(("TOOL2", MC))], kind="insufficient_config1"), PAPER) == [None] * 3


def test_best_tool_use_is_scored_only_where_tools_can_be_chosen() -> None:
    def best(*names: str, kind: str = "differentiated", category: str = OS, offered: object = CHOICE) -> float | None:
        one_episode = episode([act((name, category)) for name in names], kind=kind, offered=offered)
        return BestTools(PAPER).score(sample("012"), one_episode)[0].value

    assert (best("TOOL14"), best("TOOL14", "TOOL3"), best("TOOL13")) == (1.0, 0.0, 0.0)
    assert best("TOOL1", category=AC) == 0.0, "it never chose, and is in the count of questions"
    assert best("TOOL3", offered=tools()) is None and best("TOOL14", kind="insufficient_config1") is None
