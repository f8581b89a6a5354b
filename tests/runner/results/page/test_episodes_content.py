"""An episode is packed completely, and absent fields are omitted."""

from components.core.messages import Image, Message, ToolCall, Usage
from components.core.types import Action, Observation, Observed, Refusal, Step, Trajectory
from runner.results.sections.episode_data import Writer, question_of

BOOKS, OTHER, NATIVE = ToolCall("1", "Books", '{"q": 1}'), ToolCall("2", "Image", "{}"), ToolCall("3", "Native", "{}")
USED = {"purposes": {"act": {"calls": 1, "input_tokens": 10, "output_tokens": 5, "cost_usd": None}}}
RECORD = {"scores": {"x": 1.0, "y": None}, "ceilings": {"x": 1}, "explanations": {"x": "read 'B'"}, "usage": USED}


def step(reply, **fields):
    """A step with the required fields."""
    given = {
        "purpose": "act",
        "role": "main",
        "branch": "main",
        "kept": 0,
        "asked": (Message("user", "Which?"),),
    } | fields
    return Step(index=0, reply=reply, usage=Usage(10, 5, None), **given)


def pack(*steps, **fields):
    """A trajectory as packed for the page; its short texts are inline."""
    return Writer(1).episode({"sample_id": "a b", "epoch": 1} | RECORD, Trajectory(list(steps), **fields), [], "folder")


def test_step_has_request_reply_trials_calls_and_skipped_calls():
    acted = step(
        Message("assistant", "I look", (BOOKS, NATIVE), reasoning="hm"), verdict="refine: 1 of 2", finish="length",
        role="planner", branch="expert/1", kept=2, committed=False, remarks={"label": "first", "hits": [1]},
        action=Action(Message("assistant"), (BOOKS, OTHER)), seconds=1.23456,
        observed=[Observed(BOOKS, Observation("a page", {"faults": [{"kind": "slow"}]}, (Image("data:x"),)), seconds=0.5)],
        tried=[Observed(BOOKS, Observation("none"), "not_found", control=True)],
    )  # fmt: skip
    assert pack(acted)["steps"] == [
        {
            "purpose": "act", "role": "planner", "branch": "expert/1", "label": "first", "kept": 2,
            "asked": [{"role": "user", "text": "Which?"}],
            "reply": {"role": "assistant", "text": "I look", "thought": "hm", "calls": [["Native", "{}"]]},
            "finish": "length", "aside": True, "verdict": "refine: 1 of 2",
            "tried": [{"call": ["Books", '{"q": 1}'], "text": "none", "error": "not_found", "control": True}],
            "observed": [{"call": ["Books", '{"q": 1}'], "text": "a page\n[an image]", "seconds": 0.5,
                          "faults": ["slow"]}],
            "skipped": [["Image", "{}"]], "remarks": '{\n  "hits": [\n    1\n  ]\n}', "usage": [10, 5, None],
            "seconds": 1.235,
        }
    ]  # fmt: skip


def test_episode_has_its_ending_and_scores():
    found = pack(step(Message("assistant", "B")), stop="answered", answer="B")
    assert found["answer"] == "B" and found["question"] == "Which?"
    assert found["scores"] == RECORD["scores"] and found["explanations"] == {"x": "read 'B'"}
    assert found["purposes"] == USED["purposes"]
    assert found["command"] == "python -m runner.report episode 'a b' folder --epoch 1 --prompts"
    assert found["steps"] == [
        {"purpose": "act", "branch": "main", "asked": [{"role": "user", "text": "Which?"}],
         "reply": {"role": "assistant", "text": "B"}, "usage": [10, 5, None]}
    ]  # fmt: skip


def test_refusal_failure_and_unreadable_reply_are_included():
    bad = step(
        Message("assistant", "?"), action=Action(Message("assistant"), error="unreadable", error_text="no action")
    )
    found = pack(bad, stop="failed", failure="lost", error="why", refusal=Refusal({"problem": "ToolMissing"}))
    assert found["steps"][0]["unreadable"] == "no action"
    assert (found["failure"], found["error"], found["grounds"]) == ("lost", "why", {"problem": "ToolMissing"})


def test_question_is_the_last_user_message_before_the_first_reply():
    asked = (
        Message("system", "s"),
        Message("user", "one"),
        Message("user", ("two", Image("data:x"))),
        Message("assistant", "a"),
    )
    assert question_of(Trajectory([step(Message("assistant"), asked=asked)])) == "two\n[an image]"
    assert question_of(Trajectory()) == ""
