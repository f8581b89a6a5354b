"""RadABench end to end: real parts from their YAMLs, every condition and task, and an error-free simulated core."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest
import yaml

from components.core.plain import Accept
from components.core.types import Sample, Score, Trajectory
from components.radiology.agent import Radagent
from components.radiology.execution import ground_truth, solvable
from components.radiology.study import study_of
from components.radiology.tasks import PAIRS, TASKS
from components.radiology.toolset import RadiologyTool
from runner.config.build import construct
from runner.episode.budget import Budget
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from tests.golden.vectors import PAPER
from tests.simulated import simulated
from tests.slow import slow
from tests.table import each_row

pytestmark = slow

CONF = Path(__file__).resolve().parents[2] / "conf"
PERFECT = {
    "competence": 1.0, "planning_slip_rate": 0.0, "wrong_tool_rate": 0.0, "malformed_rate": 0.0,
    "ignored_refusal_rate": 0.0,
}  # fmt: skip
REDUNDANT = ("redundant_regular", "redundant_medium", "redundant_high")
SOLVABLE = ("baseline", *REDUNDANT, "differentiated")
INSUFFICIENT = ("insufficient_config1", "insufficient_config2", "insufficient_config3")
CONDITIONS = (*SOLVABLE, *INSUFFICIENT)


@cache
def switches(profile: str) -> Mapping[str, Any]:
    return dict(yaml.safe_load((CONF / "profile" / f"{profile}.yaml").read_text())["radabench"])


@cache
def part(group: str, name: str, profile: str) -> Any:
    """Build the part, or the named parts, that a YAML of ``conf`` describes under a profile."""
    node = yaml.safe_load((CONF / group / f"{name}.yaml").read_text())

    def built(one: Mapping[str, Any]) -> object:
        own = {k: v for k, v in one.items() if k not in ("grammar", "building", "defaults")}  # not needed here
        given = {k: switches(profile) if v == "${profile.radabench}" else v for k, v in own.items()}
        return construct(given, f"{group}.{name}")

    return built(node) if "_target_" in node else {key: built(one) for key, one in node.items()}


@cache
def samples(profile: str) -> Sequence[Sample]:
    return tuple(part("dataset", "radabench_mini", profile).load("test"))


@cache
def one_per_pair(profile: str) -> Sequence[Sample]:
    """All tasks on one record of every anatomy-modality pair."""
    first: dict[tuple[str, str], str | None] = {}
    for sample in samples(profile):
        first.setdefault((sample.strata["anatomy"], sample.strata["modality"]), sample.cluster)
    return tuple(sample for sample in samples(profile) if sample.cluster in first.values())


@cache
def few(profile: str) -> Sequence[Sample]:
    """All tasks on one record of every anatomy, among them all modalities."""
    pairs = (("Head and Neck", "X-ray"), ("Chest", "CT"), ("Breast", "Mammography"), ("Abdomen and Pelvis", "Ultrasound"),
             ("Limb", "X-ray"), ("Spine", "MRI"))  # fmt: skip
    return tuple(s for s in one_per_pair(profile) if (s.strata["anatomy"], s.strata["modality"]) in pairs)


def parts(profile: str, condition: str, agent: str = "radagent", grammar: str = "xml_call") -> Parts:
    grammars = yaml.safe_load((CONF / "config.yaml").read_text())["grammars"]
    return Parts(
        part("agent", agent, profile), Accept(), construct(grammars[grammar], "grammars"),
        part("toolset", "radiology", profile), part("condition", condition, profile),
        part("scorer", "radabench", profile), Budget(calls=100, steps=40),
    )  # fmt: skip


@dataclass(frozen=True)
class Played:
    """A finished episode with its scores."""

    sample: Sample
    trajectory: Trajectory
    scores: Mapping[str, Score]


async def episodes(house: Parts, given: Sequence[Sample], seed: int = 0, **rates: float) -> list[Played]:
    """Run samples with the simulated core, which has the answers of all."""
    model = simulated(**{**PERFECT, **rates})
    model.study(given)
    door = Door({"main": model}, None, run_seed=seed)
    found = []
    for sample in given:
        trajectory, scores = await run_episode(house, door, sample, 0)
        assert trajectory.stop != "error", trajectory.error
        found.append(Played(sample, trajectory, {score.name: score for score in scores}))
    return found


def means(found: Sequence[Played]) -> dict[str, float]:
    """Mean of each metric over the samples where it is scored; unscored metrics are left out."""
    values = defaultdict(list)
    for score in (score for one in found for score in one.scores.values() if score.value is not None):
        values[score.name].append(score.value)
    return {name: fmean(scored) for name, scored in values.items()}


def test_eleven_tasks_have_the_published_lengths_and_levels():
    assert [len(chain) for chain in TASKS] == [3, 3, 3, 4, 5, 4, 4, 5, 7, 8, 9]
    executed = [len(ground_truth(chain, "untyped")) for chain in TASKS]
    assert executed == [3, 3, 3, 4, 5, 4, 4, 5, 8, 9, 10]
    # By chain id, quantification is one step: the article's average of 5.
    assert fmean(len(chain) for chain in TASKS) == pytest.approx(55 / 11)
    assert fmean(executed) == pytest.approx(58 / 11)
    levels = [task.complexity for task in TASKS.values()]
    assert [levels.count(level) for level in ("simple", "moderate", "complex")] == [3, 5, 3]


def test_shipped_set_has_every_pair_and_task():
    found = samples("paper")
    assert len(found) >= 726 and {sample.metadata["chain"] for sample in found} == set(TASKS)
    assert {(s.strata["anatomy"], s.strata["modality"]) for s in found} == set(PAIRS)
    assert len(one_per_pair("paper")) == 22 * 11


SIZES = {
    ("code", "baseline"): {12}, ("paper", "baseline"): {12},
    ("code", "redundant_regular"): {12}, ("paper", "redundant_regular"): {12, 13, 14, 15},
    ("code", "redundant_medium"): {23, 33, 34}, ("paper", "redundant_medium"): {33, 34},
    ("code", "redundant_high"): {169}, ("paper", "redundant_high"): {169},
    ("code", "insufficient_config1"): {14, 15, 16, 17}, ("paper", "insufficient_config1"): {14, 15, 16, 17},
    ("code", "insufficient_config2"): {17}, ("paper", "insufficient_config2"): {15, 16, 17},
    ("code", "insufficient_config3"): {18}, ("paper", "insufficient_config3"): {18},
    ("code", "differentiated"): {17, 18}, ("paper", "differentiated"): {17, 18},
}  # fmt: skip


@each_row("profile,condition", SIZES)
def test_sets_have_their_sizes_and_insufficient_ones_cannot_be_solved(profile, condition):
    given = one_per_pair(profile) if condition == "redundant_high" else samples(profile)
    house, sizes = parts(profile, condition), set()
    for sample in given:
        offer = house.open(sample, 0, 0)
        sizes.add(len(offer.tools))
        pair = (sample.strata["anatomy"], sample.strata["modality"])
        if (profile, condition) == ("code", "redundant_medium"):
            few = 23 if pair == ("Breast", "Mammography") else 33
            assert len(offer.tools) == (few if pair[0] in ("Breast", "Spine") else 34)
        if profile == "paper":
            cards = [tool.card for tool in offer.tools.values() if isinstance(tool, RadiologyTool) and tool.registered]
            assert solvable(cards, study_of(sample), house.toolset.switches) == (condition in SOLVABLE)
        again = house.condition.offer(house.toolset.open(sample), sample, Random(f"0/{sample.problem.id}/0/condition"))
        assert [tool.spec for tool in again.tools.values()] == [tool.spec for tool in offer.tools.values()]
    assert sizes == SIZES[profile, condition]


@each_row("condition", REDUNDANT)
async def test_perfect_core_reaches_the_ceilings_of_the_published_code(condition):
    found = await episodes(parts("code", condition), few("code"))
    assert means(found) == pytest.approx({
        "execution/ecr": 9 / 11, "execution/thr": 7 / 11, "execution/pfsp": (8 / 9 + 8 / 10) / 2,
        "planning/levenshtein": 2 / 9, "planning/levenshtein_drift": 4 / 9, "planning/levenshtein_decision": 3 / 9,
        "planning/fdr": (1 / 4 + 1 / 4) / 9, "planning/tma": (7 + 3 / 4 + 3 / 4) / 9,
    })  # fmt: skip
    rounded = [round(means(found)[name], 3) for name in ("planning/fdr", "planning/tma", "execution/pfsp")]
    assert rounded == [0.056, 0.944, 0.844]


async def test_perfect_core_reaches_the_ceilings_by_condition_of_the_published_code():
    found = await episodes(parts("code", "differentiated"), few("code"))
    texts = {"response/f1": 1.0, "response/bleu": 1.0, "response/rouge_l": 1.0}
    assert means(found) == pytest.approx({"execution/mhr": 10 / 11, "execution/ots": 1.0, **texts}, abs=1e-6)


@each_row("condition", [*SOLVABLE, *INSUFFICIENT])
async def test_article_profile_scores_never_exceed_the_ceilings(condition):
    found = await episodes(
        parts("paper", condition), few("paper"), competence=0.7, planning_slip_rate=0.3, wrong_tool_rate=0.1,
        malformed_rate=0.05, ignored_refusal_rate=0.5,
    )  # fmt: skip
    worse = 0
    for score in (score for one in found for score in one.scores.values() if score.ceiling is not None):
        lower = score.name.startswith(("planning/levenshtein", "planning/fdr"))
        if score.value is not None:
            assert score.value >= score.ceiling if lower else score.value <= score.ceiling + 1e-9, score
            assert lower or 0 <= score.value <= 1, score
            worse += score.value != score.ceiling
    assert worse


@each_row("condition", SOLVABLE)
async def test_perfect_core_reaches_every_rate_under_the_article_profile(condition):
    answers_alone = Radagent(PAPER, strategies=("refined_prompts",))  # base prompts ask for evidence as well
    house = replace(parts("paper", condition), agent=answers_alone)
    found = await episodes(house, one_per_pair("paper") if "medium" in condition else few("paper"))
    got = means(found)
    choice = set() if condition in ("baseline", "redundant_regular") else {"execution/ots"}
    unscored = {name for one in found for name in one.scores} - set(got)
    # Nothing fails and nothing may be refused; where no step has two suitable tools, none is chosen.
    assert unscored == {"execution/pfsp", "refusal/uar", "refusal/ugr"} | ({"execution/ots"} - choice)
    for name, value in got.items():
        lower = name.startswith(("planning/levenshtein", "planning/fdr"))
        assert value == pytest.approx(0.0 if lower else 1.0), name
    assert {one.trajectory.stop for one in found} == {"answered"}
    everything = [score for one in found for score in one.scores.values() if score.name != "execution/pfsp"]
    assert all(score.value == score.ceiling for score in everything)


@pytest.mark.parametrize("profile", ["paper", "code"])
async def test_base_prompts_lower_response_scores_only_under_the_article_profile(profile):
    """The article scores the whole conclusion, the published code only its first paragraph, which holds the answer."""
    found = await episodes(parts(profile, "differentiated"), few(profile))
    assert all(score.value == score.ceiling for one in found for name, score in one.scores.items()
               if score.value is not None and not name.startswith("response/"))  # fmt: skip
    answers = means(found)["response/f1"]
    assert answers == pytest.approx(1.0) if profile == "code" else 0.5 < answers < 0.9


@each_row("condition", INSUFFICIENT)
async def test_only_refusals_are_scored_for_insufficient_sets_under_the_article(condition):
    found = await episodes(parts("paper", condition), few("paper"))
    assert means(found) == {"refusal/uar": 1.0, "refusal/ugr": 1.0}
    for one in found:
        assert all(score.value is None for name, score in one.scores.items() if not name.startswith("refusal/"))
