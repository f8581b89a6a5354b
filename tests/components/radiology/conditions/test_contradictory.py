import re

from components.core.protocols import Condition
from components.radiology.conditions.contradictory import Contradictory
from tests.failing import Says, Tools, imaged, kinds, seen, texts


async def test_another_tool_says_something_else():
    assert isinstance(Contradictory(), Condition)
    (found,) = await seen(Contradictory(1.0), "echo 100 mg")
    assert found.observation.text in (
        "100 mg\n\nother, asked the same, answers: 50 mg",
        "100 mg\n\nother, asked the same, answers: 150 mg",
    )
    assert found.observation.data["faults"] == [{"kind": "contradictory", "other": "other"}]


async def test_without_numbers_it_does_not_confirm_the_first():
    found = await seen(Contradictory(1.0), "echo yes")
    assert texts(found) == ["yes\n\nother, asked the same, does not confirm this."]


async def test_a_tool_that_is_alone_contradicts_itself():
    found = await seen(Contradictory(1.0), "echo yes", toolset=Tools((Says(),)))
    assert "a second run of echo, asked the same" in texts(found)[0]


async def test_of_a_long_answer_the_line_that_differs_is_told():
    found = await seen(Contradictory(1.0), f"echo {'a' * 500} and 10 mg")
    assert len(texts(found)[0]) < 500 + 100 + 400 and kinds(found) == [["contradictory"]]


async def test_both_values_stand_in_a_radiology_memory_in_an_order_of_chance():
    orders = set()
    for seed in range(12):
        trajectory = await imaged(Contradictory(1.0), "TOOL2", seed=seed)
        (mark,) = trajectory.steps[0].observed[0].observation.data["faults"]
        right, wrong = mark["changes"]["$Modality$"]
        assert right == "CT" != wrong
        shown = trajectory.steps[0].observed[0].observation.data["outputs"]["$Modality$"]
        assert re.fullmatch(r"[\w-]+ \(TOOL\d+\); [\w-]+ \(TOOL\d+\)", shown) and "CT (TOOL2)" in shown
        orders.add(shown.startswith("CT"))
    assert orders == {True, False}
