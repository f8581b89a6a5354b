"""One attempt, step by step: the parts from which ReAct, CRITIC, Reflexion and ReflecTool are made.

Source: Yao et al. 2023 (ReAct), arXiv 2210.03629; step limit and forced finish of Liao et al. 2024
(ReflecTool), arXiv 2410.17657.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Protocol, Self, runtime_checkable

import orjson
from annotated_types import Ge

from components.acting.action_lines import line_text
from components.acting.demonstrations import shown_plans, shown_tasks
from components.acting.solved import SEEDS, TASKS
from components.core.errors import ConfigError
from components.core.messages import Image, Message, Sampling, continued
from components.core.protocols import Agent, Episode
from components.core.task_text import Chain, action_text, task_text
from components.core.tools import Offer
from components.core.traits import PromptSetName, agents_in
from components.core.types import Action, Answer, Demonstration, Failure, Refusal
from components.prompts import PromptSet, load


@dataclass(frozen=True)
class Trial:
    """How an attempt ended and what was done on it."""

    outcome: Answer | Refusal | Failure
    chain: Chain


@dataclass(frozen=True)
class Shown:
    """What an attempt is shown alongside its task: earlier trials of its own with what was concluded from them (also
    alone, as ``reflections``), a draft to check; or the role in which it acts and what is asked of it in the task's
    place."""

    previous: Sequence[Chain] = ()
    reflections: Sequence[str] = ()
    draft: str = ""
    role: str = ""
    asked: str = ""


@runtime_checkable
class Retries(Protocol):
    """An agent that can try a task again, shown what it did before."""

    async def attempt(self, episode: Episode, shown: Shown | None = None) -> Trial: ...


def retrying_agent(agent: Agent) -> Agent:
    """The agent that can try again: the first such one among those that an agent holds, else the agent itself."""
    own, *held = agents_in(agent)
    return next((one for one in (*held, own) if isinstance(one, Retries)), held[0] if held else own)


@dataclass(frozen=True)
class ActsInSteps:
    """The settings of agents that take one action per step; every reply is kept as the model wrote it.

    ``max_steps`` None: the budget's matter. ``force_finish``: the last step offers nothing but to end.
    ``preload``: the inputs (schema, documents) stand in the task. ``stop`` are strings at which an action's
    text ends, such as ``Observation:``; empty because some endpoints refuse them and the grammars do without.
    ``shots``: at most so many demonstrations of the memory are shown; where the control ``metadata`` describes a
    database they are of this database. ``as_lines``: what was done is written as ``Name[argument]``.
    """

    prompts: PromptSetName
    max_steps: Annotated[int, Ge(1)] | None = None
    force_finish: bool = False
    preload: bool = False
    stop: Sequence[str] = field(default=())
    shots: Annotated[int, Ge(0)] = 0
    as_lines: bool = False

    @property
    def controls(self) -> Sequence[str]:
        """The control that describes the database, for prompts that show it."""
        return ("metadata",) if "metadata" in _names(load(self.prompts)) else ()

    @property
    def shown_memory(self) -> str | None:
        """The memory that the demonstrations are from, where any are shown."""
        if not self.shots:
            return None
        return SEEDS if self.controls else TASKS

    def refuse_unshown(self) -> None:
        """Raises ConfigError for demonstrations that the prompts have no place for."""
        if self.shots and "demonstrations" not in _names(load(self.prompts)):
            raise ConfigError(
                f"agent.shots={self.shots}: system.jinja of the prompts {self.prompts!r} shows no demonstrations;"
                " choose other prompts, or agent.shots=0"
            )


@dataclass
class Acting:
    """An attempt that is being made: its messages and the chain of what was done. ``values``: given to prompts."""

    episode: Episode
    settings: ActsInSteps
    values: Mapping[str, Any]
    messages: list[Message] = field(default_factory=list)
    chain: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    async def begin(cls, episode: Episode, settings: ActsInSteps, shown: Shown) -> Self:
        """The system prompt, with demonstrations, and the task, with images and preloaded inputs."""
        described = settings.controls or "metadata" in episode.offer.controls
        facts = {"metadata": (await episode.control("metadata")).data} if described else {}
        demonstrations = _demonstrations(episode, settings, facts)
        acting = cls(episode, settings, {**vars(shown), "demonstrations": demonstrations, **facts})
        acting.messages = [acting._system(), await acting._task()]
        return acting

    async def act(self, closing: bool = False) -> Action:
        """The next action; ``closing``: nothing is offered but to end. Raises LimitReached, ModelError."""
        if closing:
            self.messages[0] = self._system(closing=True)
        return await self.episode.act(self.messages, Sampling(stop=tuple(self.settings.stop)), closing)

    async def observe(self, action: Action) -> None:
        """Run an action and add what came of it."""
        seen = await self.episode.observe(action)
        self.add(action, _saw(self.episode, action, seen), [*self.messages, action.message, *seen])

    def add(self, action: Action, result: str, messages: list[Message]) -> None:
        """Add an action and its result to the chain; the attempt continues with ``messages``."""
        self.chain.append((line_text(action) if self.settings.as_lines else action_text(action), result))
        self.messages = messages

    def is_over(self, action: Action) -> bool:
        """Whether an action whose calls are the last ones succeeded, so that only the answer is left to give."""
        return action.last and all(one.error is None for one in self.episode.last.observed)

    async def conclude(self) -> Answer:
        """Answer after the last call, for grammars whose last action is not the answer."""
        held = await read_control(self.episode, "final")
        prompts = load(self.settings.prompts)
        ask = prompts.user("conclude", problem=self.episode.problem, held=held, **self.values)
        return Answer((await self.episode.ask(continued(self.messages, ask), "conclude")).text)

    def _system(self, closing: bool = False) -> Message:
        instructions = self.episode.instructions(closing)
        formats = () if closing else _formats(self.episode.offer)
        return load(self.settings.prompts).system(
            "system", instructions=instructions, formats=formats, max_steps=self.settings.max_steps, **self.values
        )

    async def _task(self) -> Message:
        episode, problem = self.episode, self.episode.problem
        held = await read_control(episode, "look") + (
            await read_control(episode, "inputs") if self.settings.preload else ""
        )
        shown = {"problem": problem, "task": task_text(problem), "held": held, **self.values}
        return load(self.settings.prompts).user("problem", shown_images(episode), **shown)


def _demonstrations(episode: Episode, settings: ActsInSteps, facts: Mapping[str, Any]) -> Sequence[Demonstration]:
    """Solved tasks of the memory, else solved questions of the database."""
    found, database = shown_tasks(episode, settings.shots), facts.get("metadata", {}).get("database", "")
    if found or not database or (episode.memory is None and not settings.controls):
        return found
    return shown_plans(episode, database, settings.shots)


@lru_cache(maxsize=64)
def _names(prompts: PromptSet) -> Collection[str]:
    """What the system prompt of a set is given."""
    return prompts.names("system") if "system" in prompts.texts else ()


def shown_images(episode: Episode) -> tuple[Image, ...]:
    """The images that the model itself must look at: all, unless there is a tool to ask about them."""
    looks = any(tool.spec.facts.get("needs") == "image" for tool in episode.offer.tools.values())
    return () if looks and not episode.offer.shows_images else episode.problem.images


def blind(episode: Episode) -> bool:
    """Whether the task has images that neither the model nor a tool can look at."""
    return bool(shown_images(episode)) and not episode.sees_images


def _saw(episode: Episode, action: Action, messages: Sequence[Message]) -> str:
    """What came of an action, without what the grammar puts around it."""
    if action.error is not None:
        return "\n".join(message.text for message in messages)
    return "\n".join(one.observation.text for one in episode.last.observed if not one.control)


def stated_outcome(action: Action) -> Answer | Refusal | None:
    """The outcome that an action states."""
    return action.refusal if action.answer is None else Answer(action.answer)


async def read_control(episode: Episode, name: str) -> str:
    """What a control of the toolset shows, where there is one."""
    return (await episode.control(name)).text if name in episode.offer.controls else ""


def _formats(offer: Offer) -> Sequence[str]:
    """One call as a pattern for each way in which the offered tools take their parameters."""
    patterns: dict[tuple[str, ...], str] = {}
    for tool in offer.tools.values():
        names = tuple(tool.spec.parameters.get("properties", {}))
        filled = orjson.dumps(dict.fromkeys(names, "...")).decode()
        patterns.setdefault(names, f"{tool.spec.name}[{filled}]")
    return tuple(patterns.values())
