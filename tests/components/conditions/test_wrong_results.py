import re

import pytest

from components.conditions.wrong_results import Contradictory, Noisy, Stale
from components.core.protocols import Condition
from components.radiology.tasks import BQ
from tests.failing import Says, Tools, call_radiology, call_tools, kinds, texts


async def test_numbers_are_off_by_the_stated_amount():
    assert isinstance(Noisy(), Condition)
    found = await call_tools(Noisy(1.0, amount=0.5), "echo 100 mg on 2101-02-03")
    assert texts(found)[0] in ("50 mg on 2101-02-03", "150 mg on 2101-02-03")
    assert found[0].observation.data["faults"] == [{"kind": "noisy", "numbers": 1, "amount": 0.5}]


async def test_a_result_without_a_number_is_unaltered_and_a_failure_stays_a_failure():
    found = await call_tools(Noisy(1.0), "echo nothing", "echo no")
    assert texts(found) == ["nothing", "it says no"] and kinds(found) == [[], []]


async def test_a_radiology_memory_holds_what_the_tool_said():
    trajectory = await call_radiology(Noisy(1.0, [BQ]), "TOOL1", "TOOL2", "TOOL3", "TOOL7")
    altered = trajectory.steps[3].observed[0].observation
    (name, (right, shown)), = altered.data["faults"][0]["changes"].items()  # fmt: skip
    assert name == "$OrganQuant$" and right != shown and shown in altered.text and right not in altered.text
    assert kinds(trajectory.steps[2].observed) == [[]]


async def test_a_call_is_answered_with_what_the_tool_said_before():
    assert isinstance(Stale(), Condition)
    found = await call_tools(Stale(1.0), "echo a", "other b", "echo c", "echo d")
    assert texts(found) == ["a", "b", "a", "a"] and kinds(found) == [[], [], ["stale"], ["stale"]]
    assert [one.observation.data["faults"][0]["call"] for one in found[2:]] == [0, 1]


async def test_a_failure_is_not_stored_as_an_earlier_answer():
    found = await call_tools(Stale(1.0), "echo no", "echo b", "echo c")
    assert texts(found) == ["it says no", "b", "b"]


async def test_the_same_call_again_has_no_other_answer_from_before():
    found = await call_tools(Stale(1.0), "echo a", "echo a", "echo b", "echo b")
    assert texts(found) == ["a", "a", "a", "a"] and kinds(found) == [[], [], ["stale"], ["stale"]]


async def test_without_an_earlier_answer_numbers_are_shifted_as_of_an_earlier_time():
    for seed in range(8):
        (found,) = await call_tools(Stale(1.0), "echo 100 mmol on 2101-02-03", seed=seed)
        number, unit, _, date = texts([found])[0].split()
        assert abs(float(number) - 100) == pytest.approx(30, abs=10.5) and (unit, date) == ("mmol", "2101-02-03")
        assert found.observation.data["faults"] == [{"kind": "stale", "numbers": 1}]


async def test_radiology_tools_write_what_an_earlier_study_might_have_shown():
    trajectory = await call_radiology(Stale(1.0), "TOOL1")
    (mark,) = trajectory.steps[0].observed[0].observation.data["faults"]
    right, shown = mark["changes"]["$Anatomy$"]
    assert right == "Chest" != shown


async def test_another_tool_says_something_else():
    assert isinstance(Contradictory(), Condition)
    (found,) = await call_tools(Contradictory(1.0), "echo 100 mg")
    assert found.observation.text in (
        "100 mg\n\nother, asked the same, answers: 50 mg",
        "100 mg\n\nother, asked the same, answers: 150 mg",
    )
    assert found.observation.data["faults"] == [{"kind": "contradictory", "other": "other"}]


async def test_without_numbers_it_does_not_confirm_the_first():
    found = await call_tools(Contradictory(1.0), "echo yes")
    assert texts(found) == ["yes\n\nother, asked the same, does not confirm this."]


async def test_a_tool_that_is_alone_contradicts_itself():
    found = await call_tools(Contradictory(1.0), "echo yes", toolset=Tools((Says(),)))
    assert "a second run of echo, asked the same" in texts(found)[0]


async def test_of_a_long_answer_the_line_that_differs_is_reported():
    found = await call_tools(Contradictory(1.0), f"echo {'a' * 500} and 10 mg")
    assert len(texts(found)[0]) < 500 + 100 + 400 and kinds(found) == [["contradictory"]]


async def test_both_values_stand_in_a_radiology_memory_in_an_order_of_chance():
    orders = set()
    for seed in range(12):
        trajectory = await call_radiology(Contradictory(1.0), "TOOL2", seed=seed)
        (mark,) = trajectory.steps[0].observed[0].observation.data["faults"]
        right, wrong = mark["changes"]["$Modality$"]
        assert right == "CT" != wrong
        shown = trajectory.steps[0].observed[0].observation.data["outputs"]["$Modality$"]
        assert re.fullmatch(r"[\w-]+ \(TOOL\d+\); [\w-]+ \(TOOL\d+\)", shown) and "CT (TOOL2)" in shown
        orders.add(shown.startswith("CT"))
    assert orders == {True, False}
