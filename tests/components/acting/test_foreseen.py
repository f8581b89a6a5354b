from dataclasses import dataclass
from typing import Any

from components.acting.arguments import ForeseesErrors, foresee_error, reflection_in
from components.core.errors import ToolError
from components.core.messages import Message, ToolCall
from components.core.tools import Offer
from components.core.types import Action
from tests.attempts import Echo
from tests.table import each_row


@dataclass
class Wary(Echo):
    """Foresees that it refuses a word."""

    def foresee(self, state: Any, query: str) -> None:
        if query == "no":
            raise ToolError("it takes everything but no", "refused")


def why(tool: Any, *calls: tuple[str, str]) -> str | None:
    made = tuple(ToolCall(str(n), name, arguments) for n, (name, arguments) in enumerate(calls))
    error = foresee_error(Offer({"echo": tool}), Action(Message("assistant"), made))
    return None if error is None else error.label


@each_row("name, arguments, label", [
    ("echo", '{"query": "yes"}', None), ("echo", '{"query": "no"}', "refused"), ("ecko", "{}", "unknown_tool"),
    ("echo", "{", "bad_arguments"), ("echo", "{}", "bad_arguments"), ("echo", '{"query": "x", "n": 1}', "bad_arguments"),
])  # fmt: skip
def test_a_refused_call_is_predicted_before_it_runs(name, arguments, label):
    tool = Wary()
    assert why(tool, (name, arguments)) == label and tool.runs == []


def test_a_tool_without_prediction_is_checked_only_by_name_and_arguments():
    assert isinstance(Wary(), ForeseesErrors) and not isinstance(Echo(), ForeseesErrors)
    assert why(Echo(), ("echo", '{"query": "no"}')) is None and why(Echo(), ("echo", "{}")) == "bad_arguments"


def test_only_the_first_of_several_calls_is_checked_against_the_current_state():
    yes, no = ("echo", '{"query": "yes"}'), ("echo", '{"query": "no"}')
    assert why(Wary(), yes, no) is None and why(Wary(), no, yes) == "refused"
    assert why(Wary(), yes, ("ecko", "{}")) == "unknown_tool"


@each_row("text, says", [
    ("<Reflection>\n<Candidates>TOOL1</Candidates>\n<Reasoning>fits</Reasoning>\n</Reflection>\n<Call>", "TOOL1 fits"),
    ("Thought: <Reflection>plainly</Reflection>\nAction: TOOL1[{}]", "plainly"),
    ("<Reflection><Candidates></Candidates> <Reasoning> </Reasoning></Reflection>", ""),
    ("<Reflection>never closed", ""), ("<Call></Call>", ""), ("", ""),
])  # fmt: skip
def test_the_first_block_counts_and_empty_tags_say_nothing(text, says):
    assert reflection_in(text) == says


def test_a_reply_that_repeats_itself_is_read_in_linear_time():
    assert reflection_in("<Reflection>" * 200_000) == ""
