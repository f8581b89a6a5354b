from components.agents.reflectool import ReflecTool
from components.types import Answer, Demonstration
from tests.attempts import Attempt, Lessons, solving

ANSWER = 'Action: Finish[{"response": "B"}]'


async def test_the_nearest_solved_tasks_are_shown():
    memory = Lessons(found=(Demonstration("a solved task", "Action: Plan[{}]"),))
    outcome, model, _ = await solving(ReflecTool(), [ANSWER], Attempt(memory=memory))
    assert outcome == Answer("B") and "a solved task" in model.requests[0].messages[0].text


async def test_without_memory_there_are_patterns():
    outcome, model, _ = await solving(ReflecTool(), [ANSWER])
    assert outcome == Answer("B") and "[ActionFormatExample]" in model.requests[0].messages[0].text


def test_plan_and_think_are_its_own():
    assert [tool.spec.name for tool in ReflecTool().brings] == ["Plan", "Think"]
