from components.conditions.stale import Stale
from components.protocols import Condition
from tests.failing import imaged, kinds, seen, texts


async def test_a_call_is_answered_with_what_the_tool_said_before():
    assert isinstance(Stale(), Condition)
    found = await seen(Stale(1.0), "echo 1", "other 5", "echo 2", "echo 3")
    assert texts(found) == ["1", "5", "1", "1"] and kinds(found) == [[], [], ["stale"], ["stale"]]


async def test_a_failure_is_no_answer_to_keep():
    found = await seen(Stale(1.0), "echo no", "echo 2", "echo 3")
    assert texts(found) == ["it says no", "2", "2"]


async def test_radiology_tools_write_what_an_earlier_study_might_have_shown():
    trajectory = await imaged(Stale(1.0), "TOOL1")
    (mark,) = trajectory.steps[0].observed[0].observation.data["faults"]
    right, shown = mark["changes"]["$Anatomy$"]
    assert right == "Chest" != shown
