"""Golden vectors of RadABench's metrics, by unit and on scripted episodes, under both profiles."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from components.core.messages import Message, ToolCall, ToolSpec, Usage
from components.core.types import Action, Observation, Observed, Refusal, Sample, Score, Step, Trajectory
from components.radiology.execution import Execution, Suitable, ground_truth, planned_chain, read
from components.radiology.scorers.execution import (
    Completion,
    InputOutput,
    Orchestration,
    io,
    list_score,
    milestone_hit,
    optimal_tools,
    target_hit,
)  # fmt: skip
from components.radiology.scorers.planning import Chain, planning
from components.radiology.scorers.refusal import Refusals
from components.radiology.scorers.response import Response, conclusion, mentions_error, overlap
from components.radiology.sets import config1_facts, config2_facts, config3_facts
from components.radiology.study import study_of
from components.radiology.switches import Switches
from components.radiology.tasks import TASKS
from runner.results.significance import compare
from tests.golden.vectors import CODE, PAPER, Unit, all_vectors, golden_card, units

SCORERS = (Chain, InputOutput, Orchestration, Completion, Response, Refusals)
FACTS = {
    "insufficient_config1": config1_facts,
    "insufficient_config2": config2_facts,
    "insufficient_config3": config3_facts,
}
STOPS = {"completed": "answered", "denied": "refused", "error": "failed"}
LABELS = {
    "ld_gt_vs_execution": "planning/levenshtein",
    "ld_gt_vs_decision": "planning/levenshtein_decision",
    "ld_decision_vs_execution": "planning/levenshtein_drift",
    "ld_gt_vs_execution_free_order": "planning/levenshtein_free",
    "ld_gt_vs_decision_free_order": "planning/levenshtein_decision_free",
    "redundancy": "planning/fdr",
    "matching": "planning/tma",
    "fdr_execution": "planning/fdr",
    "fdr_decision": "planning/fdr_decision",
    "tma_execution": "planning/tma",
    "tma_decision": "planning/tma_decision",
}
# Names of aggregated rates, and the score whose mean over scored samples they are.
RATES = {
    "execution_completion_rate": "execution/ecr",
    "target_hit_rate": "execution/thr",
    "mean_redundancy": "planning/fdr",
    "mean_matching": "planning/tma",
    "mean_failed_length_ratio": "execution/pfsp",
    "awareness_rate": "refusal/uar",
    "grounding_rate": "refusal/ugr",
    "mean_optimal_tool_score": "execution/ots",
    "milestone_rate": "execution/mhr",
    "mean_f1": "response/f1",
    "mean_bleu": "response/bleu",
    "mean_rouge_l": "response/rouge_l",
}
DISTANCES = {
    "gt_vs_execution": "planning/levenshtein",
    "gt_vs_decision": "planning/levenshtein_decision",
    "decision_vs_execution": "planning/levenshtein_drift",
}


def cases(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("unit", [pytest.param(unit, id=unit.id) for unit in units(kind)])


def check(found: Mapping[str, Any], expected: Mapping[str, Any], unit: Unit) -> None:
    """Everything expected is found; floats within the tolerance."""
    assert set(expected) <= set(found)
    for name, value in expected.items():
        exact = value is None or isinstance(value, str | bool | list)
        assert found[name] == (value if exact else pytest.approx(value, abs=unit.vectors.tolerance)), name


# Episodes -----------------------------------------------------------------------------------------------------------


def step_of(purpose: str, text: str, action: Action | None = None) -> Step:
    reply = Message("assistant", text)
    return Step(purpose, "main", "main", 0, 0, (), reply, Usage(), action=action)  # type: ignore[arg-type]


def acted(text: str, expected: Mapping[str, Any], categories: Mapping[str, tuple[str, str | None]]) -> Step:
    """The step of a reply as an episode would record it."""
    reply, fields = Message("assistant", text), expected.get("fields") or {}
    if expected["outcome"] == "denied":
        return step_of("act", text, Action(reply, refusal=Refusal(fields), purpose=fields["purpose"]))
    if expected["tag"] is None:
        return step_of("act", text, Action(reply, error="unparsable_reply"))
    call = ToolCall("call", fields["tool"], "{}")
    step = step_of("act", text, Action(reply, calls=(call,), purpose=fields["purpose"]))
    category, variant = categories.get(fields["tool"], (None, None))
    data = {"category": category, "variant": variant} if category else {}
    step.observed.append(Observed(call, Observation("", data), error=expected.get("error_reason")))
    return step


def episode(unit: Unit) -> tuple[Sample, Trajectory]:
    """A scripted episode as a trajectory."""
    data, expected, turns = unit.data, unit.data["expected"], unit.data["turns"]
    sample = unit.vectors.sample(data["record"], data["chain"])
    cards = {tool["name"]: golden_card(tool) for tool in unit.vectors.data["toolsets"][data["toolset"]]["tools"]}
    categories = {name: (card.category, card.variant) for name, card in cards.items()}
    steps = [step_of("plan", turns["plan"])]
    steps += [acted(text, step, categories) for text, step in zip(turns["steps"], expected["steps"], strict=False)]
    if turns["validation"] is not None:
        steps.append(step_of("validate", turns["validation"]))
    condition = data["condition"]
    facts = {"condition": condition, "kind": condition.split("_")[0]}
    if condition in FACTS:
        facts |= FACTS[condition](study_of(sample))
    trajectory = Trajectory(
        steps,
        tuple(ToolSpec(name, "", facts=card.facts) for name, card in cards.items()),
        facts,
        STOPS[expected["end_state"]],  # type: ignore[arg-type]
        turns["conclusion"] if expected["end_state"] == "completed" else None,
        next((step.action.refusal for step in steps if step.action and step.action.refusal), None),
    )
    return sample, trajectory


def scores(unit: Unit, switches: Switches) -> dict[str, Score]:
    """All scores of an episode."""
    sample, trajectory = episode(unit)
    found = [score for scorer in SCORERS for score in scorer(switches).score(sample, trajectory)]
    assert len({score.name for score in found}) == len(found)
    return {score.name: score for score in found}


def measured(unit: Unit, switches: Switches, execution: Execution, sample: Sample) -> dict[str, Any]:
    """The values in both profiles' blocks: chains, distances, shares."""
    chain = unit.data["chain"]
    decision = planned_chain(unit.data["turns"]["plan"], switches)
    values = planning(chain, decision, execution.categories(switches), switches)
    return {
        **{label: values[name] for label, name in LABELS.items()},
        "ground_truth": list(ground_truth(chain, switches.category_typing)),
        "decision_chain": list(decision),
        "execution_chain": list(execution.categories(switches)),
        "target_hit": target_hit(TASKS[chain], execution, switches),
    }


