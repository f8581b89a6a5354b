import pytest

from components.core.messages import Message, ToolCall
from components.core.tools import Offer
from components.core.types import Demonstration
from components.grammars.bracket_json import BracketJson
from components.grammars.bracket_text import BracketText
from components.grammars.code_block import CodeBlock
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.simulated.skills.told import Reading, argument, done, read_told
from components.prompts import load
from tests.components.models.simulated.chartroom import questions, toolset

SAMPLE = questions()[0]
SHOT = Demonstration("How many?", "answer = 3", {"knowledge": "- nothing", "code": "answer = 3", "sql": "select 3"})
HELD = {"overview": "A hospital.", "columns": "patients: ROW_ID, GENDER", "clock": "2105", "groups": True}


def offer(python=False, fields=()):
    found = toolset(python).open(SAMPLE)
    return Offer(found.tools, found.state, refusal_fields=dict.fromkeys(fields, ()))


def opening(grammar, tools=(), python=False, fields=(), **changes):
    values = {
        "metadata": HELD,
        "shots": [SHOT],
        "known": "- patients",
        "knowledge": True,
        "columns": True,
        "code": True,
    }
    system = load("ehragent").system("system", instructions=grammar.instructions(offer(python, fields)), code=True)
    return read_told([system, load("ehragent").user("problem", question="Who?", **{**values, **changes})], tools)


def test_knowledge_solved_questions_and_functions_are_read_off_the_planners_prompt():
    told = opening(CodeBlock(), python=True)
    assert told.known.strip() == "- patients" and told.any_table == "patients" and told.ends_so and told.runs_code
    assert len(told.solved) == 1 and "answer = 3" in told.solved[0] and "- patients" not in told.solved[0]
    assert told.names(frozenset({"LoadDB", "SQLInterpreter"})) and not told.names(frozenset({"Other"}))


def test_knowledge_is_read_without_solved_questions_too_and_is_nothing_where_there_is_none():
    assert opening(CodeBlock(), python=True, shots=[]).known.strip() == "- patients"
    assert opening(CodeBlock(), python=True, knowledge=False).known.strip() == ""
    assert opening(CodeBlock(), python=True, knowledge=False, shots=[]).known.strip() == ""


GRAMMARS = {
    "fence": (CodeBlock(), True), "native": (NativeTools(), False), "bracket": (BracketJson(), False),
    "xml": (XmlCall(), False), "line": (BracketText(), False),
}  # fmt: skip


@pytest.mark.parametrize("channel", GRAMMARS)
def test_calls_ends_and_refusals_are_written_as_the_grammar_reads_them(channel):
    grammar, python = GRAMMARS[channel]
    given = offer(python, ["reason"])
    told = opening(grammar, grammar.specs(given), python, ["reason"])
    assert told.channel == channel and told.runs_code == python
    name, text = ("python", "answer = 1") if python else ("SQLInterpreter", "select 1")
    action = grammar.parse(told.call(name, text), given)
    assert action.calls[0].name == name and text in action.calls[0].parsed.values()
    assert grammar.parse(told.refuse(), given).refusal.grounds["reason"]
    if channel != "xml":  # which knows no answer
        assert grammar.parse(told.end("7"), given).answer == ("" if python else "7")


def test_without_a_word_on_it_there_is_no_refusal():
    assert opening(CodeBlock(), python=True).refusal is None
    assert read_told([Message("user", "x\nRefuse[why]")], ()).refusal == {
        "reason": "No table of the database holds what is asked."
    }


def test_what_was_done_is_read_in_every_form():
    call = Message("assistant", "", tool_calls=(ToolCall("c", "python", '{"cell": "answer = 1"}'),))
    broken = Message("assistant", "", tool_calls=(ToolCall("c", "python", "{"),))
    messages = [
        call, Message("tool", "1", tool_call_id="c"), broken, Message("user", "What came of the cell:\n2\n\nExplain the cell line by line, now"),
        Message("assistant", "```python\nanswer = 3\n```"), Message("user", "3"),
        Message("assistant", "Action: LoadDB[a]"), Message("user", "Observation: a: 3 rows"),
        Message("assistant", 'Action: LoadDB[{"name": "b"}]'), Message("user", "<Observation>\nb\n</Observation>"),
        Message("assistant", "nothing"), Message("user", "why?"),
    ]  # fmt: skip
    found = [(one.name, argument(one), one.saw) for one in done(messages)]
    assert found == [
        ("python", "answer = 1", "1"), ("python", "", "2"), ("python", "answer = 3", "3"), ("LoadDB", "a", "a: 3 rows"),
        ("LoadDB", "b", "b"), ("", "", "why?"),
    ]  # fmt: skip


def test_of_what_the_next_reply_came_before_nothing_was_seen():
    twice = [
        Message("assistant", "Action: LoadDB[a]"),
        Message("assistant", "Action: LoadDB[b]"),
        Message("user", "b: 3 rows"),
    ]
    assert [one.saw for one in done(twice)] == ["", "b: 3 rows"]


ODD = {
    "a broken card": '{"name": "x", "parameters": \nFinish[answer]',
    "a list of parameters": '{"name":"x", "parameters": []}\nFinish[{"response": ""}]',
    "a broken refusal": 'Refuse[{"reason": ...}]\nFinish[answer]',
    "an empty refusal": "Refuse[{}]\nFinish[answer]",
}


@pytest.mark.parametrize("what", ODD)
def test_odd_prompts_are_read_as_far_as_they_go(what):
    told = read_told([Message("user", ODD[what])], ())
    assert told.channel in ("line", "bracket")
    assert "refusal" not in what or told.refuse().text.startswith("Action: Refuse[No table")


def test_tables_are_those_that_are_listed_with_columns():
    told = opening(
        CodeBlock(), python=True, metadata={**HELD, "columns": "patients: ROW_ID, GENDER\ncost: ROW_ID, COST"}
    )
    assert told.tables == {"patients": ["ROW_ID", "GENDER"], "cost": ["ROW_ID", "COST"]}
    assert list(told.listed) == ["patients", "cost", "ROW_ID", "GENDER", "COST"]


def test_an_opening_is_read_once():
    reading, messages = Reading(), [Message("user", "Finish[answer]")]
    first = reading.read(messages, ())
    assert reading.read([*messages, Message("assistant", "x")], ()) is first
    assert reading.read([Message("user", "Finish[another]")], ()) is not first
