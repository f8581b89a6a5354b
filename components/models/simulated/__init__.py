"""The embedded default model: deterministic, without key or network (docs/explanation/simulated.md)."""

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Interval, Lt

from components.core.messages import Completion, Request, Sampling
from components.core.traits import ModelTraits
from components.core.types import Sample
from components.models.simulated.core import VERSION, Core
from components.simulation.asked import Responder
from components.simulation.draws import Draws, Rates

Rate = Annotated[float, Interval(ge=0, le=1)]


@dataclass
class Simulated:
    """The simulated core as a Model. ``responders`` answer for families, in their order; ``latency_seconds`` is the
    mean of an exponential distribution."""

    competence: Rate = 0.85
    planning_slip_rate: Rate = 0.1
    wrong_tool_rate: Rate = 0.05
    malformed_rate: Rate = 0.02
    ignored_refusal_rate: Rate = 0.3
    second_choice_rate: Rate = 0.0
    latency_seconds: Annotated[float, Ge(0)] = 0.0
    seed: Annotated[int, Ge(0), Lt(2**63)] = 0
    name: str = "simulated"
    max_connections: Annotated[int, Ge(1)] = 100
    temperature: Annotated[float, Interval(ge=0, le=2)] | None = 0.0
    max_tokens: Annotated[int, Ge(1)] | None = None
    kind: Literal["simulated", "live"] = "simulated"
    in_process: bool = True
    deterministic: bool = False
    permits: Sequence[str] = ()
    takes_images: bool = True
    responders: Sequence[Responder] = ()
    core: Core = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rates = Rates(
            self.competence,
            self.planning_slip_rate,
            self.wrong_tool_rate,
            self.malformed_rate,
            self.ignored_refusal_rate,
            self.second_choice_rate,
        )
        self.core = Core(rates, self.responders)
        families = ",".join(type(one).__name__ for one in self.responders)
        self._made = f"{self.name} {VERSION} {rates} seed={self.seed} responders={families}"
        self._sampling = Sampling(temperature=self.temperature, max_tokens=self.max_tokens)

    @property
    def traits(self) -> ModelTraits:
        """Whether it takes images."""
        return ModelTraits(vision=self.takes_images)

    @property
    def identity(self) -> str:
        """Name, version, rates, responders and a digest of what it has studied: whatever can change a reply."""
        return f"{self._made} key={self.core.key.digest}"

    @property
    def sampling(self) -> Sampling:
        """Sent with every request, like a real model's."""
        return self._sampling

    def study(self, samples: Iterable[Sample]) -> None:
        """Take samples as the private answer key."""
        self.core.study(samples)

    async def generate(self, request: Request) -> Completion:
        """Reply at once, or after the latency."""
        seed = request.seed ^ self.seed
        if self.latency_seconds:
            share = Draws(seed, request.messages).share("latency")
            await asyncio.sleep(-self.latency_seconds * math.log(1 - share))
        return self.core.reply(request.messages, request.tools, seed)

    async def close(self) -> None:
        """Nothing to close."""
