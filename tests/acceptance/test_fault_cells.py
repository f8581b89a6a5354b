"""Every kind of fault on every toolset, in this process: the same faults at any concurrency."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean
from typing import Any

import pytest
from hydra import compose
from omegaconf import OmegaConf

from components.conditions.cards import Recarded, Renamed, Undocumented
from components.conditions.failing import Denied, Slow, Unavailable
from components.conditions.offered import Both
from components.conditions.wrong_results import Contradictory, Noisy, Stale
from components.faults.marks import changed_cards
from components.faults.wrapping import Faulty
from components.radiology.imperfect import Imperfect
from runner.episode.episode import run_episode
from runner.experiment.experiment import Experiment
from tests.composing import build, composing
from tests.failing import kinds
from tests.parts import door
from tests.slow import slow
from tests.table import each_row

pytestmark = slow

TOOLSETS = {
    "radiology": ("condition=redundant_regular",),
    "clinical": ("dataset=cab_mini",),
    "ehr": ("dataset=ehr_mini",),
}
FAULTS = {one.kind: one for one in (Unavailable, Denied, Stale, Contradictory, Noisy, Renamed, Undocumented)} | {
    "slow": lambda rate: Slow(rate, seconds=0.001)
}
CELLS = [(toolset, fault) for toolset in TOOLSETS for fault in FAULTS] + [("radiology", "imperfect")]


@pytest.fixture(scope="module")
def experiments() -> Mapping[str, Experiment]:
    with composing():
        words = {name: ["agent=react", "run.journal=null", "limit=12", *own] for name, own in TOOLSETS.items()}
        return {
            name: build(OmegaConf.to_container(compose("config", own), resolve=True)) for name, own in words.items()
        }


@dataclass
class Late:
    """A model with a random latency for each reply."""

    model: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def generate(self, request: Any) -> Any:
        await asyncio.sleep(Random(request.seed).random() * 0.004)
        return await self.model.generate(request)


async def run_all_samples(experiment: Experiment, fault: Any, model: Any) -> list[Any]:
    """The results of all calls, sample by sample; concurrent where the model is late."""
    parts = replace(experiment.parts, condition=Both(experiment.parts.condition, fault))
    one_by_one, through = model is experiment.models["main"], door(model)
    episodes = [run_episode(parts, through, sample, 0) for sample in experiment.samples]
    done = [await one for one in episodes] if one_by_one else await asyncio.gather(*episodes)
    assert {trajectory.stop for trajectory, _ in done}.isdisjoint({"error"}), [one.error for one, _ in done]
    return [
        (
            [
                (one.call, one.observation.text, one.error, *kinds([one]))
                for step in episode.steps
                for one in step.observed
            ],
            changed_cards(episode),
        )
        for episode, _ in done
    ]


@each_row("toolset, fault", CELLS)
async def test_same_seed_gives_the_same_faults_at_any_concurrency(experiments, toolset, fault):
    experiment = experiments[toolset]
    condition = Imperfect() if fault == "imperfect" else FAULTS[fault](0.7)
    alone = await run_all_samples(experiment, condition, experiment.models["main"])
    at_once = await run_all_samples(experiment, condition, Late(experiment.models["main"]))
    assert alone == at_once
    struck = {kind for calls, _ in alone for one in calls for kind in one[-1]}
    assert struck <= {fault} and (struck or any(cards for _, cards in alone)), "no call was hit by a fault"


@each_row("toolset", TOOLSETS)
def test_tools_without_a_fault_are_left_unchanged(experiments, toolset):
    parts, sample = experiments[toolset].parts, experiments[toolset].samples[0]
    opened = parts.toolset.open(sample)
    plain = parts.condition.offer(opened, sample, Random(0))
    last = [*plain.tools.values()][-1]
    named = [last.spec.facts.get("category", last.spec.name)]
    for fault in (Noisy(1.0, named), Renamed(1.0, named)):
        found = fault.offer(plain, sample, Random(0)).tools.values()
        others = [tool for tool in found if not isinstance(tool, Faulty | Recarded)]
        assert 0 < len(others) < len(plain.tools) and {id(one) for one in others} <= {
            id(one) for one in plain.tools.values()
        }


async def test_choosing_the_better_imperfect_tool_raises_accuracy():
    with composing():
        own = ("experiment=faults/choosing", "run.journal=null", "limit=300")
        words = [[*own, f"model.second_choice_rate={rate}"] for rate in (0, 1)]
        runs = [build(OmegaConf.to_container(compose("config", one), resolve=True)) for one in words]
    right = []
    for run in runs:
        done = [await run_episode(run.parts, door(run.models["main"]), sample, 0) for sample in run.samples]
        right.append(fmean(score.value for _, scores in done for score in scores if score.name == "faults/right"))
    assert right[0] > right[1] + 0.03
