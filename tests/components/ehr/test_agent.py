import pytest

from components.agents.self_consistency import SelfConsistency
from components.core.errors import ConfigError, ModelError
from components.core.messages import Message, ToolCall
from components.ehr.actions import FilterDB, GetValue, LoadDB, PythonCell
from components.ehr.agent import EhrAgent
from components.grammars.bracket_json import BracketText
from components.grammars.code_block import CodeBlock
from tests.slow import slow
from tests.table import each_row
from tests.wards import cell, memory, run_agent, sample, toolset

RIGHT = "answer = len(FilterDB(LoadDB('admissions'), 'SUBJECT_ID=11'))"
WRONG_COLUMN = "rows = LoadDB('admissions')\nanswer = len(FilterDB(rows, 'PATIENT=11'))"
BARE = EhrAgent(knowledge=False, debugger=False)


async def test_a_question_solved_at_the_first_run():
    done = await run_agent(EhrAgent(), ["- admissions", cell(RIGHT), "TERMINATE"])
    assert done.purposes == ["knowledge", "act", "act"] and done.trajectory.answer == "2"
    assert done.scores["score/strict"] == 1.0 and done.scores["ehr/completed"] == 1.0
    assert done.remarks["executions"] == 1 and done.remarks["terminated"] is True


async def test_code_and_the_last_word_in_one_message_are_two_calls():
    done = await run_agent(EhrAgent(), ["- admissions", cell(RIGHT, "TERMINATE")])
    assert len(done.purposes) == 2 and done.trajectory.answer == "2"


async def test_a_failure_is_explained_by_the_debugger_and_repaired():
    done = await run_agent(EhrAgent(), ["- a", cell(WRONG_COLUMN), "There is no PATIENT.", cell(RIGHT), "TERMINATE"])
    assert done.purposes == ["knowledge", "act", "debug", "act", "act"] and done.trajectory.answer == "2"
    message = done.model.requests[3].messages[-1].text
    assert "failed in line 2 with" in message and "answer = len(FilterDB(rows, 'PATIENT=11'))" in message
    assert message.endswith("Potential reasons:\nThere is no PATIENT.") and "SUBJECT_ID" in message
    assert "PATIENT=11" in done.asked(2) and "LoadDB(name)" in done.asked(2)


async def test_ten_failures_are_twenty_two_calls_and_no_answer():
    def reply(request):
        return {"knowledge": "- a", "act": cell("answer = nothing"), "debug": "It is not defined."}[request.purpose]

    done = await run_agent(EhrAgent(), reply)
    assert len(done.purposes) == 22 and done.purposes.count("act") == 11 and done.purposes.count("debug") == 10
    assert (
        done.trajectory.stop == "failed" and done.trajectory.failure == "step_limit" and done.trajectory.answer is None
    )
    assert done.remarks["executions"] == 10 and done.remarks["terminated"] is False
    assert done.scores["score/strict"] == 0.0 and done.scores["ehr/completed"] == 0.0


async def test_ending_without_a_value_is_not_an_answer():
    for replies in (["TERMINATE"], [cell("answer = nothing"), "TERMINATE"], [cell(RIGHT), cell("x = 1"), "TERMINATE"]):
        done = await run_agent(BARE, replies)
        assert done.trajectory.failure == "no_answer" and done.scores["ehr/completed"] == 0.0


async def test_prose_is_answered_with_a_reminder_that_counts_as_an_execution():
    done = await run_agent(EhrAgent(knowledge=False), ["Let me think.", cell(RIGHT), "TERMINATE"])
    assert done.purposes == ["act"] * 3 and done.remarks["executions"] == 2
    assert "neither a cell of code nor" in done.model.requests[1].messages[-1].text


async def test_a_reminder_does_not_discard_the_previous_result():
    done = await run_agent(BARE, [cell(RIGHT), "The answer is 2.", "TERMINATE"])
    assert done.trajectory.answer == "2" and done.scores["ehr/completed"] == 1.0 and done.remarks["executions"] == 2


async def test_several_cells_in_one_message_are_not_run():
    twice = tuple(ToolCall(f"c{n}", "python", '{"cell": "answer = 1"}') for n in range(2))
    done = await run_agent(BARE, [Message("assistant", "", tool_calls=twice), cell(RIGHT), "TERMINATE"])
    answers = done.model.requests[1].messages[-2:]
    assert [message.tool_call_id for message in answers] == ["c0", "c1"] and "one cell per reply" in answers[0].text
    assert done.trajectory.answer == "2" and not done.trajectory.steps[0].observed


