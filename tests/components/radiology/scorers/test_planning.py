"""Planning metrics."""

from dataclasses import replace

from components.radiology.scorers.planning import (
    NAMES,
    Chain,
    false_discovery_rate,
    free_distance,
    planning,
    tool_matching,
)  # fmt: skip
from components.radiology.tasks import AC, AD, BQ, DI, MC, OS
from tests.components.radiology.scripted import CODE, PAPER, act, episode, exact, plan, sample

TRUTH = (AC, MC, OS, AD, DI)


def values(chain: str, trajectory: object, switches: object = PAPER) -> dict[str, float | None]:
    return {s.name: s.value for s in Chain(switches).score(sample(chain), trajectory)}  # type: ignore[arg-type]


def test_an_exact_episode() -> None:
    found = values("01235", exact("01235"))
    assert tuple(found) == NAMES
    assert all(value == (1.0 if "tma" in name else 0.0) for name, value in found.items())


def test_free_order_lets_organ_and_anomaly_change_places() -> None:
    swapped = (AC, MC, AD, OS, DI)
    assert free_distance(TRUTH, swapped) == 0
    assert free_distance((f"Organ {BQ}", f"Anomaly {BQ}"), (f"Anomaly {BQ}", f"Organ {BQ}")) == 0
    assert free_distance((AC, MC, OS), (AC, OS, MC)) == 2
    found = planning("01235", swapped, swapped, replace(PAPER, gt_order="free"))
    assert found["planning/levenshtein"] == found["planning/levenshtein_decision"] == 0


def test_false_discovery_counts_strange_categories() -> None:
    assert false_discovery_rate((AC, MC, OS), (AC, AD, AD, MC), "generated_len") == 0.5
    assert false_discovery_rate((AC, MC, OS, DI, BQ), (AD,), "max_len") == 0.2
    assert false_discovery_rate((AC, MC), (AC, AC, AC), "generated_len") == 0.0
    assert false_discovery_rate((AC, MC), (), "generated_len") == 0.0


def test_matching_by_position_and_by_run() -> None:
    assert tool_matching(TRUTH, (MC, OS, AD), "positional") == 0.0
    assert tool_matching(TRUTH, (MC, OS, AD), "longest_run") == 0.6
    assert tool_matching(TRUTH, (AC, AD, OS, AD), "positional") == 0.6
    assert tool_matching(TRUTH, (), "longest_run") == tool_matching(TRUTH, (), "positional") == 0.0


def test_without_a_plan_the_decision_is_unscored() -> None:
    trajectory = exact("012")
    trajectory.steps = trajectory.steps[1:]
    found = values("012", trajectory)
    assert found["planning/levenshtein"] == 0 and found["planning/tma"] == 1.0
    assert {name for name, value in found.items() if value is None} == {
        "planning/levenshtein_decision", "planning/levenshtein_drift", "planning/levenshtein_decision_free",
        "planning/fdr_decision", "planning/tma_decision",
    }  # fmt: skip


def test_a_plan_that_cannot_be_read_is_an_empty_chain() -> None:
    found = values("012", episode([plan("no idea"), act(("TOOL1", AC))], stop="limit"))
    assert found["planning/levenshtein_decision"] == 3 and found["planning/levenshtein_drift"] == 1
    assert found["planning/fdr_decision"] == found["planning/tma_decision"] == 0.0


def test_the_reference_scores_successes_only_but_for_its_baseline() -> None:
    failed = [plan("x"), act(("TOOL1", AC)), act(("TOOL3", OS, "missing_value"))]
    baseline = values("012", episode(failed, stop="failed", kind="baseline"), CODE)
    assert baseline["planning/levenshtein"] == 1 and baseline["planning/fdr"] is None
    assert set(values("012", episode(failed, stop="failed", kind="redundant_high"), CODE).values()) == {None}
    assert set(values("012", exact("012", kind="differentiated"), CODE).values()) == {None}
    found = values("012", exact("012", kind="redundant_high"), CODE)
    assert found["planning/fdr"] == 0.0 and found["planning/levenshtein_free"] is None


def test_unsolvable_tasks_and_other_benchmarks_are_unscored() -> None:
    assert set(values("012", exact("012", kind="insufficient_config1")).values()) == {None}
    other = replace(sample("012"), metadata={})
    assert {score.value for score in Chain(PAPER).score(other, exact("012"))} == {None}
