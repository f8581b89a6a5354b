"""Chain of thought: reason first, then a marked answer, one call.

Source: Kojima et al. 2022, arXiv 2205.11916. Departure: the prompt gives instructions of the project, and one call asks
for reasoning and answer. The published form, a trigger alone and a second call, is ``components.agents.zero_shot``.
"""

from dataclasses import dataclass

from components.agents.direct import plain_answer
from components.core.protocols import Episode
from components.core.traits import PromptSetName
from components.core.types import Answer, Failure


@dataclass(frozen=True)
class Cot:
    """Asks once for reasoning and a last line that is marked as the answer."""

    prompts: PromptSetName = "cot"

    async def solve(self, episode: Episode) -> Answer | Failure:
        """Ask; only what follows the mark counts, the reasoning does not."""
        return await plain_answer(episode, self.prompts)
