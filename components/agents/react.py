"""ReAct: reason, act, observe until the model answers, refuses or a budget is spent.

Source: Yao et al. 2023, arXiv 2210.03629; as a baseline in Liao et al. 2024 (ReflecTool), arXiv 2410.17657. Departures:
instructions, and demonstrations where ``shots`` asks for them; any grammar, any toolset; a last call that failed does
not end the episode; a refusal may have a tool built, with which the attempt resumes.
"""

from dataclasses import dataclass, replace
from itertools import count

from components.acting.attempt import Acting, ActsInSteps, Shown, Trial, blind, names_given, stated_outcome
from components.acting.solved import SEEDS, TASKS
from components.building import BuildsTools
from components.core.errors import ConfigError, ModelError
from components.core.protocols import Episode
from components.core.tools import Offer
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure, Refusal, as_failure
from components.prompts import load


@dataclass(frozen=True)
class ReAct(ActsInSteps, BuildsTools):
    """One attempt at the task."""

    prompts: PromptSetName = "react"

    @property
    def requirements(self) -> Requirements:
        """The memory that demonstrations are from, the control that describes a database, and the tool builder."""
        memory = (SEEDS if self.controls else TASKS) if self.shots else None
        own = super().requirements
        return replace(own, controls=self.controls, memory=memory, shots=self.shots, accepts=self.check_offer)

    def check_offer(self, offer: Offer) -> None:
        """Raises ConfigError where tools cannot be built, or demonstrations cannot be shown."""
        super().check_offer(offer)
        if self.shots and "demonstrations" not in names_given(load(self.prompts)):
            raise ConfigError(
                f"agent.shots={self.shots}: system.jinja of the prompts {self.prompts!r} shows no demonstrations;"
                " choose other prompts, or agent.shots=0"
            )

    async def solve(self, episode: Episode) -> Answer | Failure | Refusal:
        """The outcome of one attempt."""
        return (await self.attempt(episode)).outcome

    async def attempt(self, episode: Episode, shown: Shown | None = None) -> Trial:
        """Act and observe until there is an answer, a refusal, no step left (Failure ``step_limit``) or a request that
        the model is too small for (``context_length``)."""
        if blind(episode):
            return Trial(Failure("unsupported_input", "the model takes no images"))
        acting = await Acting.begin(episode, self, shown or Shown())
        for step in count(1):
            is_last = step == self.max_steps
            try:
                action = await acting.act(closing=self.force_finish and is_last)
            except ModelError as error:
                return acting.trial(as_failure(error))
            if (outcome := stated_outcome(action)) is not None:
                resumed = None if is_last else await self.resumed(episode, acting.messages, action)
                if resumed is None:
                    acting.add(action, action.answer or "OK", acting.messages)
                    return acting.trial(outcome)
                acting.add(action, "A tool was built.", resumed)
                continue
            await acting.observe(action)
            if acting.is_over(action):
                return acting.trial(await acting.conclude())
            if is_last:
                return acting.trial(Failure("step_limit", f"no answer within {step} steps"))
        raise AssertionError("count is endless")
