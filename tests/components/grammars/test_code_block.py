from time import perf_counter

import pytest

from components.core.errors import ActionError, ConfigError
from components.core.messages import Message, ToolCall
from components.core.tools import Offer
from components.core.types import Observation
from components.ehr.actions import PythonCell
from components.grammars.code_block import CodeBlock
from tests.attempts import Echo
from tests.table import each_row

OFFER = Offer({"python": PythonCell(described=False)})
REFUSABLE = Offer({"python": PythonCell()}, refusal_fields={"reason": ()})
CELL = "rows = LoadDB('patients')\nanswer = len(rows)"


def parse(text, *calls, offer=OFFER):
    return CodeBlock().parse(Message("assistant", text, tool_calls=tuple(calls)), offer)


def code(action):
    return [call.parsed["cell"] for call in action.calls]


FENCES = {
    "tagged": f"```python\n{CELL}\n```",
    "short tag": f"Next:\n```py\n{CELL}\n```\nDone.",
    "capitals": f"```Python\n{CELL}\n```",
    "untagged": f"```\n{CELL}\n```",
    "indented": f"  ```python\n{CELL}\n  ```",
    "the last of several": f"```python\nanswer = 1\n```\nNo:\n```python\n{CELL}\n```",
    "before another language": f"```python\n{CELL}\n```\n```sql\nselect 1\n```",
    "after another language": f"```sql\nselect 1\n```\n```\n{CELL}\n```",
}


@each_row("text", FENCES.values())
def test_the_last_block_of_python_is_the_cell(text):
    action = parse(text)
    assert code(action) == [CELL] and action.calls[0].name == "python" and not action.last and action.answer is None


def test_code_and_the_last_word_run_once_and_end():
    assert parse(f"```python\n{CELL}\n```\nTERMINATE").last
    assert parse("", ToolCall("c1", "python", '{"cell": "answer = 1"}')).last is False
    assert parse("So it is. TERMINATE \n", ToolCall("c1", "python", '{"cell": "answer = 1"}')).last


def test_the_last_word_alone_ends_and_only_at_the_end():
    assert parse("It is 4.\nTERMINATE").answer == "It is 4."
    with pytest.raises(ActionError, match="neither a cell of code nor, as its last word, TERMINATE"):
        parse("TERMINATE is what I would say.")
    with pytest.raises(ActionError):
        parse("```sql\nselect 1\n```")
    with pytest.raises(ActionError):
        parse("```python\nanswer = 1")


BROKEN = {
    "a raw line break": ('{"cell": "answer = 1\nanswer += 1"}', "answer = 1\nanswer += 1"),
    "no closing brace": ('{"cell": "answer = \\"a\\""', 'answer = "a"'),
    "more after it": ('{"cell": "answer = 1"} or so', "answer = 1"),
    "other keys before": ('{why: 1, "cell" : "answer = 1"', "answer = 1"),
}


@each_row("arguments, cell", BROKEN.values())
def test_the_code_in_broken_arguments_is_read_once_more(arguments, cell):
    action = parse("", ToolCall("c1", "python", arguments))
    assert code(action) == [cell] and action.calls[0].id == "c1"


@each_row("arguments", ["{cell: answer = 1}", '{"cell": "answer', "answer = 1", '{"cell": "\\ud800"', "[" * 9_999])
def test_arguments_without_code_are_an_error_that_answers_the_call(arguments):
    with pytest.raises(ActionError, match="not a JSON object with the one key 'cell'") as error:
        parse("", ToolCall("c1", "python", arguments))
    assert error.value.label == "bad_arguments" and error.value.call_id == "c1"


def test_whole_arguments_are_left_as_they_are():
    (call,) = parse("", ToolCall("c1", "python", '{"cell": "answer = 1", "more": 2}')).calls
    assert call.arguments == '{"cell": "answer = 1", "more": 2}'


def test_a_refusal_where_it_is_open():
    action = parse('Refuse[{"reason": "no table of moods"}]', offer=REFUSABLE)
    assert action.refusal is not None and action.refusal.grounds == {"reason": "no table of moods"}
    with pytest.raises(ActionError):
        parse('Refuse[{"reason": "no"}]')
    assert code(parse(f'```python\n{CELL}\n```\nRefuse[{{"reason": "no"}}]', offer=REFUSABLE)) == [CELL]


def test_a_reply_of_blank_lines_is_read_in_a_moment():
    began = perf_counter()
    with pytest.raises(ActionError, match="neither a cell"):
        parse("\n" * 200_000, offer=REFUSABLE)
    assert perf_counter() - began < 5


def test_results_answer_the_call_or_the_reply():
    grammar = CodeBlock()
    assert grammar.render(ToolCall("call", "python", "{}"), Observation("4")) == Message("user", "4")
    assert grammar.render(ToolCall("c1", "python", "{}"), Observation("4")) == Message("tool", "4", tool_call_id="c1")


def test_the_channel_is_requested_and_the_state_is_described():
    fence, function = CodeBlock(), CodeBlock("function", "episode")
    assert fence.specs(OFFER) == () and [spec.name for spec in function.specs(OFFER)] == ["python"]
    assert "```python" in fence.instructions(
        OFFER
    ) and "assigns is there in the cells after it" in function.instructions(OFFER)
    assert "LoadDB" not in fence.instructions(OFFER) and "LoadDB" in fence.instructions(REFUSABLE)
    assert 'Refuse[{"reason": "..."}]' in fence.instructions(REFUSABLE) and "Refuse" not in fence.instructions(OFFER)


def test_an_offer_without_code_is_refused():
    with pytest.raises(
        ConfigError, match=r"no tool that is offered runs code \(there are echo\): choose toolset=ehr_code or agent"
    ):
        CodeBlock().instructions(Offer({"echo": Echo()}))
