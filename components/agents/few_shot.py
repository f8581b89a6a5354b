"""Few-shot prompting, with answers alone or with rationales.

Source: Brown et al. 2020, arXiv 2005.14165, and Wei et al. 2022, arXiv 2201.11903 (with rationales), as baselines in
Tang et al. 2024 (MedAgents), arXiv 2311.10537: solved examples as "Q: ... A: The answer is ..." with the rationale
before these words, and nothing else instructs the model. Departure: the examples and their rationales are the
project's choice (docs/papers/medagents.md §2), not the published lists.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from components.acting.examples import Example, fitting_examples
from components.agents.direct import plain_answer
from components.core.errors import ConfigError
from components.core.protocols import Episode
from components.core.task_text import task_text
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure
from components.text.answers import after_lead


@dataclass(frozen=True)
class FewShot:
    """Asks once, below at most ``shots`` examples of the memory: with as many options as the problem first. ``reason``:
    examples show their rationale (those without are left out) and the model reasons too. Which examples were shown is
    remarked on the step. Raises ConfigError without a memory that holds such examples."""

    requirements: ClassVar[Requirements] = Requirements(memory="examples", acts="never")

    prompts: PromptSetName = "few_shot"
    shots: Annotated[int, Ge(1)] = 5
    reason: bool = False

    async def solve(self, episode: Episode) -> Answer | Failure:
        """Ask; only what follows the words "The answer is" counts, where the reply has them."""
        problem, memory, shots = episode.problem, episode.memory, list[Example]()
        found = [] if memory is None else memory.search(task_text(problem))
        for own in (False, True):  # those of the training split, else the project's own
            rows = [one.data["example"] for one in found if "example" in one.data and one.data["own"] is own]
            pool = [one for one in (Example(**row) for row in rows) if one.rationale or not self.reason]
            shots = shots or list(fitting_examples(problem, pool)[: self.shots])
        if not shots:
            raise ConfigError(f"FewShot: the memory holds no example that fits {problem.id!r}; choose memory=examples")
        answer = await plain_answer(episode, self.prompts, after_lead, shots=shots, reason=self.reason)
        if isinstance(answer, Answer):
            episode.remark(examples=[one.id for one in shots])
        return answer
