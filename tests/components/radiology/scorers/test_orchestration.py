"""Target, milestone, choice of tools."""

import pytest

from components.core.types import Trajectory
from components.radiology.execution import read
from components.radiology.scorers.orchestration import BestTools, Orchestration, list_score, optimal_tools
from components.radiology.suitable import Suitable
from components.radiology.switches import Switches
from components.radiology.tasks import AC, DI, IE, MC, OS, TR
from tests.components.radiology.scripted import CODE, PAIR, PAPER, RECORD, act, episode, exact, sample, tools

OTHER = ("Limb", "CT")
CHOICE = tools((OS, None, PAIR), (OS, None, PAIR, ("Lung", "Heart")), (OS, None, OTHER))


def values(chain: str, trajectory: Trajectory, switches: Switches) -> list[float | None]:
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
    assert values("012", early, CODE)[0] == values("012", early, PAPER)[0] == 0.0
    assert values("012", exact("012", kind="redundant_high"), CODE) == [1.0, None, None]


def test_a_recovered_agent_hits_the_target_in_the_article_only() -> None:
    steps = [act(("TOOL3", OS, "missing_value")), act(("TOOL3", OS))]
    trajectory = episode(steps, kind="redundant_high")
    assert values("012", trajectory, PAPER)[0] == 1.0
    assert values("012", trajectory, CODE)[0] == 0.0


def test_unanswered_episodes_miss_the_target() -> None:
    for stop in ("failed", "limit", "refused"):
        assert values("012", episode([act(("TOOL3", OS))], stop=stop), PAPER)[0] == 0.0


def test_the_milestone_counts_whatever_comes_after() -> None:
    failing = episode([act(("TOOL9", f"Organ|{IE}", "missing_value"))], stop="failed", kind="differentiated")
    assert values("012356789", failing, CODE)[1] == 1.0
    assert values("012356789", failing, PAPER)[1] == 0.0
    assert values("012356789", episode([act(("TOOL12", TR))], kind="differentiated"), PAPER)[1] == 0.0


def test_the_milestone_outside_its_chain_is_repaired() -> None:
    trajectory = episode([act(("TOOL6", DI))], stop="failed", kind="differentiated")
    assert values("0123568", trajectory, CODE)[1] == 0.0
    assert values("0123568", trajectory, PAPER)[1] == 1.0


def test_an_episode_without_calls() -> None:
    assert values("012", episode([], answer="a"), PAPER) == [0.0, 0.0, None]
    assert values("012", episode([act(("TOOL2", MC))], kind="insufficient_config1"), PAPER) == [None] * 3


def test_a_question_with_nothing_but_the_best_tools_counts_and_without_a_choice_there_is_nothing_to_count() -> None:
    def best(*names: str, kind: str = "differentiated", category: str = OS, offered: object = CHOICE) -> float | None:
        played = episode([act((name, category)) for name in names], kind=kind, offered=offered)
        return BestTools(PAPER).score(sample("012"), played)[0].value

    assert (best("TOOL14"), best("TOOL14", "TOOL3"), best("TOOL13")) == (1.0, 0.0, 0.0)
    assert best("TOOL1", category=AC) == 0.0, "it never chose, and is in the count of questions"
    assert best("TOOL3", offered=tools()) is None and best("TOOL14", kind="insufficient_config1") is None
