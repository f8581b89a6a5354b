import pytest

from components.core.errors import LimitReached, ModelError
from components.core.messages import Message
from components.core.task_text import action_text
from components.core.types import Verdict
from components.verifiers.select import Select
from tests.attempts import Attempt, Echo, Lessons
from tests.table import each_row

ASK = [Message("user", "Which?")]


def echo(query: str) -> str:
    return f'Action: echo[{{"query": "{query}"}}]'


async def selected(verifier, replies, tool=None, memory=None):
    tool = tool or Echo()
    episode, model, trajectory = Attempt(verifier=verifier, tool=tool, memory=memory).episode(replies)
    return await episode.act(ASK), model, trajectory, tool


@each_row("reply", ['echo[{"query":"b"}]', 'I take echo[{"query":"b"}].', 'Action: echo[ {"query": "b"} ]', "2", "#2."])
async def test_the_picked_candidate_is_taken_however_it_is_named(reply):
    action, model, trajectory, tool = await selected(Select(n=3), [echo("a"), echo("b"), echo("c"), reply])
    assert action_text(action) == 'echo[{"query":"b"}]' and len(model.requests) == 4
    assert [step.committed for step in trajectory.steps[:3]] == [False, True, False] and tool.runs == ["a", "b", "c"]
    assert trajectory.steps[1].verdict == Verdict("select", "candidate", 2, 3, "picked")
    assert [request.sampling.temperature for request in model.requests] == [0.7, 0.7, 0.7, None]
    assert {request.occurrence for request in model.requests[:3]} == {0, 1, 2}


@each_row("reply", ["none of them", "9", "", 'echo[{"query":"z"}]'])
async def test_a_choice_that_cannot_be_read_falls_back_on_the_first_that_worked(reply):
    action, _, trajectory, _ = await selected(Select(n=2), ["prose", echo("b"), reply])
    assert action_text(action) == 'echo[{"query":"b"}]' and "could not be read" in trajectory.steps[1].verdict.why


async def test_equal_candidates_are_tried_once_and_not_asked_about():
    _, model, trajectory, tool = await selected(Select(n=4), [echo("a")] * 4)
    assert len(model.requests) == 4 and tool.runs == ["a"] and "all were equal" in trajectory.steps[0].verdict.why


async def test_one_candidate_is_a_plain_action():
    _, model, trajectory, tool = await selected(Select(n=1), [echo("a")])
    assert len(model.requests) == 1 and tool.runs == [] and trajectory.steps[0].verdict == ""


async def test_lessons_and_observations_are_shown():
    memory = Lessons({"echo": ["be brief"]})
    finish = 'Action: Finish[{"response": "B"}]'
    _, model, _, _ = await selected(Select(), [echo("a"), finish, "1"], memory=memory)
    text = model.requests[-1].messages[-1].text
    assert 'echo: ["be brief"]' in text and "Finish: nothing yet" in text
    assert '1. Action: echo[{"query":"a"}]\nObservation: echo of a' in text and "Observation: B" in text


async def test_the_curve_asks_apart_what_fewer_candidates_would_have_given():
    replies = [echo(c) for c in "abcd"] + ["4", "2", "1"]
    action, model, trajectory, _ = await selected(Select(n=4, curve=True), replies)
    assert action_text(action) == 'echo[{"query":"d"}]'
    assert [r.purpose for r in model.requests] == ["act"] * 4 + ["verify", "judge", "judge"]
    assert trajectory.steps[3].verdict.picks == {1: 1, 2: 2, 3: 1, 4: 4}
    assert [step.branch for step in trajectory.steps[-2:]] == ["curve/2", "curve/3"]


async def test_calls_of_the_curve_are_not_the_samples():
    replies = [echo(c) for c in "abc"] + ["1", "2"]
    episode, _, trajectory = Attempt(verifier=Select(n=3, curve=True), tool=Echo()).episode(replies)
    await episode.act(ASK)
    assert episode.shared.spent.calls == 4 and len(trajectory.steps) == 5


async def test_a_batch_that_does_not_fit_the_budget_is_not_asked_at_all():
    episode, model, _ = Attempt(verifier=Select(n=4), tool=Echo()).episode([echo("a")] * 9)
    episode.shared.parts.budget.calls = 6
    await episode.act(ASK)
    with pytest.raises(LimitReached, match="calls=6"):
        await episode.act(ASK)
    assert len(model.requests) == 4 and episode.shared.spent.pending == 0


async def test_candidates_that_are_on_their_way_come_to_their_end_when_one_fails():
    said = iter([echo("a"), ModelError("down", "server"), echo("c")])
    episode, model, trajectory = Attempt(verifier=Select(n=3), tool=Echo()).episode(lambda request: next(said))
    with pytest.raises(ModelError, match="down"):
        await episode.act(ASK)
    assert len(model.requests) == 3 and [step.reply.text for step in trajectory.steps] == [echo("a"), echo("c")]


@each_row("reply", ["2. Action: echo[{\"query\": \"b\"}]", "Candidate 2", "Selected action: echo[{\"query\":\"b\"}]",
                                   "The first, echo[{\"query\":\"a\"}], is too wide.\nAction: echo[{\"query\": \"b\"}]"])  # fmt: skip
async def test_ways_of_naming_a_candidate(reply):
    action, _, _, _ = await selected(Select(n=2), [echo("a"), echo("b"), reply])
    assert action_text(action) == 'echo[{"query":"b"}]'


async def test_an_unreadable_candidate_is_not_matched_inside_a_reply():
    action, _, trajectory, _ = await selected(Select(n=2), ["A", echo("b"), "A wide choice: none fits."])
    assert action_text(action) == 'echo[{"query":"b"}]' and "could not be read" in trajectory.steps[1].verdict.why
