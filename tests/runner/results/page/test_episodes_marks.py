"""Marks are equal where steps are."""

from dataclasses import replace

from components.core.messages import Message, ToolCall
from components.core.types import Action, Observation, Observed, Refusal, Trajectory
from runner.results.sections.episode_data import Marker
from tests.runner.results.folders import step
from tests.table import each_row

RECORD = {"sample_id": "a", "epoch": 0}
BASE = replace(
    step("Books"),
    asked=(Message("user", "Which?"),),
    observed=[Observed(ToolCall("0", "Books", "{}"), Observation("page"))],
)
OTHER_ID = Action(Message("assistant"), (ToolCall("other", "Books", "{}"),))
OTHER_TOOL = Action(Message("assistant"), (ToolCall("0", "Query", "{}"),))


def differing(other, tools=None):
    """The marks in which a single step differs from the base."""
    marker = Marker()
    (_, one), (_, two) = (marker.marks(RECORD, Trajectory([each]), tools or {}) for each in (BASE, other))
    names = ("who", "asked", "said", "called", "observed")
    return {name for name, a, b in zip(names, one[0], two[0], strict=True) if a != b}


@each_row(
    "changes, differs",
    [
        ({}, set()),
        ({"started": 9.0, "seconds": 9.0, "index": 7}, set()),
        ({"action": OTHER_ID}, set()),
        ({"action": OTHER_TOOL}, {"called"}),
        ({"action": None}, {"called"}),
        ({"purpose": "plan"}, {"who"}),
        ({"branch": "expert/1"}, {"who"}),
        ({"committed": False}, {"who"}),
        ({"asked": (Message("user", "What?"),)}, {"asked"}),
        ({"reply": Message("assistant", "so")}, {"said"}),
        ({"verdict": "no"}, {"said"}),
        ({"observed": []}, {"observed"}),
        ({"observed": [], "tried": BASE.observed}, {"observed"}),
    ],
)
def test_mark_changes_only_with_its_own_field(changes, differs):
    assert differing(replace(BASE, **changes)) == differs


def test_renamed_tool_has_the_same_mark():
    renamed = replace(BASE, action=OTHER_TOOL, observed=[Observed(ToolCall("0", "Query", "{}"), Observation("page"))])
    assert differing(renamed) == {"called", "observed"}
    assert differing(renamed, {"Books": "card", "Query": "card"}) == set()


def test_absent_fields_are_zero_and_the_end_has_its_own_mark():
    marker = Marker()
    ends = [{"stop": "answered", "answer": "A"}, {"stop": "answered", "answer": "B"}, {"stop": "answered", "answer": "A"},
            {"stop": "refused", "refusal": Refusal({"why": "none"})}]  # fmt: skip
    found = [marker.marks(RECORD, Trajectory([step(answer="A")], **end), {}) for end in ends]
    assert {tuple(purposes) for purposes, _ in found} == {("act",)}
    assert found[0][1][0][1] == found[0][1][0][3:][0] == found[0][1][0][4] == 0
    last = [marks[-1] for _, marks in found]
    assert last[0] == last[2] and len({tuple(one) for one in last}) == 3
