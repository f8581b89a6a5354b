"""Acting step by step until there is an answer: what ReAct, CRITIC, Reflexion and ReflecTool have in common.

Source: Yao et al. 2023 (ReAct), arXiv 2210.03629; step limit and forced finish of Liao et al. 2024
(ReflecTool), arXiv 2410.17657.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Annotated, Any, Protocol, runtime_checkable

import orjson
from annotated_types import Ge

from components.acting.action_lines import line_text
from components.acting.demonstrations import shown_plans, shown_tasks
from components.acting.solved import SEEDS, TASKS
from components.building import BuildsTools
from components.core.errors import ConfigError, ModelError
from components.core.messages import Image, Message, Sampling
from components.core.overflow import as_failure
from components.core.protocols import Agent, Episode
from components.core.task_text import Chain, action_text, task_text
from components.core.tools import Offer
from components.core.turns import continued
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
class Attempting(Protocol):
    """An agent that can try a task again, shown what it did before."""

    async def attempt(self, episode: Episode, shown: Shown | None = None) -> Trial: ...


def acting_one(agent: Agent) -> Agent:
    """The agent that can try again: of an agent that plays others the first of those, else itself."""
    others = [one for name in ("inner", "to") if (one := getattr(agent, name, None)) is not None]
    within = [acting_one(one) for one in others]
    return next((one for one in (*within, agent) if isinstance(one, Attempting)), within[0] if within else agent)


@dataclass(frozen=True)
class Acting(BuildsTools):
    """One action per step, every reply kept as the model wrote it.

    ``max_steps`` None: the budget's matter. ``force_finish``: the last step offers nothing but to end.
    ``preload``: the inputs (schema, documents) stand in the task. ``stop`` are strings at which an action's
    text ends, such as ``Observation:``; empty because some endpoints refuse them and the grammars do without.
    ``shots``: at most so many demonstrations of the memory are shown; where the control ``metadata`` describes a
    database they are of this database. ``as_lines``: what was done is written as ``Name[argument]``.
    """

    prompts: str
    max_steps: Annotated[int, Ge(1)] | None = None
    force_finish: bool = False
    preload: bool = False
    stop: Sequence[str] = field(default=())
    shots: Annotated[int, Ge(0)] = 0
    as_lines: bool = False

    @property
    def needs_controls(self) -> Sequence[str]:
        """The control that describes the database, for prompts that show it."""
        return ("metadata",) if "metadata" in _names(load(self.prompts)) else ()

    @property
    def needs_memory(self) -> str | None:
        """The memory that the demonstrations are from, where any are shown."""
        if not self.shots:
            return None
        return SEEDS if self.needs_controls else TASKS

    def fits(self, offer: Offer) -> None:
        """Raises ConfigError for demonstrations that the prompts have no place for."""
        super().fits(offer)
        if self.shots and "demonstrations" not in _names(load(self.prompts)):
            raise ConfigError(
                f"agent.shots={self.shots}: system.jinja of the prompts {self.prompts!r} shows no demonstrations;"
                " choose other prompts, or agent.shots=0"
            )

    async def attempt(self, episode: Episode, shown: Shown | None = None) -> Trial:
        """Act and observe until there is an answer, a refusal, no step left (Failure ``step_limit``) or a request that
        the model is too small for (``context_length``)."""
        if blind(episode):
            return Trial(Failure("unsupported_input", "the model takes no images"), ())
        values = await self._given(episode, shown or Shown())
        messages = [self._system(episode, values), await self._task(episode, values)]
        sampling, chain = Sampling(stop=tuple(self.stop)), list[tuple[str, str]]()
        for done in count(1):
            closing = self.force_finish and done == self.max_steps
            if closing:
                messages[0] = self._system(episode, values, closing=True)
            try:
                action = await episode.act(messages, sampling, closing)
            except ModelError as error:
                return Trial(as_failure(error), chain)
            if (outcome := _ended(action)) is not None:
                resumed = None if done == self.max_steps else await self.resumed(episode, messages, action)
                if resumed is None:
                    return Trial(outcome, (*chain, (self._did(action), action.answer or "OK")))
                chain.append((self._did(action), "A tool was built."))
                messages = resumed
                continue
            seen = await episode.observe(action)
            chain.append((self._did(action), _saw(episode, action, seen)))
            messages += [action.message, *seen]
            if action.last and all(one.error is None for one in episode.last.observed):
                return Trial(await self._conclude(episode, messages, values), chain)
            if done == self.max_steps:
                return Trial(Failure("step_limit", f"no answer within {done} steps"), chain)
        raise AssertionError("count is endless")

    async def _given(self, episode: Episode, shown: Shown) -> dict[str, Any]:
        """What the prompts are given alongside the task."""
        described = self.needs_controls or "metadata" in episode.offer.controls
        facts = {"metadata": (await episode.control("metadata")).data} if described else {}
        return {**vars(shown), "demonstrations": self._demonstrations(episode, facts), **facts}

    def _demonstrations(self, episode: Episode, facts: Mapping[str, Any]) -> Sequence[Demonstration]:
        found, database = shown_tasks(episode, self.shots), facts.get("metadata", {}).get("database", "")
        if found or not database or (episode.memory is None and not self.needs_controls):
            return found
        return shown_plans(episode, database, self.shots)

    def _did(self, action: Action) -> str:
        return line_text(action) if self.as_lines else action_text(action)

    def _system(self, episode: Episode, values: dict[str, Any], closing: bool = False) -> Message:
        instructions, formats = episode.instructions(closing), () if closing else _formats(episode.offer)
        return load(self.prompts).system(
            "system", instructions=instructions, formats=formats, max_steps=self.max_steps, **values
        )

    async def _task(self, episode: Episode, values: dict[str, Any]) -> Message:
        problem = episode.problem
        held = await held_by(episode, "look") + (await held_by(episode, "inputs") if self.preload else "")
        images = shown_images(episode)
        return load(self.prompts).user("problem", images, problem=problem, task=task_text(problem), held=held, **values)

    async def _conclude(self, episode: Episode, messages: Sequence[Message], values: dict[str, Any]) -> Answer:
        """Answer after the last call, for grammars whose last action is not the answer."""
        held = await held_by(episode, "final")
        ask = load(self.prompts).user("conclude", problem=episode.problem, held=held, **values)
        return Answer((await episode.ask(continued(messages, ask), "conclude")).text)


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


def _ended(action: Action) -> Answer | Refusal | None:
    """The outcome that an action states."""
    return action.refusal if action.answer is None else Answer(action.answer)


async def held_by(episode: Episode, name: str) -> str:
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
