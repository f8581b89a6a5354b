"""Ceilings of the metrics."""

from collections.abc import Mapping
from random import Random
from statistics import fmean

import pytest

from components.radiology.execution import Suitable, execute, plan_of, solvable
from components.radiology.plan import decision_chain
from components.radiology.scorers.execution import Completion, InputOutput, Orchestration
from components.radiology.scorers.planning import Chain
from components.radiology.scorers.response import Response
from components.radiology.sets import baseline, config1, config2, config3, differentiated, high, medium, regular
from components.radiology.study import study_of
from components.radiology.switches import Switches
from components.radiology.tasks import BQ, DD, DI, IE, OS, TASKS
from tests.components.radiology.scripted import CODE, PAIR, PAPER, RECORD, episode, sample, tools
from tests.golden.vectors import dev
from tests.table import each_row

SCORERS = (Chain, InputOutput, Orchestration, Completion, Response)
# What the specification says an exact agent gets under the reference's rules, in any redundant condition (6.11).
CODE_CEILINGS = {
    "execution/ecr": 9 / 11,
    "execution/thr": 7 / 11,
    "execution/pfsp": (8 / 9 + 8 / 10) / 2,
    "planning/levenshtein": 2 / 9,
    "planning/levenshtein_drift": 4 / 9,
    "planning/levenshtein_decision": 3 / 9,
    "planning/fdr": 0.5 / 9,
    "planning/tma": 8.5 / 9,
}
BOUND = tuple((category, None, PAIR) for category in (OS, "Anomaly Detector", "Disease Diagnoser"))


def ceilings(switches: Switches, kind: str, *extra: tuple[object, ...]) -> Mapping[str, float]:
    found: dict[str, list[float]] = {}
    for chain in TASKS:
        trajectory = episode([], stop="failed", kind=kind, offered=tools(*extra, switches=switches))
        for scorer in SCORERS:
            for score in scorer(switches).score(sample(chain), trajectory):
                if score.ceiling is not None:
                    found.setdefault(score.name, []).append(score.ceiling)
    return {name: fmean(values) for name, values in found.items()}


@pytest.mark.parametrize("extra", [(), BOUND])
def test_ceilings_of_the_reference(extra: tuple[tuple[object, ...], ...]) -> None:
    assert ceilings(CODE, "redundant_high", *extra) == pytest.approx(CODE_CEILINGS)


def test_ceilings_of_the_reference_with_a_choice_of_tools() -> None:
    found = ceilings(CODE, "differentiated")
    assert found["execution/mhr"] == pytest.approx(10 / 11)
    assert found["response/f1"] == found["response/bleu"] == 1.0
    assert found["response/rouge_l"] == pytest.approx(0.999999995, abs=1e-9)


@each_row("kind", ["baseline", "redundant_medium", "differentiated", "intact"])
def test_every_rate_of_the_article_can_be_reached(kind: str) -> None:
    found = ceilings(PAPER, kind, *BOUND)
    for name, value in found.items():
        zero = "levenshtein" in name or "fdr" in name
        assert value == (0.0 if zero else pytest.approx(1.0)), name
    assert {"completion/rate", "execution/ots", "planning/tma_decision", "response/bleu1"} <= set(found)


def test_a_play_uses_the_names_of_the_offer_although_equal_plays_are_shared() -> None:
    first = execute("012", "redundant", Suitable(tools(), RECORD), PAPER)
    moved = execute("012", "redundant", Suitable(tools(leave_out=["Anatomy Classifier"])[::-1], RECORD), PAPER)
    swapped = execute("012", "redundant", Suitable(tools()[:3][::-1], RECORD), PAPER)
    assert first.names == swapped.names == ("TOOL1", "TOOL2", "TOOL3")
    assert moved.names == () and moved.stop == "failed"


def test_a_play_ends_where_a_tool_is_missing() -> None:
    execution = execute("0126", "withhold", Suitable(tools(leave_out=[BQ]), RECORD), PAPER)
    assert len(execution.calls) == 3 and not execution.completed


def test_indicators_can_be_claimed_in_the_baseline_of_the_reference_only() -> None:
    suitable = Suitable(tools(switches=CODE), RECORD)
    assert execute("01235678", "baseline", suitable, CODE).completed
    failed = execute("01235678", "redundant_regular", suitable, CODE)
    assert failed.calls[-1].category == IE and not failed.calls[-1].ok


@each_row("chain", TASKS)
def test_the_plan_names_the_chain(chain: str) -> None:
    assert tuple(decision_chain(plan_of(chain), "tolerant")) == TASKS[chain].categories


OTHER = ("Limb", "CT")


def test_tools_bound_to_another_pair_are_not_suitable() -> None:
    suitable = Suitable(tools((OS, None, PAIR), (OS, None, OTHER)), RECORD)
    assert [tool.name for tool in suitable.tools(OS)] == ["TOOL3", "TOOL13"]
    best = suitable.best(OS)
    assert best is not None and best.name == "TOOL13"


@each_row(
    "category, variant, own",
    [
        (OS, None, " lung"),
        (DD, None, "LUNG CANCER"),
        (DI, None, "Lung cancer"),
        (BQ, "Organ", "Volume"),
        (BQ, "Anomaly", "size"),
        (IE, "Organ", "fleischner"),
    ],
)
def test_a_restricted_tool_is_suitable_when_its_list_holds_the_entity(
    category: str, variant: str | None, own: str
) -> None:
    offered = tools((category, variant, None, ("other", own)), (category, variant, None, ("other", "else")))
    suitable = Suitable(offered, RECORD)
    best = suitable.best(category, variant)
    assert best is not None and best.name == "TOOL13"
    assert len(suitable.tools(category, variant)) == 2


def test_an_open_type_takes_both_and_equals_go_to_the_last() -> None:
    suitable = Suitable(tools(), RECORD)
    best = suitable.best(IE)
    assert [tool.name for tool in suitable.tools(IE)] == ["TOOL9", "TOOL10"]
    assert best is not None and best.name == "TOOL10"


def test_it_is_possible_that_no_tool_is_suitable() -> None:
    assert Suitable((), RECORD).best(OS) is None


VECTORS = dev()
STUDIES = [study_of(VECTORS.sample(record, chain)) for record in VECTORS.data["records"] for chain in TASKS]


@each_row("build", [config1, config2, config3])
def test_no_insufficient_set_is_solvable(build):
    for study in STUDIES:
        for seed in range(2):
            assert not solvable(build(study, Random(seed), PAPER), study, PAPER), (study.task.id, seed)


def test_all_other_sets_are_solvable():
    for study in STUDIES:
        sets = [baseline(PAPER), high(PAPER), regular(study, Random(1), PAPER), medium(study, Random(1), PAPER)]
        for cards in (*sets, differentiated(study, Random(1), PAPER)):
            assert solvable(cards, study, PAPER), study.task.id


def test_the_reference_cannot_execute_chains_with_an_indicator_nor_fail_for_a_list():
    for study in STUDIES:
        assert solvable(baseline(CODE), study, CODE) == (IE not in study.task.categories)
        assert solvable(config3(study, Random(1), CODE), study, CODE) == (IE not in study.task.categories)
