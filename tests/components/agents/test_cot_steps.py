from components.agents.reflectool import CotSteps
from components.core.types import Answer, Sample
from tests.attempts import CHOICE, Attempt, Echo
from tests.parts import Intact, parts

ANSWER = 'Action: Finish[{"response": "B"}]'


async def test_only_plan_and_think_are_offered_and_the_inputs_stand_in_the_task():
    attempt = Attempt(tool=Echo(), inputs="patients(id)")
    agent = CotSteps()
    episode, model, _ = attempt.episode([ANSWER], None, agent)
    assert (await agent.solve(episode)) == Answer("B")
    assert list(episode.offer.tools) == ["Plan", "Think"]
    assert "patients(id)" in model.requests[0].messages[1].text and "echo" not in model.requests[0].messages[0].text


def test_a_condition_still_sees_the_whole_toolset():
    offer = parts(CotSteps(), condition=Intact()).open(Sample(CHOICE, "B"), 0, 0)
    assert list(offer.tools) == ["Plan", "Think"]
