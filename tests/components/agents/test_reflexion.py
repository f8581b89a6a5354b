from components.agents.reflexion import Reflexion
from components.types import Answer
from tests.attempts import Attempt, solving
from tests.parts import Right

A, B = 'Action: Finish[{"response": "A"}]', 'Action: Finish[{"response": "B"}]'


async def test_it_tries_twice_even_when_the_first_was_right_and_sees_its_reflection():
    outcome, model, trajectory = await solving(Reflexion(), [B, "look closer", A])
    assert outcome == Answer("A") and [r.purpose for r in model.requests] == ["act", "reflect", "act"]
    second = model.requests[2].messages[1].text
    assert "[Previous_Trial]" in second and "look closer" in second and 'Finish[{"response":"B"}]' in second
    assert trajectory.steps[2].branch == "trial/2"


async def test_with_the_oracle_it_stops_when_it_is_right():
    attempt = Attempt(target="B", scorers={"right": Right()})
    outcome, model, _ = await solving(Reflexion(oracle=True, trials=3), [A, "hm", B], attempt)
    assert outcome == Answer("B") and len(model.requests) == 3
    outcome, model, _ = await solving(Reflexion(oracle=True, trials=3), [B], attempt)
    assert outcome == Answer("B") and len(model.requests) == 1


async def test_the_model_never_reads_the_target():
    attempt = Attempt(target="a secret target", scorers={"right": Right()})
    _, model, _ = await solving(Reflexion(oracle=True), [A, "hm", A], attempt)
    assert not any("secret" in message.text for request in model.requests for message in request.messages)
