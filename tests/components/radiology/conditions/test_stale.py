import pytest

from components.core.protocols import Condition
from components.radiology.conditions.stale import Stale
from tests.failing import imaged, kinds, seen, texts


async def test_a_call_is_answered_with_what_the_tool_said_before():
    assert isinstance(Stale(), Condition)
    found = await seen(Stale(1.0), "echo a", "other b", "echo c", "echo d")
    assert texts(found) == ["a", "b", "a", "a"] and kinds(found) == [[], [], ["stale"], ["stale"]]
    assert [one.observation.data["faults"][0]["call"] for one in found[2:]] == [0, 1]


async def test_a_failure_is_no_answer_to_keep():
    found = await seen(Stale(1.0), "echo no", "echo b", "echo c")
    assert texts(found) == ["it says no", "b", "b"]


async def test_the_same_call_again_has_no_other_answer_from_before():
    found = await seen(Stale(1.0), "echo a", "echo a", "echo b", "echo b")
    assert texts(found) == ["a", "a", "a", "a"] and kinds(found) == [[], [], ["stale"], ["stale"]]


async def test_where_nothing_was_said_before_numbers_are_of_an_earlier_time():
    for seed in range(8):
        (found,) = await seen(Stale(1.0), "echo 100 mmol on 2101-02-03", seed=seed)
        number, unit, _, date = texts([found])[0].split()
        assert abs(float(number) - 100) == pytest.approx(30, abs=10.5) and (unit, date) == ("mmol", "2101-02-03")
        assert found.observation.data["faults"] == [{"kind": "stale", "numbers": 1}]


async def test_radiology_tools_write_what_an_earlier_study_might_have_shown():
    trajectory = await imaged(Stale(1.0), "TOOL1")
    (mark,) = trajectory.steps[0].observed[0].observation.data["faults"]
    right, shown = mark["changes"]["$Anatomy$"]
    assert right == "Chest" != shown
