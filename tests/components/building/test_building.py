import json
from types import SimpleNamespace

import pytest

from components.agents.react import ReAct
from components.agents.reflexion import Reflexion
from components.agents.self_consistency import Wrapping
from components.building import Building, BuildsTools, builds, outside_memory
from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall
from components.core.plain import NoTools
from components.core.tools import Offer
from components.core.types import Action, Observation, Observed, Refusal
from components.grammars.native_tools import NativeTools
from components.sandbox import Sandbox
from runner.episode.episode import run_episode
from tests.components.building.formulas import CLEARANCE, RIGHT, WRONG, fenced
from tests.parts import Rows, Speaker, door, parts
from tests.slow import slow

SAMPLE = Rows().load("test")[0]
FIELDS = {"age": 60, "weight": 72, "creatinine": 1.0}


def asks(name, arguments, n=0):
    return Message("assistant", "", (ToolCall(f"call_{n}", name, json.dumps(arguments)),))


class Refusable:
    """No tools, and a task that may be refused."""

    def open(self, sample):
        return Offer({}, refusal_fields={"reason": ()})


async def run(building, *replies, toolset=None, mode="code", **changes):
    left = list(replies)
    model = Speaker(lambda request: left.pop(0))
    agent = ReAct(build_tools=mode, building=building)
    given = {"grammar": NativeTools(), "toolset": toolset or NoTools()} | changes
    trajectory, _ = await run_episode(parts(agent, **given), door(model), SAMPLE, 0)
    assert trajectory.stop != "error", trajectory.error
    return trajectory, model.asked


def test_an_agent_builds_a_tool_only_when_configured_to():
    plain = BuildsTools()
    assert (
        plain.requirements.tools,
        plain.requirements.sandbox,
        plain.requirements.prompts,
        plain.requirements.facts,
    ) == ((), None, (), {})
    plain.check_offer(Offer({}))


def test_the_simulated_builder_is_part_of_the_offer_or_the_config_is_refused(building):
    with pytest.raises(ConfigError, match="needs one of the conditions insufficient_config1"):
        BuildsTools(build_tools="simulated", building=building).check_offer(Offer({}))
    BuildsTools(build_tools="code", building=building).check_offer(Offer({}))


async def test_a_tool_is_specified_built_repaired_and_called(building):
    trajectory, asked = await run(
        building, asks("BuildTool", CLEARANCE), fenced(WRONG), fenced(RIGHT), asks("CockcroftGault", FIELDS, 1), "80"
    )
    assert (trajectory.stop, trajectory.answer) == ("answered", "80")
    assert [(step.purpose, step.branch) for step in trajectory.steps] == [
        ("act", "main"), ("build", "build/0"), ("build", "build/0"), ("act", "main"), ("act", "main"),
    ]  # fmt: skip
    assert [tool.name for tool in asked[0].tools] == ["BuildTool"]
    assert [tool.name for tool in asked[3].tools] == ["BuildTool", "CockcroftGault"]
    assert trajectory.steps[0].observed[0].observation.data["build"]["code"] == RIGHT.strip()
    assert trajectory.steps[3].observed[0].observation.text == "80.0"
    assert [spec.name for spec in trajectory.offered] == ["BuildTool", "CockcroftGault"]
    assert trajectory.facts["build_tools"] == "code"


@slow
async def test_hostile_code_is_rejected_and_the_episode_continues(building):
    hostile = [fenced("import os\nos.kill(0, 9)\n"), fenced("while True:\n    pass\n"), fenced("raise SystemExit\n")]
    trajectory, _ = await run(building, asks("BuildTool", CLEARANCE), *hostile, "no idea")
    assert (trajectory.stop, trajectory.answer) == ("answered", "no idea")
    assert [spec.name for spec in trajectory.offered] == ["BuildTool"]
    result = trajectory.steps[0].observed[0]
    assert result.error is None and not result.observation.data["build"]["passed"]


