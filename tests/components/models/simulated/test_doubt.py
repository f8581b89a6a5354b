from components.conditions.failing import Denied, Slow, Unavailable
from components.conditions.wrong_results import Contradictory, Stale
from components.core.messages import Message, ToolCall
from components.models.simulated import add_doubt
from components.simulation.draws import Draws, Rates
from tests.failing import call_radiology, call_tools, texts
from tests.table import each_row

SAID = Message("assistant", "Thought: The task is done.\nAction: Finish[{}]")


def after(shown, said=SAID, competence=1.0):
    messages = [Message("user", "Which?"), Message("assistant", "Action: echo[{}]"), Message("user", shown)]
    return add_doubt(said, messages, Rates(competence=competence), Draws(1, messages))


@each_row(
    "condition, message",
    [
        (Unavailable(1.0), "The tool echo is unavailable."),
        (Denied(1.0), "The call of echo was denied."),
        (Slow(1.0, seconds=0.02, timeout_seconds=0.01), "The call of echo timed out."),
        (Contradictory(1.0), "The tools disagree: other says otherwise."),
    ],
)
async def test_a_visible_fault_is_mentioned(condition, message):
    (shown,) = texts(await call_tools(condition, "echo 5"))
    assert after(shown).text == f"Thought: {message} The task is done.\nAction: Finish[{{}}]"
    assert after(shown, competence=0.0) is SAID


async def test_two_values_in_a_memory_are_seen():
    trajectory = await call_radiology(Contradictory(1.0), "TOOL2")
    shown = trajectory.steps[0].observed[0].observation.text
    assert "contradict each other" in after(shown).text


async def test_an_invisible_fault_is_not_mentioned():
    (_, shown) = texts(await call_tools(Stale(1.0), "echo 5", "echo 6"))
    assert after(shown) is SAID and after("The tool answers: 5.") is SAID


async def test_a_fault_is_mentioned_where_the_grammar_allows_text():
    (shown,) = texts(await call_tools(Denied(1.0), "echo 5"))
    xml = Message("assistant", "<Call>\n<Purpose>Ask.</Purpose>\n<Tool>echo</Tool>\n</Call>")
    assert "<Purpose>The call of echo was denied. Ask.</Purpose>" in after(shown, xml).text
    bracket = Message("assistant", 'Action: Finish[{"response": "B"}]')
    assert after(shown, bracket).text == f"Thought: The call of echo was denied.\n{bracket.text}"
    native = Message("assistant", "", tool_calls=(ToolCall("1", "echo", "{}"),))
    assert after(shown, native).text == "The call of echo was denied." and after(shown, native).tool_calls
    assert after(shown, Message("assistant", "B")).text == "B"
