from components.core.messages import Message, ToolCall
from components.core.types import Action, Refusal
from components.verifiers.refine import guide, result_of
from tests.attempts import Attempt, Echo, Lessons

SAID = Message("assistant", "x")


async def test_a_trial_reports_its_result_and_changes_nothing():
    episode, _, _ = Attempt().episode(['Action: count[{"n": 2}]'])
    action = await episode.act([Message("user", "q")])
    assert await result_of(episode, action) == "2" == await result_of(episode, action)
    assert episode.offer.state.seen == []
    assert await result_of(episode, Action(SAID, answer="B")) == "B"
    assert "could not be read" in await result_of(episode, Action(SAID, error="unreadable", error_text="no form"))
    assert "refusal" in await result_of(episode, Action(SAID, refusal=Refusal({})))


async def test_tools_with_external_effects_are_not_tried():
    episode, _, _ = Attempt(tool=Echo(effect="external")).episode(['Action: echo[{"query": "a"}]'])
    assert await result_of(episode, await episode.act([Message("user", "q")])) is None


def test_the_guide_has_each_named_action_once():
    episode, _, _ = Attempt(memory=Lessons({"echo": ["a"]})).episode([])
    actions = [Action(SAID, (ToolCall("1", "echo", "{}"),)), Action(SAID, answer="B"), Action(SAID, answer="C")]
    assert guide(episode, actions) == {"echo": ["a"], "Finish": ()}
    assert guide(Attempt().episode([])[0], actions) == {"echo": (), "Finish": ()}
