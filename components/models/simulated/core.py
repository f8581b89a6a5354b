"""The simulated model as a chain of responders: a function of the messages, the tools and the seed.

It is not a mock of an answer: what the prompt leaves out, it does not do. A private answer key is its medical
knowledge. ``VERSION`` changes when a reply can.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from components.core.messages import Completion, Message, ToolSpec, Usage
from components.core.types import Sample
from components.models.simulated.doubt import doubting
from components.models.simulated.generic import Generic
from components.models.simulated.key import AnswerKey
from components.models.simulated.prompt_alone import PromptAlone
from components.simulation.asked import Asked, Responder, Voice
from components.simulation.draws import Draws, Rates

VERSION = "12"


@dataclass
class Core:
    """Rates, the responders of families, and the answer key."""

    rates: Rates
    responders: Sequence[Responder] = ()
    key: AnswerKey = field(default_factory=AnswerKey)

    def __post_init__(self) -> None:
        self._chain: Sequence[Responder] = (PromptAlone(), *self.responders, Generic())

    def study(self, samples: Iterable[Sample]) -> None:
        """Take samples as the private answer key."""
        self.key = AnswerKey(samples)

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec], seed: int) -> Completion:
        """The first reply of the chain; tokens are estimated as a quarter of the bytes."""
        asked = self._asked(messages, tools, seed)
        message = next(reply for one in self._chain if (reply := one.reply(asked)) is not None)
        message = doubting(message, messages, self.rates, asked.draws)
        sent = sum(len(m.wire) for m in messages) + sum(len(t.wire) for t in tools)
        usage = Usage(sent // 4, max(1, len(message.wire) // 4), 0.0)
        return Completion(message, usage, "tool_calls" if message.tool_calls else "stop")

    def _asked(self, messages: Sequence[Message], tools: Sequence[ToolSpec], seed: int) -> Asked:
        """The request with what is known of its sample, and the voice that it asks for."""
        sample = self.key.find(messages)
        draws = Draws(seed, messages, None if sample is None else sample.problem.question)
        known = (one.knowledge(sample) for one in self._chain) if sample is not None else iter(())
        asked = Asked(messages, tools, self.rates, draws, next((one for one in known if one is not None), None))
        voices = (one.voice(asked) for one in self._chain)
        return replace(asked, voice=next((one for one in voices if one is not None), Voice()))
