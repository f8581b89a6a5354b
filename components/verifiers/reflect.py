"""Self-reflection: a reply must reflect before it calls or refuses, and is shown a tool's refusal before the call.

Source: Zheng et al. 2024, arXiv 2412.09529: before each call the agent checks its inputs, and an automated verifier
confirms that it did. Departures: the article does not say how often a finding may be answered (here ``repairs``), and
the finding holds what a check of the call meets (unknown tool, binding, inputs), never what the tool would give.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from components.acting.arguments import foresee_error, reflection_in
from components.core.messages import Message, continued
from components.core.protocols import Episode, Propose
from components.core.task_text import action_text
from components.core.traits import PromptSetName
from components.core.types import Action
from components.prompts import load


@dataclass(frozen=True)
class Reflect:
    """Asks again, up to ``repairs`` times, while something is found; one call each, by the model that proposed. The
    last version is taken, whatever is found on it; the verdict of its step records it."""

    repairs: Annotated[int, Interval(ge=0, le=16)] = 1
    prompts: PromptSetName = "reflect"

    async def choose(self, messages: Sequence[Message], propose: Propose, episode: Episode) -> Action:
        """The first version on which nothing is found, else the last."""
        action, labels = await propose(), list[str]()
        for left in range(self.repairs, -1, -1):
            label, finding = flaw_of(action, episode)
            labels.append(label)
            if not finding or not left:
                break
            message = action.message
            proposal = action_text(action) if message.tool_calls else message.text.strip()  # native calls as text
            ask = load(self.prompts).user("finding", proposal=proposal, finding=finding)
            action = await episode.suggest(continued(messages, ask), role="main", purpose="act")
        episode.note(action, f"reflect: {', then '.join(labels)}")
        return action


def flaw_of(action: Action, episode: Episode) -> tuple[str, str]:
    """The error of an action before it is executed: a label and a sentence, empty if there is none."""
    if action.error is not None:
        return action.error, f"Your reply could not be read: {action.error_text}."
    if action.answer is None and not reflection_in(action.message.text):
        return "no_reflection", "There is no reflection in your reply, or nothing in it."
    if (error := foresee_error(episode.offer, action)) is not None:
        return error.label, f"The call would be refused: {error}."
    return "nothing found", ""
