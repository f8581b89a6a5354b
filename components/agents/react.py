"""ReAct (reason, act, observe, until the model answers, refuses or a budget is spent), and the agents built on it.

``ReAct``: Yao et al. 2023, arXiv 2210.03629; as a baseline in Liao et al. 2024 (ReflecTool), arXiv 2410.17657.
Departures: instructions, and demonstrations where ``shots`` asks for them; any grammar, any toolset; a last call
that failed does not end the episode; a refusal may have a tool built, with which the attempt resumes.

``ReflecTool`` is its inference (§4): step by step with what was learnt, each step checked by the verifier; the memory
is built by the stage ``optimize``, refinement and candidate selection are the verifiers ``refine`` and ``select``.
Departures: a dialogue of one message per turn in place of one growing message, so that every grammar can be used;
without demonstrations a pattern for each way of calling is in their place. ``CotSteps`` is its baseline COT, an agent
with an empty tool set and the task's inputs (schema, documents) in its prompt. An answer to a database's question may
be SQL.

``Critic`` checks a first answer with tools and corrects it: Gou et al. 2024, arXiv 2305.11738; as a baseline in
ReflecTool with one round. The original repeats until a round changes nothing, at most three times.

``Reflexion`` reflects on a trial and tries again: Shinn et al. 2023, arXiv 2303.11366; as a baseline in ReflecTool,
where the agent never learns whether it was right and always tries twice. ``oracle`` is the original: it learns it, and
stops when it is right; results of such runs are marked. ``until: sound`` is the reading of docs/papers/ehragent.md for
Shi et al. 2024 (EHRAgent), arXiv 2401.07128: a trial that failed by what the agent itself can see is repeated.
"""

from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated

from annotated_types import Ge

from components.acting.attempt import (
    Acting,
    ActsInSteps,
    Shown,
    Trial,
    blind,
    names_given,
    shown_images,
    stated_outcome,
)
from components.acting.inner_actions import INNER
from components.acting.solved import SEEDS, TASKS
from components.agents.direct import plain_answer
from components.building import BuildsTools
from components.core.errors import ConfigError, ModelError, ToolError
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
            return Trial(Failure("unsupported_input", "the model takes no images"), ())
        acting = await Acting.begin(episode, self, shown or Shown())
        for step in count(1):
            is_last = step == self.max_steps
            try:
                action = await acting.act(closing=self.force_finish and is_last)
            except ModelError as error:
                return Trial(as_failure(error), acting.chain)
            if (outcome := stated_outcome(action)) is not None:
                resumed = None if is_last else await self.resumed(episode, acting.messages, action)
                if resumed is None:
                    acting.add(action, action.answer or "OK", acting.messages)
                    return Trial(outcome, acting.chain)
                acting.add(action, "A tool was built.", resumed)
                continue
            await acting.observe(action)
            if acting.is_over(action):
                return Trial(await acting.conclude(), acting.chain)
            if is_last:
                return Trial(Failure("step_limit", f"no answer within {step} steps"), acting.chain)
        raise AssertionError("count is endless")


@dataclass(frozen=True)
class ReflecTool(ReAct):
    """One attempt that is shown ``shots`` solved tasks of its memory; the tools Plan and Think are its own."""

    prompts: PromptSetName = "reflectool"
    max_steps: Annotated[int, Ge(1)] | None = 15
    force_finish: bool = True
    shots: Annotated[int, Ge(0)] = 1

    @property
    def requirements(self) -> Requirements:
        """With Plan and Think."""
        own = super().requirements
        return replace(own, tools=(*INNER, *own.tools))


@dataclass(frozen=True)
class CotSteps(ReAct):
    """One attempt; whatever the toolset offers, only Plan and Think are there."""

    prompts: PromptSetName = "cot_steps"
    max_steps: Annotated[int, Ge(1)] | None = 15
    force_finish: bool = True
    preload: bool = True

    @property
    def requirements(self) -> Requirements:
        """Plan and Think, and nothing else."""
        return replace(super().requirements, tools=INNER, only_own_tools=True)


@dataclass(frozen=True)
class Critic(ReAct):
    """Up to ``rounds`` checks of a first answer, which the prompt set ``draft_prompts`` asks for."""

    prompts: PromptSetName = "critic"
    draft_prompts: PromptSetName = "direct"
    max_steps: Annotated[int, Ge(1)] | None = 15
    rounds: Annotated[int, Ge(1)] = 1

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """The outcome of the last check; a round that changes nothing is the last."""
        outcome: Answer | Refusal | Failure
        outcome = draft = await self._draft(episode)
        if isinstance(draft, Failure):
            return draft
        for number in range(1, self.rounds + 1):
            line = episode if number == 1 else episode.branch(f"round/{number}", tools="fresh")
            outcome = (await self.attempt(line, Shown(draft=draft.text))).outcome
            if not isinstance(outcome, Answer) or outcome.text == draft.text:
                break
            draft = outcome
        return outcome

    async def _draft(self, episode: Episode) -> Answer | Failure:
        """A first answer: the model's own or, of images that are shown to tools only, that of the first such tool.
        Where the tool fails there is none, and the checking starts from nothing."""
        if not episode.problem.images or shown_images(episode):
            return await plain_answer(episode, self.draft_prompts)
        name = episode.problem.inputs.get("image", "")
        specs = [tool.spec for tool in episode.offer.tools.values()]
        looks = [one.name for one in specs if set(one.parameters.get("properties", ())) == {"query", "image"}]
        if not looks:
            return Failure("unsupported_input", "no tool that answers questions on images is offered")
        try:
            return Answer((await episode.control(looks[0], query=episode.problem.question, image=name)).text)
        except ToolError:
            return Answer("")
