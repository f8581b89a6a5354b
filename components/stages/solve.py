"""Solving training questions one after the other, each shown those that were solved before it.

Source: the long-term memory of Shi et al. 2024 (EHRAgent), arXiv 2401.07128. Departure: on training questions,
where gold answers may be used, in place of the questions that are evaluated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from annotated_types import Ge

from components.acting.solved import FILE, SolvedQuestions, learnt_in, own_seeds
from components.core.learning import Practice
from components.core.traits import PromptSetName
from components.core.types import Sample


@dataclass(frozen=True)
class Solve:
    """Writes ``solved.json``: what the agent solved rightly; it begins with the first ``shots`` demonstrations."""

    shots: Annotated[int, Ge(0)] = 4
    prompts: PromptSetName = "ehr_demonstrations"

    async def run(self, practice: Practice, samples: Sequence[Sample]) -> Mapping[str, Any]:
        """Solve, in the order of the samples. Raises ConfigError for a prompt set without demonstrations."""
        memory = SolvedQuestions("", own_seeds(self.prompts, self.shots), "gold")
        learnt: list[Mapping[str, Any]] = []
        for sample in samples:
            memory.hold(learnt)
            played = await practice.play(sample, practice.agent.solve, memory)
            learnt += learnt_in(played.trajectory)
        memory.hold(learnt)
        return {FILE: [asdict(one) for one in memory.grown]}