@cases("trajectories")
def test_metrics_of_the_reference(unit: Unit) -> None:
    (sample, trajectory), chain = episode(unit), unit.data["chain"]
    execution, expected = read(trajectory, CODE), unit.data["expected"]["code_metrics"]
    task, success = TASKS[chain], execution.success(CODE)
    refusals = {s.name: s.value for s in Refusals(CODE).score(sample, trajectory)}
    error = execution.faulty or mentions_error(trajectory)
    answer = conclusion("" if error else trajectory.answer or "", CODE.conclusion_scope)
    texts = overlap(sample.target["answer"], answer, CODE.text_metrics)
    last = expected["error_class"] and unit.data["expected"]["steps"][-1].get("error_class")
    grounds = trajectory.refusal.grounds if trajectory.refusal else {}
    found = measured(unit, CODE, execution, sample) | {
        "success": success,
        "error_class": last,
        "failed_length_ratio": io(CODE, task, execution)["execution/pfsp"],
        "milestone": milestone_hit(task, execution, CODE),
        "log_mentions_error": error,
        **{name: texts[f"response/{name}"] for name in ("f1", "bleu", "rouge_l")},
        "optimal_tool_score": list_score(chain, execution.names),
        "aware": bool(refusals["refusal/uar"]),
        "grounded": bool(refusals["refusal/ugr"]),
        "ground_truth_category": trajectory.facts.get("ground_truth_code"),
        "anatomy_match": grounds.get("anatomy") in (sample.metadata["record"]["Anatomy"], "Universal"),
        "modality_match": grounds.get("modality") in (sample.metadata["record"]["Modality"], "Universal"),
    }
    if not success:
        found |= {"redundancy": None, "matching": None, "target_hit": None}
    check(found, expected, unit)


