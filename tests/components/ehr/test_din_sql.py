import pytest

from components.acting.solved import Entry, SolvedQuestions
from components.ehr.actions import SQLInterpreter
from components.ehr.sql_agents import DinSql, kind_in, kind_of
from tests.table import each_row
from tests.wards import run_agent, sample

TOOLS = (SQLInterpreter(),)
LINKS = "- admissions.subject_id = 11"
DRAFT = "```sql\nselect hadm_id from admissions where subject_id = 11\n```"
RIGHT = "```sql\nselect count(*) from admissions where subject_id = 11\n```"
NESTED = "Class: nested\nSub-questions:\n- Who is patient 11?\n- When were they admitted?"


async def test_four_calls_lead_to_the_corrected_statement_which_is_run_once():
    done = await run_agent(DinSql(), [LINKS, "Class: easy", DRAFT, RIGHT], tools=TOOLS)
    assert done.purposes == ["plan", "plan", "act", "reflect"] and done.trajectory.answer == "[(2,)]"
    assert [len(step.observed) for step in done.trajectory.steps] == [0, 0, 0, 1]
    assert done.scores["score/strict"] == done.scores["ehr/execution_accuracy"] == 1.0
    assert done.scores["ehr/executions"] == 1.0 and done.scores["ehr/success_within_5"] == 1.0


async def test_each_step_is_shown_what_the_ones_before_it_found():
    done = await run_agent(DinSql(), [LINKS, NESTED, DRAFT, RIGHT], tools=TOOLS)
    assert len({request.messages[0].text for request in done.model.requests}) == 1
    assert all(LINKS in done.asked(n) for n in (1, 2, 3)) and LINKS not in done.asked(0)
    assert "- When were they admitted?" in done.asked(2) and "select hadm_id from admissions" in done.asked(3)
    assert "- first" in done.asked(0) and "Class: easy" in done.asked(1) and "select 1\n" in done.asked(2)


MARKS = {"easy": "needs one table", "non-nested": "intermediate form", "nested": "Find the smaller questions"}


@each_row("kind, mark", MARKS.items())
async def test_the_statement_is_asked_for_in_the_way_of_its_class(kind, mark):
    done = await run_agent(DinSql(), [LINKS, f"Class: {kind}", DRAFT, RIGHT], tools=TOOLS)
    assert [mark in done.asked(2) for mark in MARKS.values()] == [mark == one for one in MARKS.values()]


async def test_a_correction_without_a_statement_changes_nothing():
    done = await run_agent(DinSql(), [LINKS, "?", RIGHT, "There is no fault."], tools=TOOLS)
    assert done.trajectory.answer == "[(2,)]" and done.scores["ehr/calls"] == 4.0


async def test_a_reply_without_a_statement_ends_before_the_correction():
    done = await run_agent(DinSql(), [LINKS, "?", "I cannot say."], tools=TOOLS)
    assert done.trajectory.failure == "unparsable_reply" and len(done.purposes) == 3


async def test_an_error_leaves_the_question_unfinished():
    done = await run_agent(DinSql(), [LINKS, "?", RIGHT, "select nothing"], tools=TOOLS)
    assert done.trajectory.failure == "sql_error" and done.scores["ehr/completed"] == 0.0


@pytest.mark.parametrize("replies", [["null: why"], [RIGHT, "null: why"]], ids=["draft", "correction"])
async def test_null_abstains_where_the_question_may_be_refused(replies):
    done = await run_agent(DinSql(), [LINKS, "?", *replies], tools=TOOLS, of=sample(None, may_abstain=True))
    assert done.trajectory.stop == "refused" and done.trajectory.refusal.grounds == {"reason": "why"}
    assert all("word null" in done.asked(n) for n in range(len(done.purposes)))


async def test_demonstrations_without_knowledge_show_their_statement_as_links():
    memory = SolvedQuestions("", (Entry("a", "mimic_iii", "who?", sql="select 1", seed=True),))
    done = await run_agent(DinSql(), [LINKS, "?", DRAFT, RIGHT], tools=TOOLS, memory_=memory)
    assert "those that this statement uses.\nselect 1" in done.asked(0)
    assert "who?" not in (await run_agent(DinSql(shots=0), [LINKS, "?", DRAFT, RIGHT], tools=TOOLS)).asked(0)
    assert DinSql().requirements.memory == "demonstrations" and DinSql(shots=0).requirements.memory is None


CLASSES = {
    "Class: easy": "easy",
    "**Class:** Non-Nested": "non_nested",
    "class: non nested, no sub-query": "non_nested",
    "It looks easy, but it is not.\nClass: nested\nThat is no easy one.": "nested",
    'Label: "NON-NESTED"': "non_nested",
    "Class: easy, non-nested or nested\nClass: easy (not nested)": "easy",
    "It is easy.": "easy",
    "Both tables are joined.": "nested",
    "": "nested",
}


@each_row("text, kind", CLASSES.items())
def test_the_class_is_read_from_its_line_and_is_nested_in_doubt(text, kind):
    assert kind_in(text) == kind


STATEMENTS = {
    "select a from b where c = 1": "easy",
    "select a from b join c on b.d = c.d": "non_nested",
    "select a from b where c in (select c from d)": "nested",
    "select a from b union select a from c": "nested",
}


@each_row("sql, kind", STATEMENTS.items())
def test_the_class_of_a_demonstration_is_that_of_its_statement(sql, kind):
    assert kind_of(sql) == kind
