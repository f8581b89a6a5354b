"""RadABench's agent: plan, execute call by call from a shared memory, conclude.

Source: Zheng et al. 2024, arXiv 2412.09529, and the reference implementation (MAGIC-AI4Med/RadABench,
January 2025). PLAN, START_MEMORY, STEP*, then a refusal, a failure, or [VALIDATE] and CONCLUDE. A failed
step ends the episode; nothing is retried. Departures in profile ``paper``: the real planning reply stays
in the conversation, the query comes with the patient's information, and there is a step limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from components.building import BuildsTools, beside_memory
from components.errors import ToolError
from components.messages import Message
from components.prompts import load
from components.protocols import Episode
from components.radiology.switches import Switches
from components.turns import continued
from components.types import Answer, Failure, Refusal


@dataclass(frozen=True)
class Radagent(BuildsTools):
    """The three-phase agent over a toolset with a value memory (controls ``start``, ``look``, ``final``)."""

    switches: Switches
    prompts: str = "radagent"
    needs_controls: ClassVar[Sequence[str]] = ("start", "look", "final")

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Plan, start the memory, execute, conclude."""
        prompts, problem = load(self.prompts), episode.problem
        context = problem.context if self.switches.patient_info_in_plan else ""
        query = prompts.user("query", problem.images, question=problem.question, context=context)
        planning = [prompts.system("plan"), query]
        plan = await episode.ask(planning, "plan")
        try:
            start = await episode.control("start", plan=plan.text)
        except ToolError as error:
            return Failure(error.label, str(error))
        if not self.switches.real_plan_reply:
            plan = prompts.assistant("plan_echo", memory=start.text, plan=start.data.get("plan"))
        tools = prompts.user("tools", instructions=episode.instructions())
        return await self._execute(episode, [*planning, plan, tools, prompts.assistant("ready")])

    async def _execute(self, episode: Episode, messages: list[Message]) -> Answer | Refusal | Failure:
        """Call tools until the last call, a refusal or a failure."""
        prompts = load(self.prompts)
        for done in count():
            if done == self.switches.max_steps:
                return Failure("step_limit", f"no last call within {done} steps")
            memory = await episode.control("look")
            turn = continued(messages, prompts.user("step", memory=memory.text))
            action = await episode.act(turn)
            if action.error is not None:
                return Failure(action.error, action.error_text)
            if action.refusal is not None:
                if (resumed := await self.resumed(episode, turn, action)) is None:
                    return action.refusal
                messages = resumed
                continue
            seen = await episode.observe(action)
            for one in episode.last.observed:
                if one.error is not None:
                    return Failure(one.error, one.observation.text)
            # Text grammars read results from the memory; native calls must each be answered.
            messages = [*turn, action.message, *beside_memory(episode, seen)]
            if action.last or action.answer is not None:
                break
        return await self._conclude(episode, messages)

    async def _conclude(self, episode: Episode, messages: list[Message]) -> Answer:
        """Validate where the offer asks for it, then answer from the final memory."""
        prompts = load(self.prompts)
        if episode.offer.validates:
            await episode.ask([*messages, prompts.user("validate")], "validate")
        memory = await episode.control("final")
        reply = await episode.ask([*messages, prompts.user("conclude", memory=memory.text)], "conclude")
        return Answer(reply.text)