async def test_broken_arguments_count_as_a_failed_execution():
    broken = Message("assistant", "", tool_calls=(ToolCall("c1", "python", "{cell}"),))
    done = await run_agent(EhrAgent(knowledge=False), [broken, "Write JSON.", cell(RIGHT), "TERMINATE"])
    assert done.purposes == ["act", "debug", "act", "act"] and done.remarks["executions"] == 2
    assert done.model.requests[2].messages[-1].tool_call_id == "c1"
    assert "What was run:\n{cell}" in done.asked(1)


async def test_a_cell_that_assigns_no_answer_is_asked_to():
    done = await run_agent(EhrAgent(knowledge=False), [cell("rows = 3"), cell(RIGHT), "TERMINATE"])
    assert done.purposes == ["act"] * 3 and "nothing was assigned" in done.model.requests[1].messages[-1].text


async def test_the_closing_word_inside_data_does_not_end_the_dialogue():
    code = "answer = GetValue(LoadDB('d_labitems'), 'LABEL') + ' TERMINATE'"
    done = await run_agent(BARE, [cell(code), cell(RIGHT), "TERMINATE"])
    assert done.model.requests[1].messages[-1].text == "sodium (terminate) TERMINATE" and done.trajectory.answer == "2"


async def test_the_planner_is_shown_the_methods_knowledge_in_order():
    done = await run_agent(EhrAgent(shots=2), ["- by hadm", cell(RIGHT, "TERMINATE")])
    system, task = done.model.requests[1].messages
    order = ["record database", "admissions: ROW_ID", "2105-12-31", "LoadDB(name)", "variable `answer`", "patient 12 have",
             "- admissions", "answer = 12", "end here", "- by hadm", "how many admissions did patient 11"]  # fmt: skip
    places = [task.text.rindex(words) if words.startswith("how many") else task.text.index(words) for words in order]
    assert places == sorted(places)
    assert "answer = 99" not in task.text and "TERMINATE" in system.text and task.text.count("### Solved ") == 2
    assert done.remarks["memory_hits"][0]["id"] == "learnt-0" and done.remarks["memory_size"] == 6


SWITCHES = {
    "knowledge": (EhrAgent(knowledge=False), ["act"], "Knowledge:"),
    "columns": (EhrAgent(knowledge=False, columns=False), ["act"], "admissions: ROW_ID"),
    "memory": (EhrAgent(knowledge=False, memory=False), ["act"], "answer = 12"),
    "shots": (EhrAgent(knowledge=False, shots=0), ["act"], "### Solved"),
}


@slow
@each_row("agent, purposes, gone", SWITCHES.values())
async def test_each_part_can_be_left_out(agent, purposes, gone):
    whole = await run_agent(EhrAgent(), ["- a", cell(RIGHT, "TERMINATE")])
    done = await run_agent(agent, [cell(RIGHT, "TERMINATE")])
    assert done.purposes == purposes and gone in whole.asked(1) and gone not in done.asked(0)


async def test_without_memory_the_seeds_stand_in_their_order():
    done = await run_agent(EhrAgent(knowledge=False, memory=False), [cell(RIGHT, "TERMINATE")])
    assert [done.asked(0).index(f"{word} patients?") for word in ("first", "second", "third", "fourth")] == sorted(
        done.asked(0).index(f"{word} patients?") for word in ("first", "second", "third", "fourth")
    )
    assert "fifth patients?" not in done.asked(0) and "memory_size" not in done.remarks


async def test_without_debugger_only_the_failure_is_reported():
    done = await run_agent(BARE, [cell(WRONG_COLUMN), cell(RIGHT), "TERMINATE"])
    assert done.purposes == ["act"] * 3 and "Potential reasons" not in done.asked(1)


async def test_a_two_agent_chat_is_given_the_traceback():
    agent = EhrAgent(knowledge=False, memory=False, debugger=False, feedback="traceback")
    done = await run_agent(agent, [cell("x = 1\nanswer = x / 0"), cell(RIGHT), "TERMINATE"])
    message = done.model.requests[1].messages[-1].text
    assert message.startswith("Traceback") and 'File "<cell>", line 2' in message and "ZeroDivisionError" in message


