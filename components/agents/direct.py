"""Direct prompting: the problem in, the answer out, one call.

Source: the zero-shot baseline of Tang et al. 2024 (MedAgents), arXiv 2311.10537, and the plain LLM and MLLM
rows of Liao et al. 2024 (ReflecTool), arXiv 2410.17657: schema or documents stand in the prompt, images are
passed to the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.answers import after_mark, chosen
from components.prompts import load
from components.protocols import Episode
from components.types import Answer, Failure


@dataclass(frozen=True)
class Direct:
    """Asks once, without tools and without reasoning."""

    prompts: str = "direct"

    async def solve(self, episode: Episode) -> Answer | Failure:
        """Ask; Failure ``unsupported_input`` where the model cannot look at the task's images."""
        return await plain_answer(episode, self.prompts)


async def plain_answer(episode: Episode, prompts: str, **shown: Any) -> Answer | Failure:
    """The answer of one call: what follows the mark, of a choice the rest of its line unless more of it counts.

    ``shown``: what else the prompt set's template ``problem`` is given.
    """
    problem = episode.problem
    if problem.images and not episode.sees_images:
        return Failure("unsupported_input", "the model takes no images")
    held = (await episode.control("inputs")).text if "inputs" in episode.offer.controls else ""
    ask = load(prompts).user("problem", problem.images, problem=problem, held=held, **shown)
    reply = (await episode.ask([ask], "answer")).text
    return Answer(chosen(reply, problem.choices) if problem.choices else after_mark(reply))
