"""ReAct: reason, act, observe, until the model answers, refuses or a budget is spent.

Source: Yao et al. 2023, arXiv 2210.03629; as a baseline in Liao et al. 2024 (ReflecTool), arXiv 2410.17657.
Departures: instructions in place of demonstrations; any grammar, any toolset; steps are the budget's
matter; a last call that failed does not end the episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from components.messages import Message, Sampling
from components.prompts import load
from components.protocols import Episode
from components.types import Answer, Refusal


@dataclass(frozen=True)
class ReAct:
    """One action per step, every reply kept as the model wrote it.

    ``stop`` are strings at which an action's text ends, such as ``Observation:``; empty because some
    endpoints refuse them and the grammars do without.
    """

    prompts: str = "react"
    stop: Sequence[str] = ()

    async def solve(self, episode: Episode) -> Answer | Refusal:
        """Act and observe until there is an answer or a refusal."""
        prompts, problem = load(self.prompts), episode.problem
        sampling = Sampling(stop=tuple(self.stop))
        held = await _memory(episode, "look")
        messages = [
            prompts.system("system", instructions=episode.instructions),
            prompts.user("problem", problem.images, problem=problem, held=held),
        ]
        while True:
            action = await episode.act(messages, sampling)
            if action.refusal is not None:
                return action.refusal
            if action.answer is not None:
                return Answer(action.answer)
            messages += [action.message, *await episode.observe(action)]
            if action.last and all(one.error is None for one in episode.last.observed):
                return await self._conclude(episode, messages)

    async def _conclude(self, episode: Episode, messages: Sequence[Message]) -> Answer:
        """Answer after the last call, for grammars whose last action is not the answer."""
        held = await _memory(episode, "final")
        ask = load(self.prompts).user("conclude", problem=episode.problem, held=held)
        return Answer((await episode.ask(_continued(messages, ask), "conclude")).text)


async def _memory(episode: Episode, control: str) -> str:
    """The variables that the toolset holds, where it holds any."""
    return (await episode.control(control)).text if control in episode.offer.controls else ""


def _continued(messages: Sequence[Message], ask: Message) -> list[Message]:
    """The messages with one more of the user, joined to the last: some chat templates want roles to alternate."""
    last = messages[-1]
    if last.role != "user":
        return [*messages, ask]
    if isinstance(last.content, str) and isinstance(ask.content, str):
        return [*messages[:-1], replace(ask, content=f"{last.content}\n\n{ask.content}")]
    parts = [(part.content,) if isinstance(part.content, str) else part.content for part in (last, ask)]
    return [*messages[:-1], replace(ask, content=(*parts[0], *parts[1]))]
