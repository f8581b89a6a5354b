from components.core.messages import Message, ToolCall
from components.core.task_text import (
    action_text,
    chain_text,
    names_of,
    response_text,
    task_text,
    written_out,
)
from components.core.types import Action, Problem, Refusal

SAID = Message("assistant", " said ")


def test_a_task_shows_its_parts_in_order_and_the_question_on_a_line_of_its_own():
    problem = Problem("p", "Which?\nSay.", {"A": "one", "B": "two"}, "A man.", inputs={"sql_database": "mimic_iv"})
    assert task_text(problem) == (
        'Inputs:\nA man.\nFurther inputs, by the names that tools take:\n{\n  "sql_database": "mimic_iv"\n}\n'
        "Instruction:\nWhich?\nSay.\nA. one\nB. two"
    )
    assert task_text(Problem("p", "Which?")) == "Instruction:\nWhich?"


def test_actions_read_alike_whatever_grammar_they_were_written_in():
    calls = (ToolCall("1", "Medrag", '{"query":  "gicht und ä"}'), ToolCall("2", "Broken", "{no"))
    assert action_text(Action(SAID, calls)) == 'Medrag[{"query":"gicht und ä"}]; Broken[{no]'
    assert action_text(Action(SAID, answer="B")) == 'Finish[{"response":"B"}]' == response_text("Finish", "B")
    assert action_text(Action(SAID, refusal=Refusal({"why": "x"}))) == 'Refuse[{"why":"x"}]'
    assert action_text(Action(SAID, error="unreadable")) == "said"


def test_names_of_actions():
    twice = (ToolCall("1", "A", "{}"), ToolCall("2", "A", "{}"), ToolCall("3", "B", "{}"))
    assert names_of(Action(SAID, twice)) == ("A", "B")
    assert names_of(Action(SAID, answer="x")) == ("Finish",)
    assert names_of(Action(SAID, error="unreadable")) == ()


def test_a_chain_has_two_lines_per_step():
    assert chain_text([("Think[{}]", "OK"), ("Finish[{}]", "B")]) == (
        "Action: Think[{}]\nObservation: OK\nAction: Finish[{}]\nObservation: B"
    )


def test_values_nested_too_deep_for_json_are_still_shown():
    deep = '{"a":' * 300 + "1" + "}" * 300
    assert action_text(Action(SAID, (ToolCall("1", "Think", deep),))).startswith("Think[")


def test_prose_names_an_action_or_is_unreadable():
    said = Message("assistant", 'Better: Medrag[{"query": "gout"}]')
    assert action_text(written_out(Action(said, answer=said.text))) == 'Medrag[{"query":"gout"}]'
    assert written_out(Action(SAID, answer="said")).error == "unreadable"
    kept = Action(Message("assistant", 'Finish[{"response": "B"}]'), answer="B")
    assert written_out(kept) is kept


def test_prose_whose_action_is_nested_too_deep_is_unreadable():
    deep = Message("assistant", "Do[" + '{"a":' * 9_999)
    assert written_out(Action(deep, answer=deep.text)).error == "unreadable"
