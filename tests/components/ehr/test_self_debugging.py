import pytest

from components.core.messages import Message, ToolCall
from components.ehr.agent import SelfDebugging
from components.grammars.code_block import CodeBlock
from tests.table import each_row
from tests.wards import cell, run_agent, sample

RIGHT = "rows = FilterDB(LoadDB('admissions'), 'SUBJECT_ID=11')\nanswer = len(rows)"
WRONG = "answer = 1 / 0"
VERDICT = "It counts the rows of patient 11.\nTERMINATE"


async def test_a_cell_that_is_called_right_gives_the_answer():
    done = await run_agent(SelfDebugging(), [cell(RIGHT), VERDICT])
    assert done.purposes == ["act", "reflect"] and done.trajectory.answer == "2"
    assert done.scores["score/strict"] == done.scores["ehr/completed"] == 1.0
    assert done.remarks["executions"] == 1 and done.remarks["terminated"] is True


async def test_a_failure_is_shown_as_its_traceback_and_the_new_cell_is_run():
    done = await run_agent(SelfDebugging(), [cell(WRONG), f"It divides by 0.\n{cell(RIGHT)}", VERDICT])
    assert done.purposes == ["act", "reflect", "reflect"] and done.trajectory.answer == "2"
    traceback, again = done.model.requests[1].messages[-1].text, done.model.requests[2].messages[-1].text
    assert (
        'File "<cell>", line 1' in traceback
        and "ZeroDivisionError" in traceback
        and "What came of the cell:\n2\n" in again
    )
    assert done.scores["ehr/executions"] == 2.0 and done.scores["ehr/failed_executions"] == 1.0


async def test_a_new_cell_is_run_and_explained_whatever_verdict_comes_with_it():
    replies = [cell(WRONG, "TERMINATE"), cell("answer = 3", "TERMINATE"), cell(RIGHT, "TERMINATE"), VERDICT]
    done = await run_agent(SelfDebugging(), replies)
    assert done.purposes == ["act", "reflect", "reflect", "reflect"] and done.trajectory.answer == "2"


async def test_lines_of_the_cell_may_be_quoted_in_its_explanation():
    quoted = f"{cell('answer = len(rows)')}\ncounts the rows.\nTERMINATE"
    done = await run_agent(SelfDebugging(), [cell(RIGHT), quoted])
    assert done.trajectory.answer == "2" and done.remarks["executions"] == 1


async def test_without_a_verdict_it_ends_after_the_last_cell_and_has_no_answer():
    done = await run_agent(SelfDebugging(max_steps=3), lambda request: cell(RIGHT))
    assert len(done.purposes) == 4 and done.trajectory.failure == "step_limit" and done.trajectory.answer is None
    assert done.remarks["executions"] == 3 and done.remarks["terminated"] is False
    assert done.scores["score/strict"] == done.scores["ehr/completed_official"] == 0.0


async def test_the_verdict_on_the_last_cell_counts():
    done = await run_agent(SelfDebugging(max_steps=1), [cell(RIGHT), VERDICT])
    assert done.trajectory.answer == "2"


@each_row("replies", [["TERMINATE"], [cell(WRONG), VERDICT], [cell("x = 1"), VERDICT]])
async def test_a_verdict_without_a_value_is_not_an_answer(replies):
    done = await run_agent(SelfDebugging(), replies)
    assert done.trajectory.failure == "no_answer" and done.scores["ehr/completed"] == 0.0


async def test_a_reply_with_neither_cell_nor_verdict_is_reported_and_counts():
    done = await run_agent(SelfDebugging(), [cell(RIGHT), "It seems right.", VERDICT])
    assert done.trajectory.answer == "2" and done.remarks["executions"] == 2
    assert "could not be read" in done.model.requests[2].messages[-1].text


async def test_only_demonstrations_with_their_code_are_shown_next_to_the_question():
    done = await run_agent(SelfDebugging(shots=2), [cell(RIGHT), VERDICT])
    assert "answer = 2" in done.asked(0) and "answer = 3" not in done.asked(0) and "answer = 12" not in done.asked(0)
    assert "- first" not in done.asked(0) and "LoadDB(name)" in done.asked(0) and "LoadDB(name)" in done.asked(1)
    assert "Call no functions but" in done.asked(0) and "line by line" in done.asked(1)
    assert "Solved" not in (await run_agent(SelfDebugging(shots=0), [cell(RIGHT), VERDICT])).asked(0)
    assert (
        SelfDebugging().requirements.memory == "demonstrations" and SelfDebugging(shots=0).requirements.memory is None
    )


CALLED = {
    "cell": ('{"cell": "answer = 2"}', "2", "```python\nanswer = 2\n```"),
    "broken": ("{cell}", "7", "```python\n{cell}\n```"),
}


@pytest.mark.parametrize(("arguments", "answer", "expected_text"), CALLED.values(), ids=CALLED)
async def test_a_cell_sent_to_a_function_stands_as_text_in_the_call_that_explains(arguments, answer, expected_text):
    called = Message("assistant", "", tool_calls=(ToolCall("c1", "python", arguments),))
    replies = [called, VERDICT] if answer == "2" else [called, cell("answer = 7"), VERDICT]
    done = await run_agent(SelfDebugging(), replies, CodeBlock(channel="function"))
    first, second = done.model.requests[:2]
    assert done.trajectory.answer == answer and [spec.name for spec in first.tools] == ["python"] and not second.tools
    assert second.messages[2].text == expected_text and {one.role for one in second.messages[3:]} == {"user"}


@pytest.mark.parametrize("before", [[], [cell(RIGHT)]], ids=["at once", "after a cell"])
async def test_a_question_that_cannot_be_answered_is_refused(before):
    replies = [*before, 'Refuse[{"reason": "no such table"}]']
    done = await run_agent(SelfDebugging(), replies, of=sample(None, may_abstain=True))
    assert done.trajectory.stop == "refused" and done.scores["ehr/abstained"] == 1.0
    assert all("Refuse[" in done.asked(n) for n in range(len(replies)))