async def test_after_a_refusal_a_specification_is_requested_and_the_episode_continues(building):
    refuse = asks("refuse", {"reason": "there is no calculator"})
    specification = json.dumps(CLEARANCE)
    replies = (refuse, specification, fenced(RIGHT), asks("CockcroftGault", FIELDS, 1), "80")
    trajectory, asked = await run(building, *replies, toolset=Refusable())
    assert (trajectory.stop, trajectory.answer) == ("answered", "80")
    roles = [message.role for message in asked[3].messages]
    assert roles == ["system", "user", "assistant", "tool", "user", "assistant", "user"]
    assert '"name":"CockcroftGault"' in asked[3].messages[-1].text


async def test_another_attempt_has_the_tool_that_an_earlier_one_built(building):
    replies = (asks("BuildTool", CLEARANCE), fenced(RIGHT), "81", "I should use it.", asks("CockcroftGault", FIELDS, 1))
    left = [*replies, "80"]
    model = Speaker(lambda request: left.pop(0))
    agent = Reflexion(build_tools="code", building=building)
    given = {"grammar": NativeTools(), "toolset": NoTools()}
    trajectory, _ = await run_episode(parts(agent, **given), door(model), SAMPLE, 0)
    assert (trajectory.stop, trajectory.answer) == ("answered", "80"), trajectory.error
    seen = {step.branch: step.observed[0].observation.text for step in trajectory.steps if step.observed}
    assert list(seen) == ["main", "trial/2"] and seen["trial/2"] == "80.0"
    assert [spec.name for spec in trajectory.offered] == ["BuildTool", "CockcroftGault"]


async def test_a_refusal_is_kept_when_no_tool_is_built(building):
    refuse = asks("refuse", {"reason": "there is no calculator"})
    cases = (
        (["```json\n{}\n```"], []),
        (["{broken"], [False]),
        ([" " * 10**5], [False]),
        ([json.dumps(CLEARANCE), *[fenced(WRONG)] * 3], [True]),
    )
    for replies, specified in cases:
        trajectory, _ = await run(building, refuse, *replies, toolset=Refusable())
        assert trajectory.stop == "refused" and trajectory.refusal.grounds == {"reason": "there is no calculator"}
        assert [one["specified"] for one in builds(trajectory)] == specified
    trajectory, _ = await run(building, refuse, toolset=Refusable(), mode="none")
    assert trajectory.stop == "refused" and len(trajectory.steps) == 1


async def test_a_reply_that_is_not_a_refusal_is_not_treated_as_one(building):
    builds = BuildsTools(build_tools="code", building=building)
    assert await builds.resumed(None, [], Action(Message("assistant", "x"), answer="x")) is None
    plain = BuildsTools()
    assert await plain.resumed(None, [], Action(Message("assistant", "x"), refusal=Refusal({}))) is None


def test_native_answers_builds_and_failures_are_kept_next_to_the_memory():
    data = ({}, {"built": True}, {"build": {}}, {}, {})
    roles = ("user", "user", "user", "tool", "user")
    seen = [Message(role, str(n), tool_call_id="c" if role == "tool" else None) for n, role in enumerate(roles)]
    failed = (None, None, None, None, "denied")
    observed = [
        Observed(ToolCall("c", "x", "{}"), Observation("", one), error) for one, error in zip(data, failed, strict=True)
    ]
    episode = SimpleNamespace(last=SimpleNamespace(observed=observed))
    assert [message.text for message in outside_memory(episode, seen)] == ["1", "2", "3", "4"]


def test_a_strict_sandbox_stays_strict_and_wrapped_agents_declare_their_capabilities():
    builds = ReAct(build_tools="code", building=Building(Sandbox(strict=True)))
    assert builds.requirements.sandbox.strict and builds.requirements.sandbox.limits.wall_seconds == 5.0
    assert Wrapping(builds).requirements.facts == {"build_tools": "code"} and not Wrapping(ReAct()).requirements.facts
    assert [tool.spec.name for tool in Wrapping(builds).requirements.tools] == ["BuildTool"]
