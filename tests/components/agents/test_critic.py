from components.agents.critic import Critic
from components.core.messages import Image, ToolSpec
from components.core.types import Answer, Failure, Problem
from tests.attempts import Attempt, Echo, solving

A, B = 'Action: Finish[{"response": "A"}]', 'Action: Finish[{"response": "B"}]'
LOOK = ToolSpec(
    "Look",
    "looks",
    {"type": "object", "properties": {"query": {}, "image": {}}, "required": ["query", "image"]},
    facts={"needs": "image"},
)


class Eye(Echo):
    """Says what it was asked."""

    async def __call__(self, context, query, image):
        return await super().__call__(context, f"{query} on {image}")


async def test_a_first_answer_is_checked():
    outcome, model, _ = await solving(Critic(), ["Answer: A", B])
    assert outcome == Answer("B") and [r.purpose for r in model.requests] == ["answer", "act"]
    assert "Previous answer: A" in model.requests[1].messages[1].text


async def test_rounds_end_when_nothing_changes():
    outcome, model, trajectory = await solving(Critic(rounds=3), ["Answer: A", B, B])
    assert outcome == Answer("B") and len(model.requests) == 3 and trajectory.steps[-1].branch == "round/2"


async def test_for_images_only_tools_can_see_a_tool_gives_the_first_answer():
    problem = Problem("p", "Where?", images=(Image("data:x"),), inputs={"image": "scan.png"})
    attempt = Attempt(problem=problem, shows_images=False, tool=Eye(spec=LOOK))
    outcome, model, _ = await solving(Critic(), [B], attempt)
    assert outcome == Answer("B") and "echo of Where? on scan.png" in model.requests[0].messages[1].text
    sees = ToolSpec("Look", "looks", {"type": "object", "properties": {"image": {}}}, facts={"needs": "image"})
    only = Attempt(problem=problem, shows_images=False, tool=Eye(spec=sees))
    outcome, model, _ = await solving(Critic(), [B], only)
    assert isinstance(outcome, Failure) and outcome.label == "unsupported_input" and not model.requests


async def test_a_text_only_model_cannot_draft_on_an_image():
    problem = Problem("p", "Where?", images=(Image("data:x"),))
    outcome, _, _ = await solving(Critic(), [], Attempt(problem=problem, vision=False))
    assert outcome == Failure("unsupported_input", "the model takes no images")
