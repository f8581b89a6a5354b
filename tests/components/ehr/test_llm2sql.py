from components.ehr.actions import SQLInterpreter
from components.ehr.sql_agents import Llm2Sql
from tests.table import each_row
from tests.wards import run_agent, sample

TOOLS = (SQLInterpreter(),)
RIGHT = "```sql\nselect count(*) from admissions where subject_id = 11\n```"


async def test_one_call_writes_a_statement_whose_rows_are_the_answer():
    done = await run_agent(Llm2Sql(), [RIGHT], tools=TOOLS)
    assert done.purposes == ["act"] and done.trajectory.answer == "[(2,)]"
    assert done.scores["score/strict"] == done.scores["ehr/execution_accuracy"] == done.scores["ehr/completed"] == 1.0
    assert done.scores["ehr/executions"] == 1.0 and "from admissions" in done.remarks["sql"]


async def test_the_schema_the_demonstrations_and_the_question_are_shown():
    done = await run_agent(Llm2Sql(shots=2), [RIGHT], tools=TOOLS)
    system, task = (message.text for message in done.model.requests[0].messages)
    assert "admissions: ROW_ID" in system and "2105-12-31" in system and "word null" not in system
    assert system.index("first patients?\nSQL:\n```sql\nselect 1\n```") < system.index("select 2")
    assert "select 3" not in system and "select 99" not in system and task.endswith("patient 11 have?\nSQL:")
    assert "Solved questions" not in (await run_agent(Llm2Sql(shots=0), [RIGHT], tools=TOOLS)).asked(0)


FAILURES = {
    "select nothing from admissions": ("sql_error", 0.0),
    "```sql\ndelete from admissions\n```": ("forbidden_sql", 0.0),
    "I do not know.": ("unparsable_reply", None),
    "null": ("unparsable_reply", None),
}


@each_row("reply, expected", FAILURES.items())
async def test_an_error_leaves_the_question_unfinished(reply, expected):
    done = await run_agent(Llm2Sql(), [reply], tools=TOOLS)
    assert (
        done.trajectory.stop == "failed"
        and (done.trajectory.failure, done.scores["ehr/execution_accuracy"]) == expected
    )
    assert done.scores["score/strict"] == done.scores["ehr/completed"] == 0.0


async def test_null_abstains_where_the_question_may_be_refused():
    done = await run_agent(Llm2Sql(), ["null: no meals here"], tools=TOOLS, of=sample(None, may_abstain=True))
    assert done.trajectory.stop == "refused" and done.trajectory.refusal.grounds == {"reason": "no meals here"}
    assert done.scores["ehr/abstained"] == done.scores["score/strict"] == 1.0 and "word null" in done.asked(0)


def test_a_memory_is_needed_where_demonstrations_are_shown():
    assert Llm2Sql().requirements.memory == "demonstrations" and Llm2Sql(shots=0).requirements.memory is None
