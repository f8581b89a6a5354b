"""Prompting strategies of RadABench's agent on the simulated core: all subsets, and why each helps: by its texts alone."""

from collections.abc import Sequence
from itertools import combinations
from typing import get_args

import pytest

from components.core.types import Sample, Trajectory
from components.radiology.agent import Radagent, Strategy
from components.radiology.plan import decision_chain
from components.radiology.tasks import TASKS
from components.verifiers.reflect import Reflect
from tests.golden.vectors import PAPER
from tests.slow import slow

SUBSETS = [names for n in range(5) for names in combinations(get_args(Strategy), n)]
PAIRS = [pytest.param(names, marks=slow) if len(names) in (2, 3) else names for names in SUBSETS]


def agent(*strategies: str, reflector: Reflect | None = None, **given: str) -> Radagent:
    return Radagent(PAPER, strategies=strategies, reflector=reflector or Reflect(), **given)


@slow
@pytest.mark.parametrize("names", PAIRS, ids=lambda names: "+".join(names) or "plain")
async def test_every_subset_completes_all_tasks_of_three_records_where_the_core_never_errs(perform, samples, names):
    eleven = samples[:33:3]
    assert len({one.cluster for one in eleven}) == 3 and len({one.metadata["chain"] for one in eleven}) == 11
    found = await perform(eleven, agent(*names))
    parts = [(one.answer or "").split("\n\n") for one in found]
    assert [first for first, *_ in parts] == [sample.target["answer"] for sample in eleven]
    assert {len(one) for one in parts} == {1 if "refined_prompts" in names else 2 if "multi_agent" in names else 3}
    for one, sample in zip(found, eleven, strict=True):
        called = [seen.observation.data["category"] for step in one.steps for seen in step.observed if not seen.control]
        assert called == list(TASKS[sample.metadata["chain"]].categories)


def stops(found: Sequence[Trajectory]) -> list[str | None]:
    return [one.failure or one.stop for one in found]


@slow
async def test_reflection_catches_slips_and_not_without_the_text_of_what_was_found(perform, samples, forgetful):
    rates = {"wrong_tool_rate": 0.15, "malformed_rate": 0.05}
    plain = stops(await perform(samples[:66], agent(), **rates))
    stop_reasons = stops(await perform(samples[:66], agent("self_reflection"), **rates))
    assert stop_reasons.count("answered") > plain.count("answered") + 12
    never = stops(await perform(samples[:66], agent("self_reflection", reflector=Reflect(repairs=0)), **rates))
    emptied = forgetful("reflect", "finding", {"[Finding]\n{{ finding }}\n": ""})
    uninformed = stops(
        await perform(samples[:66], agent("self_reflection", reflector=Reflect(prompts=emptied)), **rates)
    )
    # Asked again without a word of what is wrong it says the same again.
    assert [one == "answered" for one in uninformed] == [one == "answered" for one in never]


async def test_the_reflection_itself_goes_with_the_text_that_asks_for_it(perform, samples, forgetful):
    emptied = forgetful("radagent", "tools", {'{% include "_shared/radagent_reflect.jinja" %}': ""})
    found = await perform(samples[:11], agent("self_reflection", prompts=emptied))
    verdicts = {step.verdict for one in found for step in one.steps if step.purpose == "act"}
    assert "reflect: no_reflection" in {verdict.partition(",")[0] for verdict in verdicts}


async def slipped(perform, samples: Sequence[Sample], which: Radagent, what: str, rate: float) -> set[str]:
    """The samples on which a slip was made; slips are drawn by question and turn, so runs can be compared."""
    found = await perform(samples, which, **{f"{what}_rate": rate})
    return {sample.problem.id for sample, one in zip(samples, found, strict=True) if SLIPS[what](sample, one)}


def malformed(sample: Sample, one: Trajectory) -> bool:
    return next(step for step in one.steps if step.purpose == "act").action.error is not None


def planned_wrong(sample: Sample, one: Trajectory) -> bool:
    return decision_chain(one.steps[0].reply.text, "tolerant") != list(TASKS[sample.metadata["chain"]].categories)


def took_another(sample: Sample, one: Trajectory) -> bool:
    called = [seen.observation.data["category"] for step in one.steps for seen in step.observed if not seen.control]
    return called != list(TASKS[sample.metadata["chain"]].categories)


SLIPS = {"malformed": malformed, "planning_slip": planned_wrong, "wrong_tool": took_another}


@slow
async def test_examples_lower_malformed_replies_and_not_without_their_replies(perform, samples, forgetful):
    emptied = agent("few_shot", examples=forgetful("radagent_examples", "execution", {"{{ reply }}": "(left out)"}))
    plain, shown, uninformed = [
        await slipped(perform, samples[:44], one, "malformed", 0.3) for one in (agent(), agent("few_shot"), emptied)
    ]
    assert shown < plain == uninformed and len(shown) < len(plain) / 2


@slow
async def test_notes_on_each_kind_of_tool_lower_planning_slips_and_not_without_them(perform, samples, forgetful):
    bare = {'"_shared/radagent_kinds_noted.jinja"': '"_shared/radagent_kinds.jinja"'}
    emptied = agent("refined_prompts", refined=forgetful("radagent_refined", "plan", bare))
    plain, noted, uninformed = [
        await slipped(perform, samples[:44], one, "planning_slip", 0.5)
        for one in (agent(), agent("refined_prompts"), emptied)
    ]
    assert noted < plain == uninformed and len(noted) < 0.6 * len(plain)


@slow
async def test_a_plan_handed_to_an_executor_lowers_wrong_tools_and_not_without_the_plan(perform, samples, forgetful):
    emptied = agent("multi_agent", prompts=forgetful("radagent", "executor", {"\n\n[Plan]\n{{ plan }}": ""}))
    plain, handed, uninformed = [
        await slipped(perform, samples[:44], one, "wrong_tool", 0.15)
        for one in (agent(), agent("multi_agent"), emptied)
    ]
    assert handed < uninformed and len(handed) < 0.7 * len(uninformed) and len(handed) < 0.7 * len(plain)
    assert len(uninformed) == pytest.approx(len(plain), abs=10)  # of three agents each has draws of its own


@slow
async def test_with_equal_draws_strategies_add_no_slips(perform, samples):
    rates = {"planning_slip_rate": 0.3, "wrong_tool_rate": 0.1, "malformed_rate": 0.1}
    plain, refined, shown = [
        stops(await perform(samples[:44], agent(*names), **rates))
        for names in ((), ("refined_prompts",), ("few_shot",))
    ]
    assert all(one == "answered" for one, was in zip(shown, plain, strict=True) if was == "answered")
    assert refined.count("answered") >= plain.count("answered") and shown.count("answered") > plain.count("answered")


async def test_refined_prompts_have_one_name_for_both_measurements(perform, samples):
    found = await perform([one for one in samples[:11] if one.metadata["chain"] == "0123568"], agent("refined_prompts"))
    plan = found[0].steps[0].reply.text
    assert plan.count("*Biomarker Quantification Tool*") == 2 and "Organ Biomarker" not in plan
    types = [seen.observation.data.get("variant") for step in found[0].steps for seen in step.observed]
    assert [one for one in types if one in ("Organ", "Anomaly")] == ["Organ", "Anomaly"]


@slow
async def test_examples_change_nothing_else(perform, samples):
    one, other = [await perform(samples[:11], agent(*names)) for names in ((), ("few_shot",))]
    assert [t.answer for t in one] == [t.answer for t in other]
