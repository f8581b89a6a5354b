"""Zero-shot prompting, plain or with a chain of thought.

Source: Kojima et al. 2022, NeurIPS, arXiv 2205.11916, as baselines in Tang et al. 2024 (MedAgents), arXiv 2311.10537:
the question as "Q:", then "A:" and a trigger, no instruction. It ends with "The answer is", for chain of thought with
"Let's think step by step"; a second call shows the question, the trigger and the reasoning, and extracts the answer.
MedAgents cites this method and names no change to it; its code asks once and reads the reply (profile ``code``).
Departures: options are one per line, and the letters that the extraction names are those of the question.
"""

from dataclasses import dataclass
from typing import ClassVar

from components.agents.direct import plain_answer, plain_reply
from components.core.errors import ConfigError
from components.core.protocols import Episode
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure
from components.text.answers import after_lead


@dataclass(frozen=True)
class ZeroShot:
    """``reason``: with the trigger that asks for reasoning. ``extract``: a second call reads the answer out of it.
    Raises ConfigError for ``extract`` without ``reason``."""

    requirements: ClassVar[Requirements] = Requirements(acts="never")
    prompts: PromptSetName = "zero_shot"
    reason: bool = False
    extract: bool = False

    def __post_init__(self) -> None:
        if self.extract and not self.reason:
            raise ConfigError("extract=true reads the answer out of reasoning, and reason is false: set reason=true")

    async def solve(self, episode: Episode) -> Answer | Failure:
        """Ask once, or once more for the answer; only the last reply counts."""
        reasoning = None
        if self.extract:
            reasoning = await plain_reply(episode, self.prompts, reason=True, reasoning=None)
            if isinstance(reasoning, Failure):
                return reasoning
        return await plain_answer(episode, self.prompts, after_lead, reason=self.reason, reasoning=reasoning)
