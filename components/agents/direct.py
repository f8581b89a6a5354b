"""Direct prompting and chain of thought: one prompt, one answer, without tools.

Source: the plain LLM and MLLM rows of Liao et al. 2024 (ReflecTool), arXiv 2410.17657: schema or documents are in the
prompt, images are passed to the model, by instructions of the project. ``Cot`` is chain of thought (Kojima et al. 2022,
arXiv 2205.11916). Departure: one call asks for reasoning and answer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from components.core.protocols import Episode
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure
from components.prompts import load
from components.text.answers import after_mark, chosen


@dataclass(frozen=True)
class Direct:
    """Asks once, without tools and without reasoning."""

    requirements: ClassVar[Requirements] = Requirements(acts="never")
    prompts: PromptSetName = "direct"

    async def solve(self, episode: Episode) -> Answer | Failure:
        """Ask; Failure ``unsupported_input`` where the model cannot look at the task's images."""
        return await plain_answer(episode, self.prompts)


@dataclass(frozen=True)
class Cot(Direct):
    """Asks once for reasoning and a last line that is marked as the answer; only what follows the mark counts."""

    prompts: PromptSetName = "cot"


async def plain_answer(
    episode: Episode, prompts: str, read: Callable[[str], str] = after_mark, **shown: Any
) -> Answer | Failure:
    """The answer of one call: of a choice the rest of the marked line unless more of it counts, else what ``read``
    finds in the reply."""
    reply = await plain_reply(episode, prompts, **shown)
    if isinstance(reply, Failure):
        return reply
    problem = episode.problem
    return Answer(chosen(reply, problem.choices) if problem.choices else read(reply))


async def plain_reply(episode: Episode, prompts: str, **shown: Any) -> str | Failure:
    """The reply to the prompt set's template ``problem``, which is given the problem and what else is ``shown``."""
    problem = episode.problem
    if problem.images and not episode.sees_images:
        return Failure("unsupported_input", "the model takes no images")
    held = (await episode.control("inputs")).text if "inputs" in episode.offer.controls else ""
    ask = load(prompts).user("problem", problem.images, problem=problem, held=held, **shown)
    return (await episode.ask([ask], "answer")).text
