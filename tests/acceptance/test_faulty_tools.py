"""Tools that fail, through the real command: the same faults whatever the concurrency, and nothing else changed."""

import pytest

from tests.acceptance.command import metric, read_records, run_in_process
from tests.slow import slow

pytestmark = slow

TOOLSETS = {
    "radiology": ("agent=react", "condition=both", "condition@condition.first=redundant_regular", "scorer=[radabench,faults]"),
    "clinical": ("agent=react", "dataset=cab_mini", "scorer=[cab,faults]"),
    "ehr": ("agent=ehr_react", "dataset=ehr_mini", "scorer=[ehr,faults]"),
}  # fmt: skip
FAULTS = ("unavailable", "slow", "denied", "stale", "contradictory", "noisy", "renamed", "undocumented")
COMMON = ("tracking=off", "budget.sample.steps=8", "run.journal=null")


def run_with_fault(home, name, toolset, fault, *words, **settings):
    """``settings`` are those of the fault, which is the only condition, or in radiology the second one."""
    quick = {"seconds": 0.05} if fault == "slow" else {}
    choice, place = (
        ("condition", "condition.") if toolset != "radiology" else ("condition@condition.then", "condition.then.")
    )
    given = (f"{choice}={fault}", *(f"{place}{name}={value}" for name, value in (quick | settings).items()))
    done = run_in_process(home, *TOOLSETS[toolset], *COMMON, *given, *words, f"hydra.run.dir={name}", own=False)
    assert done.code == 0, done.err
    return done.folder


def fault_kinds(records):
    calls = [one for record in records for step in record["steps"] for one in step.get("observed", ())]
    marks = [mark["kind"] for one in calls for mark in one.get("data", {}).get("faults", ())]
    return marks or [fault["kind"] for record in records for fault in record["facts"]["faults"] if fault.get("cards")]


@pytest.mark.parametrize("toolset", TOOLSETS)
@pytest.mark.parametrize("fault", FAULTS)
def test_same_seed_gives_the_same_faults_at_any_concurrency(tmp_path, toolset, fault):
    words = [("limit=16", f"model.max_connections={n}") for n in (1, 16)]
    folders = [run_with_fault(tmp_path, f"{n}", toolset, fault, *two, rate=0.8) for n, two in enumerate(words)]
    first, second = map(read_records, folders)
    assert first == second and set(fault_kinds(first)) == {fault}
    assert metric(folders[0], "faults/struck") > 0


def test_tools_without_a_fault_are_unchanged(tmp_path):
    """With a fault rate of 0, every call is found in the journal of the plain run."""
    words = ("limit=8", f"run.journal={tmp_path / 'journal'}")
    plain = read_records(run_with_fault(tmp_path, "plain", "clinical", "intact", *words))
    again = read_records(
        run_with_fault(tmp_path, "again", "clinical", "noisy", *words, f"run.replay={tmp_path / 'journal'}", rate=0)
    )
    assert [record["steps"] for record in plain] == [record["steps"] for record in again]


def test_fault_can_be_the_only_condition(tmp_path):
    words = ("condition=denied", "condition.rate=1", "condition.tools=[report generator]", "limit=11", "tracking=off")
    done = run_in_process(tmp_path, *words, "run.journal=null", own=False)
    assert done.code == 0, done.err
    assert set(fault_kinds(read_records(done.folder))) == {"denied"}


def test_fault_on_one_tool_changes_only_episodes_that_call_it(tmp_path):
    plain = read_records(run_with_fault(tmp_path, "plain", "clinical", "intact", "limit=12"))
    found = read_records(run_with_fault(tmp_path, "found", "clinical", "denied", "limit=12", rate=1, tools="[Medrag]"))
    same = [a["steps"] == b["steps"] for a, b in zip(plain, found, strict=True)]
    hit = ["denied" in fault_kinds([record]) for record in found]
    assert any(hit) and same == [not one for one in hit]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("agent=ehragent", "dataset=ehr_mini", "condition=noisy"), "EhrAgent writes code, whose functions run in the sandbox"),
        (("agent=react", "dataset=ehr_mini", "toolset=ehr_code", "condition=slow"), "where the fault (slow) has no effect"),
        (("toolset=none", "agent=cot", "condition=denied"), "the toolset has no tool that could fail"),
        (("agent=react", "dataset=cab_mini", "condition=imperfect"), "needs toolset=radiology"),
        (("agent=react", "dataset=cab_mini", "condition=noisy", "condition.tools=[Calc]"), "there is no tool 'Calc'"),
        (("condition=noisy", "condition.amount=3"), "condition.amount"),
    ],
)  # fmt: skip
def test_invalid_fault_settings_are_refused_in_one_line(tmp_path, words, says):
    done = run_in_process(tmp_path, *words, "tracking=off", own=False)
    assert done.code == 2 and says in done.err and len(done.err.strip().splitlines()) <= 4, done.err
    assert not (tmp_path / "outputs" / "scratch").exists()
