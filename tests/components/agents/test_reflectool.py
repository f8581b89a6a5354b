from components.acting.solved import solved_task
from components.agents.reflectool import ReflecTool
from components.core.types import Answer
from tests.attempts import Attempt, Lessons, solving

ANSWER = 'Action: Finish[{"response": "B"}]'
FOUND = [solved_task(f"solved task {n}", [("Plan[{}]", "OK")], id=f"example_{n}") for n in (1, 2)]


async def test_the_nearest_solved_tasks_are_shown():
    outcome, model, _ = await solving(ReflecTool(), [ANSWER], Attempt(memory=Lessons(found=FOUND)))
    system = model.requests[0].messages[0].text
    assert outcome == Answer("B") and "solved task 1" in system and "solved task 2" not in system
    _, model, _ = await solving(ReflecTool(shots=2), [ANSWER], Attempt(memory=Lessons(found=FOUND)))
    assert "solved task 2" in model.requests[0].messages[0].text


async def test_without_memory_there_are_patterns():
    outcome, model, _ = await solving(ReflecTool(), [ANSWER])
    assert outcome == Answer("B") and "[ActionFormatExample]" in model.requests[0].messages[0].text


def test_plan_and_think_are_its_own():
    assert [tool.spec.name for tool in ReflecTool().requirements.tools] == ["Plan", "Think"]
