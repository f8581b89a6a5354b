from components.building import builds, built_tool_calls, first_refusal, may_build
from components.core.messages import Message, ToolCall, ToolSpec, Usage
from components.core.types import Action, Observation, Observed, Refusal, Step, Trajectory

FACTS = {"build_tools": "code"}
NO = Refusal({"reason": "nothing fits"})


def step(*observed, refusal=None, committed=True):
    said = Message("assistant", "so")
    return Step(
        "act", "main", "main", 0, 0, (), said, Usage(), action=Action(said, refusal=refusal), committed=committed,
        observed=list(observed),
    )  # fmt: skip


def saw(name, error=None, **data):
    return Observed(ToolCall("call", name, "{}"), Observation("", data), error)


def test_requests_are_read_in_order_and_only_committed_ones():
    steps = [step(saw("BuildTool", build={"passed": False})), step(saw("BuildTool", build={}), committed=False)]
    found = builds(Trajectory([*steps, step(saw("BuildTool", build={"passed": True}))], facts=FACTS))
    assert found == [{"passed": False}, {"passed": True}]


def test_calls_of_built_tools_are_known_by_the_mark_of_their_cards():
    offered = (ToolSpec("Bmi", "", facts={"built": True}), ToolSpec("Plan", ""))
    trajectory = Trajectory([step(saw("Bmi"), saw("Plan")), step(saw("Bmi", "failed"))], offered)
    assert [one.error for one in built_tool_calls(trajectory)] == [None, "failed"]


def test_the_first_refusal_counts_where_the_episode_continued_with_a_built_tool():
    resumed = Trajectory([step(refusal=NO), step()], facts=FACTS, stop="answered")
    assert may_build(resumed) and first_refusal(resumed) is NO
    assert first_refusal(Trajectory([step(refusal=NO)], stop="answered")) is None
    assert first_refusal(Trajectory(stop="refused", refusal=NO)) is NO
