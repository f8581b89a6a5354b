"""Plans that are made before anything is seen, then carried out without repair: Chameleon, and one call of CoT.

Chameleon (Lu et al. 2023, arXiv 2304.09842) first names the modules in their order, then writes each module's input in
a call of its own; chain of thought (Wei et al. 2022, arXiv 2201.11903) writes thoughts and the whole list of actions in
one call. Both as baselines in Shi et al. 2024 (EHRAgent), EMNLP, arXiv 2401.07128; rules of docs/papers/ehragent.md,
since the baselines' own code is not published. Departure: the modules are the tools on offer.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge

from components.acting.action_lines import FINISH, REFUSE, ActionLine, action_lines, describe_tools
from components.acting.demonstrations import PlanRun, shown_plans
from components.acting.solved import ShowsSolved
from components.core.errors import ActionError
from components.core.protocols import Episode
from components.core.traits import PromptSetName
from components.core.types import Answer, Failure, Refusal
from components.prompts import load

_BETWEEN = re.compile(r"[,;\n]|->")
_AROUND = " \t\r`'\"*[](){}<>.-#:0123456789"
_LABEL = re.compile(r"(?<!\s)\s*+(?:plan|modules)\s*+:", re.IGNORECASE)


@dataclass(frozen=True)
class Planned(ShowsSolved):
    """Ends with the first action that fails, and with the ``max_steps``-th. The answer is that of ``Finish``, else the
    last result."""

    prompts: PromptSetName
    max_steps: Annotated[int, Ge(1)] = 10

    async def values(self, episode: Episode) -> dict[str, Any]:
        """What prompts are given."""
        metadata = (await episode.control("metadata")).data
        return {
            "metadata": metadata, "actions": describe_tools(episode.offer.tools), "max_steps": self.max_steps,
            "demonstrations": shown_plans(episode, metadata["database"], self.shots),
            "question": episode.problem.question, "refusal_fields": episode.offer.refusal_fields,
        }  # fmt: skip


@dataclass(frozen=True)
class CotPlan(Planned):
    """Plans thoughts and actions in one call."""

    prompts: PromptSetName = "cot_plan"

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Plan, then act."""
        prompts, values = load(self.prompts), await self.values(episode)
        question = values.pop("question")
        reply = await episode.ask(
            [prompts.system("system", **values), prompts.user("problem", question=question)], "plan"
        )
        plan = list(action_lines(reply.text))
        episode.remark(label=f"plan: {', '.join(line.name for line in plan) or 'unreadable'}")
        if not plan:
            return Failure("unparsable_reply", "the plan holds no action")
        run = PlanRun(episode)
        for line in plan[: self.max_steps]:
            if (outcome := await run.act(line, reply)) is not None:
                return outcome
        if len(plan) > self.max_steps:
            return Failure("step_limit", f"no answer within {self.max_steps} actions")
        return run.last_result()


@dataclass(frozen=True)
class Chameleon(Planned):
    """Plans names, then fills in one after the other; nothing is tried or planned again."""

    prompts: PromptSetName = "chameleon"

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Plan, then fill in and run module after module."""
        prompts, values, offer = load(self.prompts), await self.values(episode), episode.offer
        system = prompts.system("system", metadata=values.pop("metadata"))
        reply = await episode.ask([system, prompts.user("plan", **values)], "plan")
        try:
            plan = modules_of(reply.text, {*offer.tools, FINISH, *([REFUSE] if offer.may_refuse else [])})
        except ActionError as error:
            return Failure(error.label, str(error))
        episode.remark(label=f"plan: {', '.join(plan)}")
        run = PlanRun(episode)
        for name in plan[: self.max_steps]:
            ask = prompts.user("module", name=name, plan=plan, done=run.done, **values)
            reply = await episode.ask([system, ask], "act")
            if (outcome := await run.act(written_for(name, reply.text), reply)) is not None:
                return outcome
        if len(plan) > self.max_steps:
            return Failure("step_limit", f"no answer within {self.max_steps} modules")
        return run.last_result()


def modules_of(text: str, known: Collection[str]) -> list[str]:
    """The modules that a plan names, in their order. Raises ActionError where it names none, or one that is unknown."""
    parts = [part.strip(_AROUND) for part in _BETWEEN.split(_LABEL.sub("", text, count=1))]
    names = [part for part in parts if part]
    if not names:
        raise ActionError("the plan names no module")
    if lacking := [name for name in names if name not in known]:
        raise ActionError(f"the plan names {lacking[0]!r:.80}, which is no module", "unknown_tool")
    return names


def written_for(name: str, text: str) -> ActionLine:
    """The action that a reply writes for a module: the line that names it, else the whole reply as its argument."""
    found = next((line for line in action_lines(text) if line.name == name), None)
    return found or ActionLine(name, text.strip().strip("`").strip(), len(text))
