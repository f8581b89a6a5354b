"""One attempt, step by step: the parts from which ReAct, CRITIC, Reflexion and ReflecTool are made.

Source: Yao et al. 2023 (ReAct), arXiv 2210.03629; step limit, forced finish: Liao et al. 2024, arXiv 2410.17657.
"""

from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Protocol, Self, runtime_checkable

import orjson
from annotated_types import Ge

from components.acting.arguments import line_text
from components.acting.solved import shown_plans, shown_tasks
from components.core.cached import cached_property
from components.core.messages import Image, Message, Sampling, continued
from components.core.protocols import Episode
from components.core.task_text import Chain, action_text, task_text
from components.core.traits import PromptSetName
from components.core.types import Action, Answer, Failure, Refusal
from components.prompts import PromptSet, load


@dataclass(frozen=True)
class Trial:
    """How an attempt ended, and its actions."""

    outcome: Answer | Refusal | Failure
    done: Sequence[tuple[Action, str]] = ()  # and what came of each
    as_lines: bool = False

    @cached_property
    def chain(self) -> Chain:
        """The actions as text, which few agents read."""
        write = line_text if self.as_lines else action_text
        return [(write(action), result) for action, result in self.done]


@dataclass(frozen=True)
class Shown:
    """What an attempt is shown alongside its task: its earlier trials with the conclusions from them (also alone, as
    ``reflections``), a draft to check; or its role and instructions in place of the task."""

    previous: Sequence[Chain] = ()
    reflections: Sequence[str] = ()
    draft: str = ""
    role: str = ""
    asked: str = ""


@runtime_checkable
class Retries(Protocol):
    """An agent that can try a task again, shown what it did before."""

    async def attempt(self, episode: Episode, shown: Shown | None = None) -> Trial: ...


@dataclass(frozen=True)
class ActsInSteps:
    """The settings of agents that take one action per step; every reply is kept as the model wrote it.

    ``max_steps`` None: only the budget limits the steps. ``force_finish``: the last step offers nothing but to end.
    ``preload``: the inputs (schema, documents) are in the task. ``stop`` are strings at which an action's text ends,
    such as ``Observation:``; empty because some endpoints refuse them and the grammars do without. ``shots``: at most
    so many demonstrations of the memory are shown; where the control ``metadata`` describes a database they are of this
    database. ``as_lines``: what was done is written as ``Name[argument]``.
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
        return ("metadata",) if "metadata" in names_given(load(self.prompts)) else ()


@lru_cache(maxsize=64)
def names_given(prompts: PromptSet) -> Collection[str]:
    """What the system prompt of a set is given."""
    return prompts.names("system") if "system" in prompts.texts else ()


@dataclass
class Acting:
    """An attempt in progress: its messages and actions. ``values``: given to prompts."""

    episode: Episode
    settings: ActsInSteps
    values: Mapping[str, Any]
    messages: list[Message] = field(default_factory=list)
    done: list[tuple[Action, str]] = field(default_factory=list)

    @classmethod
    async def begin(cls, episode: Episode, settings: ActsInSteps, shown: Shown) -> Self:
        """The system prompt, with demonstrations, and the task, with images and preloaded inputs."""
        described = settings.controls or "metadata" in episode.offer.controls
        facts = {"metadata": (await episode.control("metadata")).data} if described else {}
        demonstrations, database = shown_tasks(episode, settings.shots), facts.get("metadata", {}).get("database", "")
        if not demonstrations and database and (settings.controls or episode.memory is not None):
            demonstrations = shown_plans(episode, database, settings.shots)
        acting = cls(episode, settings, {**vars(shown), "demonstrations": demonstrations, **facts})
        read = ("look", "inputs") if settings.preload else ("look",)
        held = "".join([await read_control(episode, name) for name in read])
        task = {"problem": episode.problem, "task": task_text(episode.problem), "held": held, **acting.values}
        acting.messages = [acting._system(), load(settings.prompts).user("problem", shown_images(episode), **task)]
        for action, seen, text in episode.past:
            acting.add(action, text, [*acting.messages, action.message, *seen])
        return acting

    def act(self, closing: bool = False) -> Coroutine[Any, Any, Action]:
        """The next action; ``closing``: nothing is offered but to end. Raises LimitReached, ModelError."""
        if closing:
            self.messages[0] = self._system(closing=True)
        sampling = Sampling(stop=tuple(self.settings.stop)) if self.settings.stop else None
        return self.episode.act(self.messages, sampling, closing)

    async def observe(self, action: Action) -> None:
        """Run an action and add its result."""
        seen = await self.episode.observe(action)
        came = [one.observation.text for one in self.episode.last.observed if not one.control]
        result = "\n".join(came if action.error is None else [message.text for message in seen])
        self.add(action, result, [*self.messages, action.message, *seen])

    def add(self, action: Action, result: str, messages: list[Message]) -> None:
        """Add an action and its result to the history; the attempt continues with ``messages``."""
        self.done.append((action, result))
        self.messages = messages

    def trial(self, outcome: Answer | Refusal | Failure) -> Trial:
        """The attempt, ended with this outcome."""
        return Trial(outcome, self.done, self.settings.as_lines)

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
        prompts, formats = load(self.settings.prompts), dict[tuple[str, ...], str]()
        shown = not closing and "formats" in names_given(prompts)
        for tool in self.episode.offer.tools.values() if shown else ():  # a pattern for each way of taking parameters
            names = tuple(tool.spec.parameters.get("properties", {}))
            filled = orjson.dumps(dict.fromkeys(names, "...")).decode()
            formats.setdefault(names, f"{tool.spec.name}[{filled}]")
        values = {"instructions": self.episode.instructions(closing), "formats": tuple(formats.values())}
        return prompts.system("system", max_steps=self.settings.max_steps, **values, **self.values)


def shown_images(episode: Episode) -> tuple[Image, ...]:
    """The images that the model itself must look at: all, unless there is a tool to ask about them."""
    if not episode.problem.images:
        return ()
    looks = any(tool.spec.facts.get("needs") == "image" for tool in episode.offer.tools.values())
    return () if looks and not episode.offer.shows_images else episode.problem.images


def blind(episode: Episode) -> bool:
    """Whether the task has images that neither the model nor a tool can look at."""
    return bool(shown_images(episode)) and not episode.sees_images


def stated_outcome(action: Action) -> Answer | Refusal | None:
    """The outcome that an action states."""
    return action.refusal if action.answer is None else Answer(action.answer)


async def read_control(episode: Episode, name: str) -> str:
    """What a control of the toolset shows, where there is one."""
    return (await episode.control(name)).text if name in episode.offer.controls else ""
