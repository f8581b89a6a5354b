"""Plans that are made before anything is seen, then carried out without repair: Chameleon, and one call of CoT.

Chameleon (Lu et al. 2023, arXiv 2304.09842) first names the modules in their order, then writes each module's input in
a call of its own; chain of thought (Wei et al. 2022, arXiv 2201.11903) writes thoughts and the whole list of actions in
one call. Both as baselines in Shi et al. 2024 (EHRAgent), EMNLP, arXiv 2401.07128; rules of docs/papers/ehragent.md,
since the baselines' own code is not published. Departure: the modules are the tools on offer.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Annotated, Any

from annotated_types import Ge

from components.acting.arguments import ActionLine, action_lines, call_of, describe_tools
from components.acting.solved import REFERENCE, ShowsSolved, shown_plans
from components.core.errors import ActionError
from components.core.messages import Message
from components.core.protocols import Episode
from components.core.task_text import FINISH, REFUSE
from components.core.traits import PromptSetName
from components.core.types import Action, Answer, Failure, Refusal
from components.prompts import load

_BETWEEN = re.compile(r"[,;\n]|->")
_AROUND = " \t\r`'\"*[](){}<>.-#:0123456789"
_LABEL = re.compile(r"(?<!\s)\s*+(?:plan|modules)\s*+:", re.IGNORECASE)
_FAILED = "plan_failed"


@dataclass
class PlanRun:
    """The executed part of a plan: each action as it was run, and its result (None: too long to be passed on)."""

    episode: Episode
    done: list[tuple[str, str]] = field(default_factory=list)
    results: list[str | None] = field(default_factory=list)

    async def act(self, line: ActionLine, reply: Message) -> Answer | Refusal | Failure | None:
        """Run the next action, which is in ``reply``; what it returns ends the plan."""
        try:
            argument = None if line.argument is None else self._filled(line.argument)
            call = call_of(line.name, argument, self.episode.offer.tools)
        except ActionError as error:
            return self._failed(line, str(error))
        if line.name == FINISH:
            return Answer(argument or "")
        if line.name == REFUSE and self.episode.offer.may_refuse:
            action = self.episode.parse(Message("assistant", " ".join(line.text.split())))
            return action.refusal or self._failed(line, action.error_text)
        await self.episode.observe(Action(reply, calls=(call,)))
        seen = self.episode.last.observed[-1]
        if seen.error is not None:
            return self._failed(line, f"{seen.error}: {seen.observation.text}")
        self.done.append((f"{line.name}[{argument}]", seen.observation.text))
        result = seen.observation.data.get("value", seen.observation.text)
        self.results.append(result if result is None else str(result))
        return None

    def last_result(self) -> Answer | Failure:
        """The result of the last action, as the answer of a plan that does not say its own."""
        if not self.results or self.results[-1] is None:
            return Failure(_FAILED, "the plan ends without a result that could be an answer")
        return Answer(self.results[-1])

    def _filled(self, argument: str) -> str:
        """The argument with results in the place of references to them. Raises ActionError."""
        for k in map(int, REFERENCE.findall(argument)):
            if not 1 <= k <= len(self.results):
                raise ActionError(f"it uses the result #{k}, and {len(self.results)} actions stand before it")
            if self.results[k - 1] is None:
                raise ActionError(f"the result #{k} is too long to be handed on")
        return REFERENCE.sub(lambda match: str(self.results[int(match[1]) - 1]), argument)

    def _failed(self, line: ActionLine, why: str) -> Failure:
        return Failure(_FAILED, f"action {len(self.results) + 1}, {line.name}: {why}")


@dataclass(frozen=True)
class Planned(ShowsSolved):
    """Ends with the first action that fails, or the ``max_steps``-th; answers with ``Finish``, else the last result."""

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
        messages = [prompts.system("system", **values), prompts.user("problem", question=question)]
        reply = await episode.ask(messages, "plan")
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
            lines = [line for line in action_lines(reply.text) if line.name == name]
            whole = ActionLine(name, reply.text.strip().strip("`").strip(), len(reply.text))
            if (outcome := await run.act(lines[0] if lines else whole, reply)) is not None:
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
