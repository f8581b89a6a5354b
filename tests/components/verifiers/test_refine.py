import pytest

from components.core.messages import Message, ToolCall
from components.core.task_text import action_text
from components.core.types import Verdict
from components.grammars.native_tools import NativeTools
from components.verifiers.refine import Refine
from tests.attempts import Attempt, Echo, Lessons
from tests.table import each_row

ASK = [Message("user", "Which?")]


def echo(query: str) -> str:
    return f'Action: echo[{{"query": "{query}"}}]'


async def refined(verifier, replies, tool=None, grammar=None, memory=None):
    tool = tool or Echo()
    episode, model, trajectory = Attempt(verifier=verifier, tool=tool, memory=memory).episode(replies, grammar)
    action = await episode.act(ASK)
    return action, model, trajectory, episode


@pytest.mark.parametrize(("counting", "calls"), [("total", 3), ("extra", 4)])
async def test_n_is_counted_as_the_code_or_as_the_article_does(counting, calls):
    action, model, trajectory, _ = await refined(Refine(n=3, counting=counting), [echo(c) for c in "abcdef"])
    assert len(model.requests) == calls and action_text(action) == f'echo[{{"query":"{"abcdef"[calls - 1]}"}}]'
    assert [step.committed for step in trajectory.steps] == [False] * (calls - 1) + [True]
    picks = {n - (calls - 3): n for n in range(1, calls + 1)}
    assert trajectory.steps[-1].verdict == Verdict("refine", "version", calls, calls, "the limit is reached", picks)


async def test_it_stops_when_nothing_changes_and_the_trial_is_not_run_again():
    tool = Echo()
    action, model, trajectory, episode = await refined(Refine(n=5), [echo("a"), echo("a")], tool)
    assert len(model.requests) == 2 and "nothing changed" in trajectory.steps[0].verdict.why
    (seen,) = await episode.observe(action)
    assert seen.text == "Observation: echo of a" and tool.runs == ["a"]
    assert [one.observation.text for one in trajectory.steps[0].tried] == ["echo of a"]


async def test_all_versions_or_the_latest_are_shown_with_what_they_would_give():
    for history, shown in (("all", True), ("latest", False)):
        _, model, _, _ = await refined(Refine(n=2, history=history), [echo("a"), echo("b"), echo("c")])
        last = model.requests[2].messages[-1].text
        assert 'Current action: echo[{"query":"b"}]\nCurrent observation: echo of b' in last
        assert ("echo of a" in last) is shown


async def test_trials_can_be_switched_off_and_external_tools_are_never_tried():
    for verifier, tool in ((Refine(try_actions=False), Echo()), (Refine(), Echo(effect="external"))):
        _, model, _, _ = await refined(verifier, [echo("a"), echo("a")], tool)
        assert "observation:" not in model.requests[1].messages[-1].text.lower() and tool.runs == []


async def test_an_unreadable_refinement_is_ignored_and_an_unreadable_proposal_is_repaired():
    action, _, trajectory, _ = await refined(Refine(), [echo("a"), "prose"])
    assert action_text(action) == 'echo[{"query":"a"}]' and "could not be read" in trajectory.steps[0].verdict.why
    action, model, _, _ = await refined(Refine(n=1), ["prose", echo("b")])
    assert action_text(action) == 'echo[{"query":"b"}]' and "could not be read" in model.requests[1].messages[-1].text


async def test_another_kind_of_action_is_accepted_or_not():
    finish = 'Action: Finish[{"response": "B"}]'
    action, _, _, _ = await refined(Refine(n=1), [echo("a"), finish])
    assert action.answer == "B"
    action, _, _, _ = await refined(Refine(n=1, change_type="reject"), [echo("a"), finish])
    assert action.answer is None


async def test_lessons_on_the_action_are_shown():
    memory = Lessons({"echo": ["name the disease"]})
    _, model, _, _ = await refined(Refine(n=1), [echo("a"), echo("a")], memory=memory)
    assert 'echo: ["name the disease"]' in model.requests[1].messages[-1].text
    _, model, _, _ = await refined(Refine(n=1), [echo("a"), echo("a")])
    assert "echo: nothing yet" in model.requests[1].messages[-1].text


async def test_native_calls_are_refined_as_calls():
    calls = [Message("assistant", "", tool_calls=(ToolCall("c", "echo", f'{{"query": "{c}"}}'),)) for c in "ab"]
    action, model, _, episode = await refined(Refine(n=1), calls, grammar=NativeTools())
    assert action.calls[0].parsed == {"query": "b"} and [t.name for t in model.requests[1].tools] == ["echo"]
    assert (await episode.observe(action))[0].text == "echo of b"


@each_row("reply, text", [
    ('echo[{"query":"a"}]', 'echo[{"query":"a"}]'), ('Refined action: echo[{"query": "b"}]', 'echo[{"query":"b"}]'),
    ("The action is good as it is.", 'echo[{"query":"a"}]'), ('Finish[{"response": "B"}]', 'Finish[{"response":"B"}]'),
])  # fmt: skip
async def test_prose_is_not_a_refinement_where_prose_is_an_answer(reply, text):
    call = Message("assistant", "", tool_calls=(ToolCall("c", "echo", '{"query": "a"}'),))
    action, _, _, episode = await refined(Refine(n=1), [call, reply], grammar=NativeTools())
    assert action_text(action) == text
    if action.calls:
        assert (await episode.observe(action))[0].role == "tool"
