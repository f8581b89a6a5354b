"""Carrying out a plan that was made before anything was seen: its actions in order, up to the first that fails.

Source: docs/papers/ehragent.md (baselines of Shi et al. 2024, EMNLP, arXiv 2401.07128, without a code interface):
``#k`` in an argument stands for the result of the plan's k-th action, and nothing is repaired.
"""

from dataclasses import dataclass, field

from components.acting.action_lines import FINISH, REFUSE, ActionLine, call_of
from components.acting.demonstrations import REFERENCE
from components.core.errors import ActionError
from components.core.messages import Message
from components.core.protocols import Episode
from components.core.types import Action, Answer, Failure, Refusal

FAILED = "plan_failed"


@dataclass
class Carrying:
    """What was done of a plan so far: each action as it was run, and its result (None: too long to be handed on)."""

    episode: Episode
    done: list[tuple[str, str]] = field(default_factory=list)
    results: list[str | None] = field(default_factory=list)

    async def run(self, line: ActionLine, reply: Message) -> Answer | Refusal | Failure | None:
        """Run the next action, which stands in ``reply``; what it returns ends the plan."""
        try:
            argument = None if line.argument is None else self._filled(line.argument)
            call = call_of(line.name, argument, self.episode.offer.tools)
        except ActionError as error:
            return self._failed(line, str(error))
        if line.name == FINISH:
            return Answer(argument or "")
        if line.name == REFUSE and self.episode.offer.may_refuse:
            action = self.episode.parse(Message("assistant", " ".join(line.text.split())))
            return action.refusal or self._failed(line, action.error_text)
        await self.episode.observe(Action(reply, calls=(call,)))
        seen = self.episode.last.observed[-1]
        if seen.error is not None:
            return self._failed(line, f"{seen.error}: {seen.observation.text}")
        self.done.append((f"{line.name}[{argument}]", seen.observation.text))
        result = seen.observation.data.get("value", seen.observation.text)
        self.results.append(result if result is None else str(result))
        return None

    def last_result(self) -> Answer | Failure:
        """The result of the last action, as the answer of a plan that does not say its own."""
        if not self.results or self.results[-1] is None:
            return Failure(FAILED, "the plan ends without a result that could be an answer")
        return Answer(self.results[-1])

    def _filled(self, argument: str) -> str:
        """The argument with results in the place of references to them. Raises ActionError."""
        return REFERENCE.sub(lambda match: self._result(int(match[1])), argument)

    def _result(self, k: int) -> str:
        """The result of the k-th action. Raises ActionError."""
        if not 1 <= k <= len(self.results):
            raise ActionError(f"it uses the result #{k}, and {len(self.results)} actions stand before it")
        if (result := self.results[k - 1]) is None:
            raise ActionError(f"the result #{k} is too long to be handed on")
        return result

    def _failed(self, line: ActionLine, why: str) -> Failure:
        return Failure(FAILED, f"action {len(self.results) + 1}, {line.name}: {why}")
