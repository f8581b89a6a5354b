"""Episodes over scripted replies, for agents that act step by step and for verifiers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from components.acting.attempt import Shown, Trial
from components.core.messages import ToolSpec
from components.core.plain import Accept
from components.core.tools import Offer
from components.core.types import Observation, Problem, Sample, Trajectory
from components.grammars.bracket_json import BracketJson
from components.models.scripted import Scripted
from runner.episode.episode import Episode
from runner.episode.shared import Parts, Shared
from tests.parts import Counter, Intact, Kit, door

SHOWS = ToolSpec("inputs", "shows", {"type": "object", "properties": {}})
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
ECHO = ToolSpec("echo", "repeats", QUERY)
CHOICE = Problem("p", "Which?", {"A": "gout", "B": "scurvy"})


@dataclass(frozen=True)
class Shows:
    """A control that shows a text."""

    text: str
    spec: ToolSpec = SHOWS
    effect: str = "pure"

    async def __call__(self, context: Any) -> Observation:
        return Observation(self.text)


@dataclass
class Echo:
    """A pure tool that repeats its query and notes that it ran; ``external`` ones cannot be tried."""

    effect: str = "pure"
    runs: list[str] = field(default_factory=list)
    spec: ToolSpec = ECHO

    async def __call__(self, context: Any, query: str) -> Observation:
        self.runs.append(query)
        return Observation(f"echo of {query}")


@dataclass(frozen=True)
class Lessons:
    """A memory with lessons on tools and demonstrations for any task."""

    lessons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    found: Sequence[Any] = ()
    digest: str = "lessons"

    def search(self, problem: str) -> Sequence[Any]:
        return self.found

    def experience(self, tool: str) -> Sequence[str]:
        return self.lessons.get(tool, ())


@dataclass(frozen=True)
class Attempt:
    """The desk of an attempt: what is offered, and by whom it is checked."""

    problem: Problem = CHOICE
    target: Any = "B"
    tool: Any = None
    verifier: Any = field(default_factory=Accept)
    memory: Any = None
    scorers: Mapping[str, Any] = field(default_factory=dict)
    vision: bool = True
    shows_images: bool = True
    inputs: str = ""

    def open(self, sample: Sample) -> Offer:
        offer = Kit().open(sample) if self.tool is None else Offer({self.tool.spec.name: self.tool}, Counter())
        controls = {"inputs": Shows(self.inputs)} if self.inputs else {}
        return replace(offer, controls=controls, shows_images=self.shows_images)

    def episode(self, replies: Any, grammar: Any = None, agent: Any = None) -> tuple[Episode, Scripted, Trajectory]:
        """An open episode over the replies."""
        model = Scripted(replies)
        model.vision = self.vision
        parts = Parts(agent, self.verifier, grammar or BracketJson(), self, Intact(), self.scorers, memory=self.memory)
        trajectory = Trajectory()
        shared = Shared(parts, door(model), Sample(self.problem, self.target), 0, trajectory)
        return Episode(shared, shared.open()), model, trajectory


async def acting_on(
    acting: Any, replies: Any, grammar: Any = None, shown: Shown | None = None, attempt: Attempt | None = None
) -> tuple[Trial, Scripted]:
    """One attempt."""
    episode, model, _ = (attempt or Attempt()).episode(replies, grammar, acting)
    return await acting.attempt(episode, shown), model


async def solving(agent: Any, replies: Any, attempt: Attempt | None = None) -> tuple[Any, Scripted, Trajectory]:
    """Run an agent on a task and return its result."""
    episode, model, trajectory = (attempt or Attempt()).episode(replies, None, agent)
    return await agent.solve(episode), model, trajectory
