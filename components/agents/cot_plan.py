"""Chain of thought as an open plan: one call writes thoughts and the whole list of actions, which is then run.

Source: Wei et al. 2022, arXiv 2201.11903, as a baseline in Shi et al. 2024 (EHRAgent), EMNLP, arXiv 2401.07128; rules
of docs/papers/ehragent.md, since the baseline's own code is not published.
"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from components.acting.action_lines import action_lines, described
from components.acting.demonstrations import Carrying, shown_plans
from components.acting.solved import SEEDS
from components.core.protocols import Episode
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure, Refusal
from components.prompts import load


@dataclass(frozen=True)
class CotPlan:
    """Plans once, below at most ``shots`` solved questions; the first action that fails ends the run, as does the
    ``max_steps``-th. The answer is that of ``Finish``, else the last result."""

    prompts: PromptSetName = "cot_plan"
    max_steps: Annotated[int, Ge(1)] = 10
    shots: Annotated[int, Ge(0)] = 4

    @property
    def requirements(self) -> Requirements:
        """The description of the database, and the memory that the solved questions are from, where any are shown."""
        memory = SEEDS if self.shots else None
        return Requirements(controls=("metadata",), memory=memory, shots=self.shots)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Plan, then act."""
        prompts, offer = load(self.prompts), episode.offer
        metadata = (await episode.control("metadata")).data
        shown = {"demonstrations": shown_plans(episode, metadata["database"], self.shots), "max_steps": self.max_steps}
        system = prompts.system(
            "system", metadata=metadata, actions=described(offer.tools), refusal_fields=offer.refusal_fields, **shown
        )
        reply = await episode.ask([system, prompts.user("problem", question=episode.problem.question)], "plan")
        plan = list(action_lines(reply.text))
        episode.remark(label=f"plan: {', '.join(line.name for line in plan) or 'unreadable'}")
        if not plan:
            return Failure("unparsable_reply", "the plan holds no action")
        carrying = Carrying(episode)
        for line in plan[: self.max_steps]:
            if (outcome := await carrying.run(line, reply)) is not None:
                return outcome
        if len(plan) > self.max_steps:
            return Failure("step_limit", f"no answer within {self.max_steps} actions")
        return carrying.last_result()
