"""Runs the real agents with a simulated core on shipped records, with prompts as they are or changed."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from components.core.plain import Accept
from components.core.traits import Requirements, declared
from components.core.types import Sample, Trajectory
from components.grammars.xml_call import XmlCall
from components.models.simulated import Simulated
from components.radiology.agent import Radagent
from components.radiology.conditions import Baseline
from components.radiology.dataset import RadABench
from components.radiology.toolset import Radiology
from runner.episode.budget import Budget
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from tests.golden.vectors import PAPER
from tests.simulated import simulated

SAMPLES: Sequence[Sample] = tuple(RadABench(shipped="radabench_mini").load("test"))
PERFECT = {
    "competence": 1.0, "planning_slip_rate": 0.0, "wrong_tool_rate": 0.0, "malformed_rate": 0.0,
    "ignored_refusal_rate": 0.0,
}  # fmt: skip


@pytest.fixture
def samples() -> Sequence[Sample]:
    """Eleven tasks of each of the first records."""
    return SAMPLES


@pytest.fixture
def perform() -> Callable[..., Any]:
    """Runs samples with a core of these rates, by default one that never errs."""

    async def run(
        given: Sequence[Sample], agent: Any = None, grammar: Any = None, condition: Any = None,
        kind: type[Simulated] = Simulated, **rates: Any,
    ) -> list[Trajectory]:  # fmt: skip
        model = simulated(kind, **{**PERFECT, **rates})
        model.study(SAMPLES)
        door = Door({"main": model}, None, run_seed=0)
        agent = agent or Radagent(PAPER)
        parts = Parts(
            agent, declared(agent, Requirements).verifier or Accept(), grammar or XmlCall(), Radiology(PAPER), condition or Baseline(PAPER),
            budget=Budget(steps=30),
        )  # fmt: skip
        found: list[Trajectory] = []
        for sample in given:
            trajectory, _ = await run_episode(parts, door, sample, 0)
            assert trajectory.stop != "error", trajectory.error
            found.append(trajectory)
        return found

    return run
