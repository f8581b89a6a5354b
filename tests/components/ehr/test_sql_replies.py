from time import monotonic

import pytest

from components.core.errors import ConfigError
from components.core.messages import Message
from components.core.tools import Offer
from components.core.types import Answer, Failure, Refusal
from components.ehr.sql_agents import Llm2Sql, answer_with_rows, database_facts, refused_in, statement_in
from tests.attempts import Attempt
from tests.record_desk import Records, counting
from tests.table import each_row

MAY_REFUSE = Offer({}, refusal_fields={"reason": ()})
STATEMENTS = {
    "fenced": ("```sql\nselect 1\n```", "select 1"),
    "fenced in capitals, on one line": ("```SQLite SELECT 1;```", "SELECT 1"),
    "in a fence without a name": ("It is:\n```\nselect 1\n```\nThat counts.", "select 1"),
    "in a fence that is not closed": ("```sql\nselect 1", "select 1"),
    "in the last fence": ("```sql\nselect 1\n```\nBetter:\n```sql\nselect 2\n```", "select 2"),
    "in the last fence with a query": ("```sql\nselect 1\n```\nwhich gives\n```\n1 | 2\n```", "select 1"),
    "the last of a fence": ("```sql\nselect 1; select 2;\n-- done\n```", "select 2"),
    "writing": ("```sql\nselect 1; drop table patients\n```", "drop table patients"),
    "plain": ("select a\nfrom b\nwhere c in (\nselect d from e)", "select a\nfrom b\nwhere c in (\nselect d from e)"),
    "plain below a thought": ("Select is easy.\n\nselect a\nfrom b;\n\nThis counts a.", "select a\nfrom b"),
    "behind a label": ("**Corrected SQL:** `SELECT 1;`", "SELECT 1"),
    "followed by words": ("SQL: select 1; That counts.", "select 1"),
    "with a table of its own": ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x"),
    "below a comment": ("```sql\n-- drugs; of all\nselect 1\n```", "-- drugs; of all\nselect 1"),
    "with semicolons in texts": ("select 'a;''b' as \"c;d\" -- e;f", "select 'a;''b' as \"c;d\" -- e;f"),
    "with a text that is not closed": ("```sql\nselect 'a; b\n```", "b"),
    "none": ("With the tables as they are, I do not know.", ""),
    "an empty fence": ("```sql\n```", ""),
}


@each_row("text, statement", STATEMENTS.values())
def test_the_statement_of_a_reply_is_its_last_one(text, statement):
    assert statement_in(text) == statement


HOSTILE = ("/**/" * 20_000, "with " + "as " * 20_000, "'" * 60_001, "(" * 60_000, "```" * 20_001, "a:\n\n" * 20_000)


@each_row("text", HOSTILE)
def test_every_reply_is_read_quickly(text):
    started = monotonic()
    assert not refused_in(text, MAY_REFUSE) and statement_in(f"```sql\n{text}\n```") is not None
    assert monotonic() - started < 1.0


REFUSALS = {
    "the word": ("null", "null"),
    "fenced": ("```sql\nNULL;\n```", "null"),
    "on one line": ("`null`.", "null"),
    "in a fence on one line": ("```sql null```", "null"),
    "above its reason": ("SQL: null\nNo table holds meals.", "null"),
    "with its reason": ("null: no table holds meals.", "no table holds meals"),
    "below a thought": ("Meals are nowhere.\n\nSQL: null - no table holds meals", "no table holds meals"),
}
NO_REFUSALS = (
    "select null", "```sql\nselect a from b where c is\nnull\n```", "nullify it", "Null values are left out.", "",
)  # fmt: skip


@each_row("text, reason", REFUSALS.values())
def test_null_in_place_of_a_statement_refuses_where_that_is_open(text, reason):
    assert refused_in(text, MAY_REFUSE) == Refusal({"reason": reason}) and refused_in(text, Offer({})) is None


@each_row("text", NO_REFUSALS)
def test_null_within_a_statement_or_sentence_refuses_nothing(text):
    assert refused_in(text, MAY_REFUSE) is None


async def run(sql):
    """The outcome of a statement, and the step that it is recorded with."""
    episode, _, _ = Records().episode([sql])
    reply = await episode.ask([Message("user", "write")], "act")
    return await answer_with_rows(episode, reply, sql), episode.last


async def test_the_rows_are_the_answer_and_stand_in_the_record():
    outcome, step = await run("select DRUG from prescriptions where HADM_ID = 12")
    assert outcome == Answer("[('heparin [5,000 units]',), ('aspirin',)]")
    assert step.remarks["sql"].startswith("select DRUG") and [one.call.name for one in step.observed] == [
        "SQLInterpreter"
    ]
    assert (await run("select 1 where 1 = 0"))[0] == Answer("[]")


async def test_rows_longer_than_a_model_is_shown_are_answered_whole_up_to_a_limit():
    assert len((await run(counting(2000)))[0].text) > 10_000
    assert (await run(counting(9999)))[0].label == "too_large"


FAILURES = {
    "an error": ("select nothing", "sql_error"),
    "a statement that writes": ("drop table admissions", "forbidden_sql"),
    "none": ("", "unparsable_reply"),
    "a text that cannot be encoded": ("select '\ud800'", "unparsable_reply"),
}


@each_row("sql, label", FAILURES.values())
async def test_a_statement_that_cannot_be_run_is_a_failure(sql, label):
    outcome, step = await run(sql)
    assert isinstance(outcome, Failure) and outcome.label == label
    assert [one.error for one in step.observed] == ([] if label == "unparsable_reply" else [label])


async def test_a_toolset_without_sql_is_refused_before_any_model_call():
    episode, model, _ = Attempt().episode(["select 1"])
    with pytest.raises(ConfigError, match="SQLInterpreter; offered are count: choose toolset=ehr"):
        await database_facts(episode)
    with pytest.raises(ConfigError):
        await Llm2Sql().solve(episode)
    assert not model.requests
