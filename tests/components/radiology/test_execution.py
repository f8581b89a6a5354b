"""Chains read from trajectories."""

from dataclasses import replace

from components.core.types import Observation, Observed, Trajectory
from components.radiology.execution import ground_truth, kind_of, planned_chain, read, task_of
from components.radiology.tasks import AC, AD, BQ, MC, OS, TASKS
from tests.components.radiology.scripted import CODE, PAPER, act, episode, exact, plan, sample, tools

TYPED = replace(PAPER, category_typing="typed")


def test_an_exact_episode_is_completed() -> None:
    execution = read(exact("0126"), PAPER)
    assert execution.completed and execution.clean == 4
    assert execution.categories(PAPER) == ground_truth("0126", "untyped") == TASKS["0126"].categories
    assert execution.categories(TYPED) == ground_truth("0126", "typed") == (AC, MC, OS, f"Organ {BQ}")


def test_the_reference_types_the_only_quantifier_of_the_ground_truth() -> None:
    assert ground_truth("0136", "mixed_code")[-1] == f"Anomaly {BQ}"
    assert ground_truth("0123568", "mixed_code") == ground_truth("0123568", "untyped")
    assert ground_truth("0123568", "typed")[5:7] == (f"Organ {BQ}", f"Anomaly {BQ}")


def test_a_failing_call_is_in_the_chain_and_ends_the_clean_run() -> None:
    steps = [act(("TOOL1", AC)), act(("TOOL3", OS, "missing_value")), act(("TOOL2", MC)), act(("TOOL3", OS))]
    execution = read(episode(steps), PAPER)
    assert execution.categories(PAPER) == (AC, OS, MC, OS)
    assert execution.categories(PAPER, failing=False) == (AC, MC, OS)
    assert execution.clean == 1 and execution.faulty and not execution.completed


def test_parallel_calls_of_one_reply_count_in_order() -> None:
    assert read(episode([act(("TOOL1", AC), ("TOOL2", MC))]), PAPER).categories(PAPER) == (AC, MC)


def test_an_unknown_tool_is_a_failure_outside_the_chain() -> None:
    execution = read(episode([act(("TOOL1", AC)), act(("TOOL99", None, "unknown_tool"))]), PAPER)
    assert execution.categories(PAPER) == (AC,) and execution.names == ("TOOL1", "TOOL99") and execution.faulty


def test_a_tool_that_is_described_but_not_callable_has_its_category() -> None:
    execution = read(episode([act(("TOOL3", None, "unknown_tool"))], offered=tools()), PAPER)
    assert execution.categories(PAPER) == (OS,) and execution.categories(PAPER, failing=False) == ()


def test_an_unreadable_reply_is_a_failure() -> None:
    assert read(episode([act(unreadable=True)], stop="failed"), PAPER).faulty


def test_controls_trials_and_rejected_proposals_do_not_count_as_calls() -> None:
    kept = act(("TOOL1", AC))
    kept.observed.append(Observed(kept.observed[0].call, Observation(""), control=True))
    kept.tried.append(Observed(kept.observed[0].call, Observation("", {"category": OS})))
    execution = read(episode([act(("TOOL3", OS), committed=False), kept]), PAPER)
    assert execution.categories(PAPER) == (AC,)


def test_a_call_replaced_by_a_verifier_counts_instead_of_the_proposal() -> None:
    rewritten = act(("TOOL3", OS), asked_as="verify")
    steps = [act(("TOOL1", AC)), act(("TOOL2", MC)), act(("TOOL4", AD), committed=False), rewritten]
    execution = read(episode(steps), PAPER)
    assert execution.categories(PAPER) == (AC, MC, OS) and execution.completed
    select = act(("TOOL4", AD), asked_as="verify", committed=False)
    assert read(episode([act(("TOOL1", AC)), select]), PAPER).categories(PAPER) == (AC,)


def test_the_last_acting_branch_counts() -> None:
    steps = [plan("first", "try/1"), act(("TOOL1", AC), branch="try/1"), act(("TOOL4", AD), branch="try/2")]
    execution = read(episode(steps), PAPER)
    assert execution.categories(PAPER) == (AD,) and execution.plan == "first"


def test_a_refusal_is_a_success_for_the_reference_only() -> None:
    execution = read(episode([], stop="refused"), PAPER)
    assert execution.success(CODE) and not execution.success(PAPER) and not execution.faulty


def test_a_limit_is_a_failure() -> None:
    execution = read(episode([act(("TOOL1", AC))], stop="limit"), CODE)
    assert not execution.success(CODE) and execution.faulty and execution.clean == 1


def test_the_reference_loses_a_call_with_a_closing_brace_in_its_purpose() -> None:
    trajectory = episode([act(("TOOL1", AC), purpose="see {x}"), act(("TOOL2", MC))])
    assert read(trajectory, CODE).categories(CODE) == (MC,)
    assert read(trajectory, PAPER).categories(PAPER) == (AC, MC)


def test_a_plan_is_read_by_the_profile() -> None:
    text = "Tool Chain: [*Organ Biomarker Quantification Tool* -> *Indicator Evaluation Tool*]"
    assert planned_chain(text, CODE) == (f"Organ {BQ}",)
    assert planned_chain(text, PAPER) == (BQ, "Indicator Evaluator")
    assert planned_chain(text, replace(CODE, category_typing="untyped")) == (BQ,)


def test_samples_and_offers_of_other_datasets_are_recognised() -> None:
    assert task_of(sample("012")) is TASKS["012"]
    assert task_of(replace(sample("012"), metadata={})) is None
    assert kind_of(Trajectory()) == "intact"
