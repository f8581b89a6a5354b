"""Episodes with tools that fail: scripted calls through the real door, on small tools or on those of radiology."""

from dataclasses import dataclass, field
from typing import Any

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.plain import Intact
from components.core.tools import NoState, Offer
from components.core.traits import ToolTraits
from components.core.types import Observation, Observed, Sample
from components.radiology.toolset import Radiology
from runner.episode.episode import run_episode
from tests.golden.vectors import PAPER, dev
from tests.parts import Rows, Speaker, door, parts

SAMPLE = Rows(1).load("test")[0]
STUDY = dev().sample("dev_chest_ct", "012")
TEXT = {"type": "object", "properties": {"text": {"type": "string", "description": "what is said"}}}


@dataclass(frozen=True)
class Says:
    """A tool that returns its input; ``no`` is refused."""

    name: str = "echo"
    effect: str = "pure"
    timeout_seconds: float | None = None
    facts: Any = field(default_factory=dict)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "says it", TEXT, facts=self.facts)

    @property
    def traits(self) -> ToolTraits:
        return ToolTraits(timeout_seconds=self.timeout_seconds)

    async def __call__(self, context: Any, text: str = "") -> Observation:
        if text == "no":
            raise ToolError("it says no", "refused")
        return Observation(text, {"said": text})


@dataclass(frozen=True)
class Tools:
    """A toolset of such tools, without state."""

    tools: tuple[Any, ...] = (Says(), Says("other"))

    def open(self, sample: Sample) -> Offer:
        return Offer({tool.spec.name: tool for tool in self.tools}, NoState())


@dataclass
class Book:
    """A journal in memory."""

    entries: dict[bytes, bytes] = field(default_factory=dict)

    def get(self, key: bytes) -> bytes | None:
        return self.entries.get(key)

    def reserve(self) -> None:
        return None

    def put(self, key: bytes, payload: bytes) -> None:
        self.entries.setdefault(key, payload)

    @property
    def tools(self) -> dict[bytes, bytes]:
        return {key: payload for key, payload in self.entries.items() if b'"tool":"' in payload}


async def episode(condition: Any, replies: list[str], sample: Sample = SAMPLE, **changes: Any) -> Any:
    """The trajectory of an agent that makes these replies, the last of them for ever."""

    def say(request: Any) -> str:
        return replies[min(sum(m.role == "assistant" for m in request.messages), len(replies) - 1)]

    given = {"toolset": Tools(), "condition": condition} | changes
    journal, settings = (
        given.pop("journal", None),
        {"run_seed": given.pop("seed", 0), "replay": given.pop("replay", False)},
    )
    trajectory, _ = await run_episode(parts(**given), door(Speaker(say), journal, **settings), sample, 0)
    assert trajectory.stop == "answered", trajectory.error
    return trajectory


async def call_tools(condition: Any, *calls: str, **changes: Any) -> list[Observed]:
    """The results of calls (``echo TEXT``), one after the other."""
    made = [f'call {call.partition(" ")[0]} {{"text": "{call.partition(" ")[2]}"}}' for call in calls]
    trajectory = await episode(condition, [*made, "done"], **changes)
    return [one for step in trajectory.steps for one in step.observed]


async def call_radiology(
    condition: Any, *names: str, sample: Sample = STUDY, switches: Any = PAPER, **changes: Any
) -> Any:
    """The trajectory of calls of radiology tools with all their inputs."""
    offer = Radiology(switches).open(sample)
    calls = []
    for name in names:
        card = offer.tools[name].card
        inputs = str([*card.compulsory, *card.optional]).replace("'", '"')
        calls.append(f'call {name} {{"purpose": "x", "input": {inputs}}}')
    return await episode(condition, [*calls, "done"], sample, toolset=Radiology(switches), **changes)


def texts(observed: list[Observed]) -> list[str]:
    return [one.observation.text for one in observed]


def kinds(observed: list[Observed]) -> list[list[str]]:
    return [[mark["kind"] for mark in one.observation.data.get("faults", ())] for one in observed]


INTACT = Intact()
