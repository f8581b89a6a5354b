"""One prompt, one answer, without tools: direct prompting, chain of thought, zero-shot triggers, few-shot examples.

``Direct`` and ``Cot``: the plain LLM and MLLM rows of Liao et al. 2024 (ReflecTool), arXiv 2410.17657: schema or
documents are in the prompt, images are passed to the model, by instructions of the project. ``Cot`` is chain of thought
(Kojima et al. 2022, arXiv 2205.11916). Departure: one call asks for reasoning and answer.

``ZeroShot``: Kojima et al. 2022, NeurIPS, arXiv 2205.11916, as baselines in Tang et al. 2024 (MedAgents), arXiv
2311.10537: the question as "Q:", then "A:" and a trigger, no instruction. It ends with "The answer is", for chain of
thought with "Let's think step by step"; a second call shows the question, the trigger and the reasoning, and extracts
the answer. MedAgents cites this method and names no change to it; its code asks once and reads the reply (profile
``code``). Departures: options are one per line, and the letters that the extraction names are those of the question.

``FewShot``: Brown et al. 2020, arXiv 2005.14165, and Wei et al. 2022, arXiv 2201.11903 (with rationales), as baselines
in MedAgents: solved examples as "Q: ... A: The answer is ..." with the rationale before these words, and nothing else
instructs the model. Departure: the examples and their rationales are the project's choice (docs/papers/medagents.md
§2), not the published lists.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Ge

from components.acting.demonstrations import Example, fitting
from components.core.errors import ConfigError
from components.core.protocols import Episode
from components.core.task_text import task_text
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure
from components.prompts import load
from components.text.answers import after_lead, after_mark, chosen


@dataclass(frozen=True)
class Direct:
    """Asks once, without tools and without reasoning."""

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


@dataclass(frozen=True)
class ZeroShot:
    """``reason``: with the trigger that asks for reasoning. ``extract``: a second call reads the answer out of it.
    Raises ConfigError for ``extract`` without ``reason``."""

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


@dataclass(frozen=True)
class FewShot:
    """Asks once, below at most ``shots`` examples of the memory: with as many options as the problem first. ``reason``:
    examples show their rationale (those without are left out) and the model reasons too. Which examples were shown is
    remarked on the step. Raises ConfigError without a memory that holds such examples."""

    requirements: ClassVar[Requirements] = Requirements(memory="examples")

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
            shots = shots or list(fitting(problem, pool)[: self.shots])
        if not shots:
            raise ConfigError(f"FewShot: the memory holds no example that fits {problem.id!r}; choose memory=examples")
        answer = await plain_answer(episode, self.prompts, after_lead, shots=shots, reason=self.reason)
        if isinstance(answer, Answer):
            episode.remark(examples=[one.id for one in shots])
        return answer
