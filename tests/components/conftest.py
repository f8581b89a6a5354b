"""Runs an agent through the real model interface with scripted replies, and compares what the model received with a text file."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import components.prompts
from components.agents.react import ReAct
from components.core.errors import ToolError
from components.core.messages import Message, Sampling, ToolSpec
from components.core.plain import Accept
from components.core.tools import NoState, Offer
from components.core.types import Observation, Problem, Sample
from components.models.scripted import Scripted
from components.radiology.tasks import REFUSAL_FIELDS
from runner.episode.budget import Budget
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts

FOLDER = Path(__file__).parent / "dialogues"
_NUMBERS = {"type": "object", "properties": {"numbers": {"type": "array"}}, "required": ["numbers"]}


class Add:
    """A tool with parameters."""

    spec = ToolSpec("add", "Adds numbers.", _NUMBERS)
    effect = "pure"

    async def __call__(self, context: Any, numbers: list[float]) -> Observation:
        if not numbers:
            raise ToolError("there is nothing to add")
        return Observation(f"{sum(numbers)}")


class Scan:
    """A tool with the parameters of RadABench's: a purpose and variables."""

    spec = ToolSpec(
        "TOOL1",
        "Finds the anatomy.",
        {"type": "object", "properties": {"purpose": {"type": "string"}, "input": {}}, "required": ["input"]},
        card={"Name": "TOOL1", "Compulsory Input": ["$Image$"], "Output": ["$Anatomy$"]},
    )
    effect = "episode"

    async def __call__(self, context: Any, input: Any, purpose: str = "") -> Observation:
        if "Image" not in str(input):
            raise ToolError("needs $Image$ among its inputs")
        context.state.found["$Anatomy$"] = "Chest"
        return Observation('{"$Anatomy$":"Chest"}')


@dataclass
class Found:
    """A value memory."""

    found: dict[str, str] = field(default_factory=lambda: {"$Image$": "an image"})

    def fork(self) -> "Found":
        return Found(dict(self.found))

    def close(self) -> None:
        return None


class Show:
    """A control that shows the memory."""

    spec = ToolSpec("look", "")
    effect = "pure"

    async def __call__(self, context: Any) -> Observation:
        return Observation(", ".join(f"{name} = {value}" for name, value in context.state.found.items()))


@dataclass(frozen=True)
class Desk:
    """Offers tools, with controls over a value memory or without, and a refusal or none."""

    tools: Sequence[Any] = ()
    controls: bool = False
    may_refuse: bool = False

    def open(self, sample: Sample) -> Offer:
        return Offer(
            {tool.spec.name: tool for tool in self.tools},
            state=Found() if self.controls else NoState(),
            controls={"look": Show(), "final": Show()} if self.controls else {},
            refusal_fields=REFUSAL_FIELDS if self.may_refuse else {},
        )


class AsItIs:
    def offer(self, offer: Offer, sample: Sample, rng: Any) -> Offer:
        return offer


@dataclass
class AgentRun:
    trajectory: Any
    model: Scripted

    @property
    def stop(self) -> str:
        return self.trajectory.stop

    @property
    def sampling(self) -> list[Sampling]:
        return [request.sampling for request in self.model.requests]


@pytest.fixture
def perform():
    """Runs an agent on a problem with scripted replies; the episode is in ``trajectory``."""

    async def run(agent: Any, given: Problem | Sample, replies: Any, grammar: Any, desk: Any = Desk(), steps: int = 20):
        model = Scripted(replies)
        door = Door({"main": model}, None, run_seed=0)
        parts = Parts(agent, Accept(), grammar, desk, AsItIs(), budget=Budget(steps=steps))
        sample = given if isinstance(given, Sample) else Sample(given, target=None)
        trajectory, _ = await run_episode(parts, door, sample, 0)
        assert trajectory.stop != "error", trajectory.error
        return AgentRun(trajectory, model)

    return run


@pytest.fixture
def same_dialogue():
    """Compares the messages that the model received with ``dialogues/<name>.txt``.

    With UPDATE_DIALOGUES=1 in the environment the file is written instead, to be read before it is kept.
    """

    def compare(run_result: AgentRun, name: str) -> None:
        path, text = FOLDER / f"{name}.txt", written(run_result)
        if os.environ.get("UPDATE_DIALOGUES"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


def written(run_result: AgentRun) -> str:
    """All requests and how it ended; messages shared with the previous request appear once."""
    lines: list[str] = []
    before: Sequence[Message] = ()
    for number, request in enumerate(run_result.model.requests, 1):
        kept = shared(before, request.messages)
        lines.append(f"======== call {number}, purpose {request.purpose}")
        lines += [f"-------- tool {spec.name} {spec.description}" for spec in request.tools if number == 1]
        lines += [f"-------- messages 1 to {kept} as before"] if kept else []
        for message in request.messages[kept:]:
            lines += shown(message)
        before = request.messages
    trajectory = run_result.trajectory
    refusal = "" if trajectory.refusal is None else as_text(trajectory.refusal.grounds)
    lines.append(f"======== {trajectory.stop}: {trajectory.answer or refusal or trajectory.error}")
    return "\n".join(lines) + "\n"


def shared(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many leading messages are the same."""
    n = 0
    while n < min(len(before), len(now)) and before[n] == now[n]:
        n += 1
    return n


def shown(message: Message) -> list[str]:
    """A message as lines of text."""
    answers = f" answers {message.tool_call_id}" if message.tool_call_id else ""
    lines = [f"-------- {message.role}{answers}"]
    parts = (message.content,) if isinstance(message.content, str) else message.content
    lines += [part if isinstance(part, str) else f"(image {part.url})" for part in parts if part]
    return lines + [f"(call {call.id}: {call.name} {call.arguments})" for call in message.tool_calls]


def as_text(grounds: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in grounds.items())


@pytest.fixture
def adding() -> Desk:
    return Desk([Add()])


@pytest.fixture
def scanning() -> Desk:
    return Desk([Scan()], controls=True, may_refuse=True)


@pytest.fixture
def react() -> ReAct:
    return ReAct()


@pytest.fixture
def forgetful(tmp_path: Path) -> Callable[..., str]:
    """A copy of a prompt set with texts left out or changed, all of which must be there; its path."""

    def change(name: str, template: str, changes: Mapping[str, str]) -> str:
        folder = tmp_path / f"{name}_{template}"
        copytree(Path(components.prompts.__file__).parent / name, folder)
        path = folder / f"{template}.jinja"
        text = path.read_text()
        for old, new in changes.items():
            assert old in text, old
            text = text.replace(old, new)
        path.write_text(text)
        return str(folder)

    return change