@cases("trajectories")
def test_metrics_of_the_article(unit: Unit) -> None:
    sample, trajectory = episode(unit)
    execution, expected = read(trajectory, PAPER), unit.data["expected"]["paper_metrics"]
    suitable = Suitable(trajectory.offered, sample.metadata["record"])
    refusals = {s.name: s.value for s in Refusals(PAPER).score(sample, trajectory)}
    values = io(PAPER, TASKS[unit.data["chain"]], execution)
    check(
        measured(unit, PAPER, execution, sample)
        | {
            "execution_completed": bool(values["execution/ecr"]),
            "pre_failure_success": values["execution/pfsp"],
            "optimal_tool_score": optimal_tools(execution, suitable, single=False),
            "optimal_tool_score_all_steps": optimal_tools(execution, suitable, single=True),
            "optimal_tool_steps": expected.get("optimal_tool_steps"),
            "aware_strict": bool(refusals["refusal/uar"]),
            "grounded_strict": bool(refusals["refusal/ugr"]),
        },
        expected,
        unit,
    )


@cases("trajectories")
def test_scorers_agree_with_the_metric_functions(unit: Unit) -> None:
    found, expected = scores(unit, PAPER), unit.data["expected"]["paper_metrics"]
    solvable = not unit.data["condition"].startswith("insufficient")
    for label, name in LABELS.items():
        if label in expected:
            value = expected[label] if solvable else None
            assert found[name].value == (None if value is None else pytest.approx(value, abs=unit.vectors.tolerance))
    assert found["execution/thr"].value == (float(expected["target_hit"]) if solvable else None)
    assert found["refusal/uar"].value == (None if solvable else float(expected["aware_strict"]))


# Units --------------------------------------------------------------------------------------------------------------


@cases("chain_metrics")
def test_chain_metrics(unit: Unit) -> None:
    data = unit.data
    decision, executed = tuple(data["decision"]), tuple(data["execution"])
    for switches, expected in ((CODE, data["expected"]["code"]), (PAPER, data["expected"].get("paper", {}))):
        values = planning(data["chain"], decision, executed, switches)
        truth = ground_truth(data["chain"], switches.category_typing)
        found = {label: values[name] for label, name in LABELS.items()}
        check(found | {"target_hit": executed[-1:] == truth[-1:]}, expected, unit)


@cases("text_metrics")
def test_text_metrics(unit: Unit) -> None:
    values = overlap(unit.data["reference"], unit.data["response"], "code")
    check({name: values[f"response/{name}"] for name in ("f1", "bleu", "rouge_l")}, unit.data["expected"], unit)


@cases("optimal_tool_score_code")
def test_optimal_tool_score_of_the_reference(unit: Unit) -> None:
    assert list_score(unit.data["chain"], unit.data["tools_used"]) == pytest.approx(
        unit.data["expected"], abs=unit.vectors.tolerance
    )


@cases("aggregates")
def test_aggregates_of_the_reference(unit: Unit) -> None:
    episodes = {one.data["id"]: one for one in units("trajectories") if one.vectors.path == unit.vectors.path}
    found = [scores(episodes[name], CODE) for name in unit.data["cases"]]
    expected = dict(unit.data["expected"])
    distances = expected.pop("mean_ld", None) or {}
    for label, value in (expected | distances).items():
        values = [one[(RATES | DISTANCES)[label]].value for one in found]
        scored = [value for value in values if value is not None]
        assert (fmean(scored) if scored else 0) == pytest.approx(value, abs=unit.vectors.tolerance), label


@cases("significance")
def test_significance(unit: Unit) -> None:
    data = unit.data
    compared = compare(data["method_a"], data["method_b"], data["lower_is_better"])
    found = {"win": compared.win, "tie": compared.tie, "loss": compared.loss, "t": compared.t, "df": compared.df}
    check(found | {"p_two_sided": compared.p_value}, data["expected"], unit)


def test_a_metric_where_lower_is_better_swaps_wins_and_losses() -> None:
    vector = next(iter(all_vectors())).data["units"]["significance"][0]
    lower = compare(vector["method_a"], vector["method_b"])
    assert compare(vector["method_a"], vector["method_b"], lower_is_better=False) == replace(
        lower, win=lower.loss, loss=lower.win
    )
