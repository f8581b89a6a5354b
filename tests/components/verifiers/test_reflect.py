from dataclasses import dataclass
from typing import Any

from components.core.errors import ToolError
from components.core.messages import Message, ToolCall
from components.grammars.native_tools import NativeTools
from components.verifiers.reflect import Reflect
from tests.attempts import Attempt, Echo
from tests.table import each_row

ASK = [Message("user", "Which?")]
BLOCK = "<Reflection>it fits</Reflection>"


@dataclass
class Wary(Echo):
    """Foresees that it refuses a word."""

    def foresee(self, state: Any, query: str) -> None:
        if query == "no":
            raise ToolError("it takes everything but no", "refused")


def said(query: str, block: str = BLOCK, name: str = "echo") -> str:
    return f'Thought: {block}\nAction: {name}[{{"query": "{query}"}}]'


async def chosen(verifier, replies, tool=None, grammar=None):
    tool = tool or Wary()
    episode, model, trajectory = Attempt(verifier=verifier, tool=tool).episode(replies, grammar)
    return await episode.act(ASK), model, trajectory, episode, tool


async def test_a_reply_that_reflects_and_would_be_carried_out_is_taken_as_it_is():
    action, model, trajectory, _, tool = await chosen(Reflect(), [said("yes")])
    assert len(model.requests) == 1 and action.calls[0].parsed == {"query": "yes"}
    assert trajectory.steps[0].verdict == "reflect: nothing found" and tool.runs == []


FOUND = {
    "no_reflection": (said("yes", "because"), "There is no reflection in your reply"),
    "refused": (said("no"), "The call would be refused: it takes everything but no."),
    "unknown_tool": (said("yes", name="ecko"), "The call would be refused: There is no tool 'ecko'"),
    "unparsable_reply": (f"{BLOCK} I would ask.", "Your reply could not be read: "),
}


@each_row("label", FOUND)
async def test_a_problem_is_reported_before_the_tool_runs_and_may_be_repaired_once(label):
    reply, finding = FOUND[label]
    action, model, trajectory, episode, tool = await chosen(Reflect(), [reply, said("yes")])
    asked = model.requests[1].messages[-1].text
    assert finding in asked and f"[Proposal]\n{reply}\n\n[Finding]\n" in asked and asked.startswith("Which?\n\n")
    assert trajectory.steps[1].verdict == f"reflect: {label}, then nothing found" and tool.runs == []
    assert [step.committed for step in trajectory.steps] == [False, True]
    assert {(step.purpose, step.role) for step in trajectory.steps} == {("act", "main")}
    await episode.observe(action)
    assert tool.runs == ["yes"] and trajectory.steps[1].observed[0].error is None


@each_row("repairs", [0, 1, 3])
async def test_the_last_version_is_taken_and_the_verdict_says_what_is_wrong_with_it(repairs):
    action, model, trajectory, _, _ = await chosen(Reflect(repairs=repairs), [said("no")] * 9)
    assert len(model.requests) == repairs + 1 and action.calls[0].parsed == {"query": "no"}
    assert trajectory.steps[-1].verdict == "reflect: " + ", then ".join(["refused"] * (repairs + 1))
    assert trajectory.steps[-1].committed


async def test_an_answer_needs_no_reflection():
    action, model, _, _, _ = await chosen(Reflect(), ['Action: Finish[{"response": "B"}]'])
    assert action.answer == "B" and len(model.requests) == 1


async def test_native_calls_carry_their_reflection_in_the_text_next_to_them():
    def native(query: str, text: str) -> Message:
        return Message("assistant", text, (ToolCall("c", "echo", f'{{"query": "{query}"}}'),))

    replies = [native("no", BLOCK), native("yes", BLOCK)]
    action, model, _, _, _ = await chosen(Reflect(), replies, grammar=NativeTools())
    assert action.calls[0].parsed == {"query": "yes"} and [t.name for t in model.requests[1].tools] == ["echo"]
    assert '[Proposal]\necho[{"query":"no"}]' in model.requests[1].messages[-1].text
