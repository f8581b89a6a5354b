"""CRITIC: a first answer is checked with tools and corrected.

Source: Gou et al. 2024, arXiv 2305.11738; as a baseline in Liao et al. 2024 (ReflecTool), arXiv 2410.17657, with one
round. The original repeats until a round changes nothing, at most three times.
"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from components.acting.attempt import Shown, shown_images
from components.agents.direct import plain_answer
from components.agents.react import ReAct
from components.core.errors import ToolError
from components.core.protocols import Episode
from components.core.traits import PromptSetName
from components.core.types import Answer, Failure, Refusal


@dataclass(frozen=True)
class Critic(ReAct):
    """Up to ``rounds`` checks of a first answer, which the prompt set ``draft_prompts`` asks for."""

    prompts: PromptSetName = "critic"
    draft_prompts: PromptSetName = "direct"
    max_steps: Annotated[int, Ge(1)] | None = 15
    rounds: Annotated[int, Ge(1)] = 1

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """The outcome of the last check; a round that changes nothing is the last."""
        outcome: Answer | Refusal | Failure
        outcome = draft = await self._draft(episode)
        if isinstance(draft, Failure):
            return draft
        for number in range(1, self.rounds + 1):
            line = episode if number == 1 else episode.branch(f"round/{number}", tools="fresh")
            outcome = (await self.attempt(line, Shown(draft=draft.text))).outcome
            if not isinstance(outcome, Answer) or outcome.text == draft.text:
                break
            draft = outcome
        return outcome

    async def _draft(self, episode: Episode) -> Answer | Failure:
        """A first answer: the model's own or, of images that are shown to tools only, that of the first such tool.
        Where the tool fails there is none, and the checking starts from nothing."""
        if not episode.problem.images or shown_images(episode):
            return await plain_answer(episode, self.draft_prompts)
        name = episode.problem.inputs.get("image", "")
        specs = [tool.spec for tool in episode.offer.tools.values()]
        looks = [one.name for one in specs if set(one.parameters.get("properties", ())) == {"query", "image"}]
        if not looks:
            return Failure("unsupported_input", "no tool that answers questions on images is offered")
        try:
            return Answer((await episode.control(looks[0], query=episode.problem.question, image=name)).text)
        except ToolError:
            return Answer("")
