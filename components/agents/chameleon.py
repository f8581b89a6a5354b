"""Chameleon: first the names of the modules in their order, then each module's input in a call of its own.

Source: Lu et al. 2023, arXiv 2304.09842, as a baseline in Shi et al. 2024 (EHRAgent), EMNLP, arXiv 2401.07128; rules of
docs/papers/ehragent.md, since the baseline's own code is not published. Departure: the modules are the tools on offer.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge

from components.acting.action_lines import FINISH, REFUSE, ActionLine, action_lines, described
from components.acting.demonstrations import Carrying, shown_plans
from components.acting.solved import SEEDS
from components.core.errors import ActionError
from components.core.protocols import Episode
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure, Refusal
from components.prompts import load

_BETWEEN = re.compile(r"[,;\n]|->")
_AROUND = " \t\r`'\"*[](){}<>.-#:0123456789"
_LABEL = re.compile(r"(?<!\s)\s*+(?:plan|modules)\s*+:", re.IGNORECASE)


@dataclass(frozen=True)
class Chameleon:
    """Plans names, below at most ``shots`` solved questions, then fills in one after the other; nothing is tried again
    or planned again. The answer is that of ``Finish``, else the last result."""

    prompts: PromptSetName = "chameleon"
    max_steps: Annotated[int, Ge(1)] = 10
    shots: Annotated[int, Ge(0)] = 4

    @property
    def requirements(self) -> Requirements:
        """The description of the database, and the memory that the solved questions are from, where any are shown."""
        memory = SEEDS if self.shots else None
        return Requirements(controls=("metadata",), memory=memory, shots=self.shots)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Plan, then fill in and run module after module."""
        prompts, offer = load(self.prompts), episode.offer
        metadata = (await episode.control("metadata")).data
        values: dict[str, Any] = {
            "actions": described(offer.tools), "demonstrations": shown_plans(episode, metadata["database"], self.shots),
            "question": episode.problem.question, "refusal_fields": offer.refusal_fields, "max_steps": self.max_steps,
        }  # fmt: skip
        system = prompts.system("system", metadata=metadata)
        reply = await episode.ask([system, prompts.user("plan", **values)], "plan")
        try:
            plan = modules_of(reply.text, {*offer.tools, FINISH, *([REFUSE] if offer.may_refuse else [])})
        except ActionError as error:
            return Failure(error.label, str(error))
        episode.remark(label=f"plan: {', '.join(plan)}")
        carrying = Carrying(episode)
        for name in plan[: self.max_steps]:
            ask = prompts.user("module", name=name, plan=plan, done=carrying.done, **values)
            reply = await episode.ask([system, ask], "act")
            if (outcome := await carrying.run(written_for(name, reply.text), reply)) is not None:
                return outcome
        if len(plan) > self.max_steps:
            return Failure("step_limit", f"no answer within {self.max_steps} modules")
        return carrying.last_result()


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
