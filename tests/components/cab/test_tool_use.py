import pytest

from components.cab.scorers import ToolUse
from components.core.messages import Image, Message, ToolCall, ToolSpec, Usage
from components.core.protocols import Scorer
from components.core.types import Action, Problem, Refusal, Sample, Step, Trajectory
from tests.table import each_row

OFFERED = (
    ToolSpec("Plan", "", facts={"dimension": "inner"}),
    ToolSpec("Think", "", facts={"dimension": "inner"}),
    ToolSpec("Medrag", "", facts={"dimension": "knowledge"}),
    ToolSpec("SQLCoder", "", facts={"dimension": "numerical", "needs": "sql_database"}),
    ToolSpec("MiniCPM", "", facts={"dimension": "multimodal", "needs": "image"}),
)


def step(*names, committed=True, **fields):
    calls = tuple(ToolCall(str(n), name, "{}") for n, name in enumerate(names))
    action = Action(Message("assistant"), calls, **fields)
    return Step("act", "main", "main", 0, 0, (), Message("assistant"), Usage(), action=action, committed=committed)


def asked():
    return Step("tool", "tool", "main", 0, 0, (), Message("assistant"), Usage())


def values(*steps, task="medqa", problem=None, stop="answered"):
    sample = Sample(problem or Problem("1", "?"), "A", {"task": task})
    found = ToolUse().score(sample, Trajectory(list(steps), OFFERED, stop=stop))
    return {score.name.removeprefix("tools/"): score.value for score in found}


def test_is_a_scorer():
    assert isinstance(ToolUse(), Scorer)


def test_committed_actions_are_counted_and_nothing_else():
    steps = [
        step("Plan"), step("Medrag", committed=False), step("Medrag", "SQLCoder"), asked(), step("Bogus"),
        step(error="unparsable_reply"), step("Think"), step(answer="A"),
    ]  # fmt: skip
    found = values(*steps)
    assert found == {"actions": 5, "share": 2 / 5, "malformed": 2 / 7, "matching": 1 / 2, "misuse": 1 / 2}


@pytest.mark.parametrize("end", [{"answer": "A"}, {"refusal": Refusal({})}])
def test_without_tool_actions_their_shares_are_unscored(end):
    found = values(step("Think"), step(**end))
    assert found == {"actions": 2, "share": 0, "malformed": 0, "matching": None, "misuse": None}


def test_without_any_action_shares_are_unscored():
    assert values(stop="limit") == {"actions": 0, "share": None, "malformed": None, "matching": None, "misuse": None}


@each_row(
    "problem, misuse",
    [
        (Problem("1", "?"), 1),
        (Problem("1", "?", inputs={"sql_database": "db"}), 1 / 2),
        (Problem("1", "?", inputs={"image_2": "scan"}), 1 / 2),
        (Problem("1", "?", images=(Image("data:x"),)), 1 / 2),
        (Problem("1", "?", inputs={"image": "scan", "sql_database": "db"}), 0),
    ],
)
def test_misuse_is_a_tool_whose_input_is_absent(problem, misuse):
    assert values(step("SQLCoder"), step("MiniCPM"), problem=problem)["misuse"] == misuse


@each_row("task, matching", [("medqa", 1 / 2), ("ehrsql", 1 / 2), ("emrqa", 0), ("longhalt", None), ("x", None)])
def test_matching_is_by_the_task_s_dimension_and_not_for_trust(task, matching):
    assert values(step("Medrag"), step("SQLCoder"), task=task)["matching"] == matching


def test_error_is_unscored():
    assert set(values(step("Medrag"), stop="error").values()) == {None}
