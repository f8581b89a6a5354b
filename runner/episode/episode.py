"""The episode as an agent sees it: all that an agent does is recorded, charged and verified here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from components.core.concurrency import together
from components.core.errors import ActionError, LimitReached, ModelError
from components.core.messages import Message, Purpose, Sampling, ToolCall
from components.core.protocols import Agent
from components.core.task_text import written_out
from components.core.tools import Offer
from components.core.types import Action, Answer, Failure, Observation, Observed, Refusal, Trajectory, Verdict
from runner.episode.calls import run_calls, try_calls, use_control
from runner.episode.ending import decisive, ended, give_up
from runner.episode.shared import Branch, Shared


async def solve(shared: Shared) -> None:
    """Let the agent solve the sample, and write its outcome into the trajectory."""
    trajectory, offer = shared.trajectory, shared.open()
    trajectory.offered = tuple(tool.spec for tool in offer.tools.values())
    trajectory.facts = offer.facts
    try:
        ended(trajectory, await shared.parts.agent.solve(Episode(shared, offer)))
    except BaseExceptionGroup as group:  # of an agent that works on several lines at once
        give_up(trajectory, decisive(group))
    except (LimitReached, ModelError) as error:
        give_up(trajectory, error)
    finally:
        shared.close()


class Episode(Branch):
    """One attempt at one sample, or a branch of it (see ``components.core.protocols.Episode``)."""

    async def act(self, messages: Sequence[Message], sampling: Sampling | None = None, closing: bool = False) -> Action:
        """Ask for an action and have it verified. Raises LimitReached, ModelError."""
        shared = self.shared
        self.attempt.act(shared.parts.budget.steps)
        self._closing, self._proposed = closing, []
        propose = Proposals(self, messages, sampling or Sampling())
        chosen = await shared.parts.verifier.choose(messages, propose, self)
        for step in self._proposed:
            step.committed = step.action is chosen
            self._last = step if step.committed else self._last
        return chosen

    async def suggest(
        self, messages: Sequence[Message], sampling: Sampling | None = None, role: str = "verifier",
        purpose: Purpose = "verify", admitted: bool = False,
    ) -> Action:  # fmt: skip
        """Ask for an action that may take a proposal's place. Raises LimitReached, ModelError."""
        specs = self.shared.parts.grammar.specs(self._shown(self._closing))
        step = await self._call(messages, purpose, sampling, role, specs, admitted)
        action = self.parse(step.reply)
        step.action = written_out(action) if purpose == "verify" else action
        self._proposed.append(step)
        return step.action

    async def observe(self, action: Action) -> list[Message]:
        """Run the action's calls; an unreadable action is answered with the reason."""
        render = self.shared.parts.grammar.render
        if action.error is not None:
            text = f"Your reply could not be read: {action.error_text}."
            calls = action.message.tool_calls or (ToolCall("call", "", ""),)
            return [render(call, Observation(text)) for call in calls]
        step = self.shared.step_of(action) or self._last
        n = -1 if step is None else step.index
        observed = self.shared.tried.pop(id(action), None) or await run_calls(self, n, action.calls, self.offer)
        if step is not None:
            step.observed += observed
        return [render(one.call, one.observation) for one in observed]

    async def try_(self, action: Action) -> list[Observation] | None:
        """Run the action on a fork of the offer; None when one of its tools cannot be tried."""
        return await try_calls(self, action)

    def note(self, action: Action, verdict: Verdict | str) -> None:
        """Write the verifier's verdict to the step that proposed an action."""
        self.shared.note(action, verdict)

    async def control(self, name: str, /, **arguments: Any) -> Observation:
        """Use a control of the offer, or a tool as one. Raises ToolError."""
        observation = await use_control(self, name, arguments)
        if self._last is not None and observation.data:
            # The text of a control reaches the model in prompts, which are recorded; its facts only here.
            facts = Observation("", observation.data)
            self._last.observed.append(Observed(ToolCall("control", name, ""), facts, control=True))
        return observation

    def instructions(self, closing: bool = False) -> str:
        """How to act in the experiment's grammar, with the cards of the tools; ``closing``: only how to end."""
        if (key := (closing, len(self.offer.tools))) not in self._instructions:
            self._instructions[key] = self.shared.parts.grammar.instructions(self._shown(closing))
        return self._instructions[key]

    def _shown(self, closing: bool) -> Offer:
        return replace(self.offer, tools={}) if closing else self.offer

    def parse(self, message: Message) -> Action:
        """Read a message; an unreadable one is an action with ``error``."""
        try:
            return self.shared.parts.grammar.parse(message, self.offer)
        except ActionError as error:
            return Action(message, error=error.label, error_text=str(error))

    def lines(self, names: Sequence[str], sampling: Sampling | None = None) -> "Sequence[Episode]":
        """Branches that work at once, each with fresh tools and a share of what is left. Raises LimitReached."""
        shares = self.attempt.shares(len(names))
        return [self.branch(name, "fresh", sampling, None, one) for name, one in zip(names, shares, strict=True)]

    async def beside(self, agent: Agent) -> Trajectory:
        """The trajectory of another agent on this sample in a separate episode, not charged here."""
        shared, trajectory = self.shared, Trajectory()
        parts = replace(shared.parts, agent=agent)
        await solve(Shared(parts, shared.door, shared.sample, shared.epoch, trajectory))
        shared.door.beside += len(trajectory.steps)
        return trajectory

    async def correct(self, outcome: Answer | Refusal | Failure) -> bool:
        """Whether an outcome is right: only for agents with a true ``oracle``, which results name."""
        return await self.shared.correct(outcome)

    def remark(self, **facts: Any) -> None:
        """Write facts to the newest step of this branch."""
        if self._last is not None:
            self._last.remarks.update(facts)


class Proposals:
    """Proposals of the next action, for a verifier (see ``components.core.protocols.Propose``)."""

    def __init__(self, episode: Episode, messages: Sequence[Message], sampling: Sampling) -> None:
        self._episode, self._messages, self._sampling = episode, messages, sampling

    async def __call__(self, sampling: Sampling | None = None) -> Action:
        """One more proposal."""
        self._episode.attempt.admit()
        return await self._ask(sampling)

    async def at_once(self, n: int, sampling: Sampling | None = None) -> list[Action]:
        """``n`` proposals together: the budget has room for all or none is asked, and all are completed."""
        self._episode.attempt.admit(n)
        return await together(self._ask(sampling) for _ in range(n))

    async def _ask(self, sampling: Sampling | None) -> Action:
        sampling = self._sampling.merged(sampling)
        return await self._episode.suggest(self._messages, sampling, "main", "act", admitted=True)