async def test_without_code_actions_are_taken_and_their_errors_explained():
    tools = (LoadDB(), FilterDB(), GetValue())
    replies = ["- a", "FilterDB[X=1]", "Load first.", "LoadDB[admissions]", "FilterDB[SUBJECT_ID=11]",
               "GetValue[HADM_ID, count]", "Finish[2]"]  # fmt: skip
    done = await run_agent(EhrAgent(code=False), replies, BracketText(), tools, memory_=memory("executed"))
    assert done.remarks["learnt"]["actions"].splitlines() == [
        "LoadDB[admissions]", "Observation: admissions: 3 rows with the columns ROW_ID, SUBJECT_ID, HADM_ID, ADMITTIME, AGE.",
        "FilterDB[SUBJECT_ID=11]", "Observation: The current table is down to 2 rows.",
        "GetValue[HADM_ID, count]", "Observation: 2", "Finish[2]",
    ]  # fmt: skip
    assert done.purposes == ["knowledge", "act", "debug", "act", "act", "act", "act"] and done.trajectory.answer == "2"
    assert "Finish[12]" in done.asked(1) and "LoadDB(name)" not in done.asked(2)


async def test_variables_last_for_a_cell_or_for_the_question():
    replies = [cell("n = 2\nanswer = 1"), cell("answer = n"), cell("answer = 2"), "TERMINATE"]
    alone = await run_agent(BARE, replies)
    assert "NameError" in alone.model.requests[2].messages[-1].text
    kept = await run_agent(EhrAgent(knowledge=False, debugger=False, state="episode"), [*replies[:2], "TERMINATE"],
                        CodeBlock(state="episode"), state="episode")  # fmt: skip
    assert kept.trajectory.answer == "2"


def test_an_offer_that_does_not_fit_is_refused_before_the_run():
    with pytest.raises(ConfigError, match=r"agent\.state is episode and toolset\.state cell: set agent\.state alone"):
        EhrAgent(state="episode").requirements.accepts(toolset().open(sample()))
    with pytest.raises(ConfigError, match="only code is offered: choose toolset=ehr"):
        EhrAgent(code=False).requirements.accepts(toolset([PythonCell()]).open(sample()))
    EhrAgent().requirements.accepts(toolset().open(sample()))


async def test_a_completed_run_is_learnt_without_gold():
    replies = [cell("answer = 7", "TERMINATE")]
    with_gold = await run_agent(BARE, replies, memory_=memory("executed"))
    without = await run_agent(BARE, replies, memory_=memory("executed"), of=sample(None))
    assert with_gold.remarks["learnt"] == without.remarks["learnt"]


async def test_an_answer_after_a_failed_action_is_not_learnt():
    replies = ["LoadDB[admissions]", "FilterDB[X=1]", "Finish[2]"]
    agent = EhrAgent(code=False, knowledge=False, debugger=False)
    done = await run_agent(agent, replies, BracketText(), (LoadDB(), FilterDB()), memory_=memory("executed"))
    assert done.trajectory.answer == "2" and "learnt" not in done.remarks


async def test_draws_are_judged_by_the_chosen_one():
    def say(request):
        last = request.branch.startswith("draw/3")
        return cell("answer = nothing") if last else cell(RIGHT, "TERMINATE")

    done = await run_agent(SelfConsistency(BARE, draws=3), say)
    assert done.trajectory.answer == "2" and done.scores["score/strict"] == done.scores["ehr/completed"] == 1.0
    assert done.scores["ehr/executions"] == 12.0


async def test_a_question_that_cannot_be_answered_is_refused():
    done = await run_agent(BARE, ['Refuse[{"reason": "no such table"}]'], of=sample(None, may_abstain=True))
    assert done.trajectory.stop == "refused" and done.scores["ehr/abstained"] == 1.0


LEARNS = {
    "none": ([cell(RIGHT, "TERMINATE")], False),
    "executed": ([cell("answer = 7", "TERMINATE")], True),
    "gold": ([cell(RIGHT, "TERMINATE")], True),
}


@each_row("update, case", LEARNS.items())
async def test_a_learnt_case_is_recorded_as_a_remark(update, case):
    replies, learnt = case
    done = await run_agent(BARE, replies, memory_=memory(update))
    assert ("learnt" in done.remarks) is learnt
    if learnt:
        assert done.remarks["learnt"]["code"] in replies[0] and done.remarks["learnt"]["database"] == "mimic_iii"


async def test_a_wrong_answer_is_not_learnt_by_gold():
    done = await run_agent(BARE, [cell("answer = 7", "TERMINATE")], memory_=memory("gold"))
    assert "learnt" not in done.remarks and done.scores["ehr/answered_wrong"] == 1.0


async def test_a_failed_model_call_is_raised():
    with pytest.raises(AssertionError, match="server: down"):
        await run_agent(EhrAgent(), [ModelError("down", "server")])
