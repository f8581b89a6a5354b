"""The simulated core as a panel in real episodes: what analyses, votes and tools contribute, and that prompts explain how."""

from statistics import fmean
from typing import Any

import pytest

from components.agents.direct import Direct
from components.core.plain import Accept
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.panel.agent import MedAgents
from components.radiology.conditions import Baseline
from components.radiology.toolset import Radiology
from components.verifiers.refine import Refine
from components.verifiers.select import Select
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from tests.components.cab.simulated.clinic import ALL, STEADY, Clinic, noting, of, served_alike
from tests.components.ehr.simulated.chartroom import ChartRoom, each
from tests.components.radiology.simulated.conftest import PERFECT, SAMPLES
from tests.golden.vectors import PAPER
from tests.simulated import simulated
from tests.slow import slow
from tests.table import each_row

KNOWLEDGE = of("medqa", "mmlu", "bioasq", "pubmedqa")
GRAMMARS = [BracketJson(), NativeTools(), XmlCall()]
PLAIN = {"expert_tools": False}


def rates(competence: float) -> dict[str, float]:
    return {**STEADY, "competence": competence}


def panel(m: int = 5, n: int = 2, **changes: Any) -> MedAgents:
    return MedAgents(question_experts=m, option_experts=n, **{**PLAIN, **changes})


async def panel_scores(agent: Any, competence: float, seeds: int = 6) -> tuple[float, float | None]:
    """The share of right answers, and of first rounds without a no."""
    right, agreed = [], []
    for seed in range(seeds):
        for trajectory, value in await Clinic(agent, tools=(), rates=rates(competence), seed=seed).play(KNOWLEDGE):
            votes = [
                step.remarks["vote"]
                for step in trajectory.steps
                if step.remarks.get("round") == 1 and "vote" in step.remarks
            ]
            right.append(value)
            agreed += [set(votes) == {"yes"}] if votes else []
    return fmean(right), fmean(agreed) if agreed else None


@slow
async def test_a_panel_without_tools_knows_records_little_better_than_a_direct_answer():
    found = {}
    for name, agent in (("direct", Direct()), ("panel", panel(1, 2))):
        found[name] = fmean(value for _, value in await ChartRoom(agent, BracketJson()).play(each(5)))
    assert found["panel"] < found["direct"] + 0.15 and found["panel"] < 0.4, found


@slow
@pytest.mark.parametrize("competence", [0.7, 0.85])
async def test_a_panel_is_better_than_one_answer_and_a_small_one_little(competence):
    direct, _ = await panel_scores(Direct(), competence)
    small, _ = await panel_scores(panel(1, 1), competence)
    full, agreed = await panel_scores(panel(), competence)
    assert full > direct + 0.07 and full > small + 0.05
    assert abs(small - direct) < 0.1  # 0.03 over 20 seeds
    assert 0.65 < agreed < 0.85


@slow
async def test_analyses_votes_and_rounds_each_contribute():
    direct, _ = await panel_scores(Direct(), 0.85)
    one, _ = await panel_scores(panel(1, 1, level="summary"), 0.85)
    assert one == pytest.approx(direct, abs=0.06)
    for level in ("analysis", "summary"):
        many, _ = await panel_scores(panel(1, 7, level=level), 0.85)
        assert many > direct + 0.1
    rounds = [(await panel_scores(panel(max_attempts=n), 0.85))[0] for n in (1, 3)]
    assert one < rounds[0] <= rounds[1]


def one_each(each: int = 1) -> list[Any]:
    return [one for n, one in enumerate(ALL) if n % 16 < each]


@slow
@each_row("agent", [panel(), panel(level="analysis"), panel(level="summary"), panel(readers="published")])
async def test_a_panel_that_never_errs_is_right_on_every_form(agent):
    found = await Clinic(agent, rates=rates(1.0)).play(one_each())
    assert [value for _, value in found] == [1.0] * 18


@slow
@each_row("grammar", GRAMMARS)
async def test_experts_with_tools_are_right_on_every_form_and_better_than_without(grammar):
    found = await Clinic(panel(expert_tools=True), grammar=grammar, rates=rates(1.0)).play(one_each())
    assert [value for _, value in found] == [1.0] * 18
    assert any(step.branch.startswith("expert/") and step.observed for one, _ in found for step in one.steps)
    samples = of("ehrsql", "medcalc", "mimic_iii", each=8)
    with_tools, without = [
        fmean(value for _, value in await Clinic(agent, grammar=grammar, rates=rates(0.85)).play(samples))
        for agent in (panel(expert_tools=True), panel())
    ]
    assert with_tools > without + 0.05


@slow
@pytest.mark.parametrize("verifier", [Select(n=2), Refine(n=2)], ids=["select", "refine"])
async def test_a_verifier_knows_an_analysis_from_an_answer(verifier):
    agent = panel(expert_tools=True)
    found = await Clinic(agent, verifier=verifier, rates=rates(1.0)).play(one_each())
    assert [value for _, value in found] == [1.0] * 18


async def test_a_short_panel_on_one_question_of_each_kind():
    agent = panel(1, 2, expert_tools=True)
    for sample in of("medqa", "ehrsql", "pubmedqa", each=1):
        ((trajectory, value),) = await Clinic(agent, rates=rates(1.0)).play([sample])
        assert value == 1.0
        assert {step.remarks.get("parsed", True) for step in trajectory.steps} == {True}
        assert not any(step.remarks.get("missing") for step in trajectory.steps)


FORGOTTEN = {
    "report": {"Key Knowledge: the facts\nTotal Analysis: the merged analysis": ""},
    "vote": {"YES or NO": "of yours"},
}


@pytest.mark.parametrize("template", FORGOTTEN)
async def test_a_form_that_the_prompt_forgets_is_not_kept(forgetful, template):
    agent = panel(1, 1, prompts=forgetful("medagents", template, FORGOTTEN[template]))
    ((trajectory, _),) = await Clinic(agent, rates=rates(1.0)).play(of("medqa", each=1))
    assert False in [step.remarks["parsed"] for step in trajectory.steps if step.remarks.get("stage") == template]


async def test_without_a_form_for_the_fields_none_are_named(forgetful):
    agent = panel(5, 1, prompts=forgetful("medagents", "convene_question", {"Medical Field: ": ""}))
    ((trajectory, _),) = await Clinic(agent, rates=rates(1.0)).play(of("medqa", each=1))
    assert len(trajectory.steps[0].remarks["fields"]) < 5


@slow
@each_row("tools", [True, False])
@each_row("grammar", GRAMMARS)
async def test_radiology_is_answered_by_a_panel_too(tools, grammar):
    model = simulated(**PERFECT)
    model.study(SAMPLES)
    door = Door({"main": model}, None, run_seed=0)
    agent = panel(1, 1, expert_tools=tools, max_steps=30)
    parts = Parts(agent, Accept(), grammar, Radiology(PAPER), Baseline(PAPER))
    for sample in SAMPLES[:3]:
        trajectory, _ = await run_episode(parts, door, sample, 0)
        assert (trajectory.stop, trajectory.answer) == ("answered", sample.target["answer"]), trajectory.error


@slow
async def test_the_served_core_runs_the_same_panel():
    asked, model = noting()
    for grammar in (BracketJson(), NativeTools()):
        agent = panel(1, 2, expert_tools=True)
        await Clinic(agent, grammar=grammar, rates={}).play(of("medqa", "ehrsql", each=2), model)
    await served_alike(asked)
    assert len(asked) > 60
