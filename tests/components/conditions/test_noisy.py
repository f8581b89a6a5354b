from components.conditions.noisy import Noisy
from components.core.protocols import Condition
from components.radiology.tasks import BQ
from tests.failing import imaged, kinds, seen, texts


async def test_numbers_are_off_by_the_stated_amount():
    assert isinstance(Noisy(), Condition)
    found = await seen(Noisy(1.0, amount=0.5), "echo 100 mg on 2101-02-03")
    assert texts(found)[0] in ("50 mg on 2101-02-03", "150 mg on 2101-02-03")
    assert found[0].observation.data["faults"] == [{"kind": "noisy", "numbers": 1, "amount": 0.5}]


async def test_a_result_without_a_number_is_not_struck_and_a_failure_stays_one():
    found = await seen(Noisy(1.0), "echo nothing", "echo no")
    assert texts(found) == ["nothing", "it says no"] and kinds(found) == [[], []]


async def test_a_radiology_memory_holds_what_the_tool_said():
    trajectory = await imaged(Noisy(1.0, [BQ]), "TOOL1", "TOOL2", "TOOL3", "TOOL7")
    struck = trajectory.steps[3].observed[0].observation
    (name, (right, shown)), = struck.data["faults"][0]["changes"].items()  # fmt: skip
    assert name == "$OrganQuant$" and right != shown and shown in struck.text and right not in struck.text
    assert kinds(trajectory.steps[2].observed) == [[]]
