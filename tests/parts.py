"""Small parts that runner tests use: a model that answers by a function, tools, agents."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar

from components.core.errors import ActionError, ToolError
from components.core.messages import Completion, Message, Request, Sampling, ToolCall, ToolSpec, Usage
from components.core.plain import Accept
from components.core.tools import NoState, Offer
from components.core.traits import ScorerTraits
from components.core.types import Action, Answer, Observation, Problem, Refusal, Sample, Score
from runner.episode.budget import Budget, BudgetPool
from runner.episode.door import Door
from runner.episode.shared import Parts


@dataclass
class Speaker:
    """A model that answers by a function of the request, after a random delay."""

    say: Callable[[Request], str | Message]
    name: str = "speaker"
    kind: str = "simulated"
    in_process: bool = True
    permits: tuple[str, ...] = ()
    deterministic: bool = False
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.5))
    max_connections: int = 4
    wait: float = 0.0
    asked: list[Request] = field(default_factory=list)
    price: float | None = 0.001
    random: Random = field(default_factory=Random)

    @property
    def identity(self) -> str:
        return self.name

    async def generate(self, request: Request) -> Completion:
        self.asked.append(request)
        if self.wait:
            await asyncio.sleep(self.random.random() * self.wait)
        said = self.say(request)
        message = said if isinstance(said, Message) else Message("assistant", said)
        return Completion(message, Usage(10, 2, self.price))

    async def close(self) -> None:
        return None


class Plain:
    """``call NAME ARGUMENTS``, ``no REASON``, ``?`` (unreadable), or the answer."""

    def instructions(self, offer: Offer) -> str:
        return "tools: " + ", ".join(offer.tools)

    def specs(self, offer: Offer) -> tuple[ToolSpec, ...]:
        return ()

    def parse(self, message: Message, offer: Offer) -> Action:
        if message.text == "?":
            raise ActionError("a question mark is no action")
        if message.text.startswith("no "):
            return Action(message, refusal=Refusal({"reason": message.text[3:]}))
        if message.text.startswith("call "):
            calls = [ToolCall(str(i), *part.split(" ", 1)) for i, part in enumerate(message.text[5:].split("; "))]
            return Action(message, calls=tuple(calls))
        return Action(message, answer=message.text)

    def render(self, call: ToolCall, observation: Observation) -> Message:
        return Message("user", f"saw {observation.text}")


@dataclass
class Counter:
    """State: a list of what was counted."""

    seen: list[int] = field(default_factory=list)

    def fork(self) -> "Counter":
        return Counter(list(self.seen))

    def close(self) -> None:
        return None


_COUNT = ToolSpec("count", "adds", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


@dataclass(frozen=True)
class Count:
    """Adds ``n``; 13 is refused."""

    effect: str = "episode"
    spec: ToolSpec = _COUNT

    async def __call__(self, context: Any, n: int) -> Observation:
        if n == 13:
            raise ToolError("13 brings bad luck", "unlucky")
        context.state.seen.append(n)
        return Observation(str(sum(context.state.seen)), {"n": n})


@dataclass(frozen=True)
class Kit:
    """One tool, fresh state."""

    tool: Any = Count()

    def open(self, sample: Sample) -> Offer:
        return Offer({self.tool.spec.name: self.tool}, Counter() if isinstance(self.tool, Count) else NoState())


class Intact:
    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        return offer


@dataclass(frozen=True)
class Looper:
    """Acts until an answer."""

    async def solve(self, episode: Any) -> Any:
        messages = [Message("user", episode.problem.question)]
        while True:
            action = await episode.act(messages)
            if action.refusal:
                return action.refusal
            if action.answer is not None:
                return Answer(action.answer)
            messages += [action.message, *await episode.observe(action)]


@dataclass(frozen=True)
class Right:
    """1 when the answer is the target."""

    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(decides="score/right")

    def score(self, sample: Sample, trajectory: Any) -> list[Score]:
        return [Score("score/right", float(trajectory.answer == sample.target), ceiling=1.0)]


@dataclass(frozen=True)
class Rows:
    """A dataset of n questions, two per patient."""

    n: int = 6
    split: str = "test"
    splits: tuple[str, ...] = ("test",)
    privacy: str = "open"
    fingerprint: str = "rows"

    def load(self, split: str) -> list[Sample]:
        return [
            Sample(Problem(f"q{i}", f"question {i}"), f"answer {i}", {}, f"p{i // 2}", {"odd": str(i % 2)})
            for i in range(self.n)
        ]


def parts(agent: Any = None, **changes: Any) -> Parts:
    """Looper on the counting kit."""
    given = {
        "agent": agent or Looper(), "verifier": Accept(), "grammar": Plain(), "toolset": Kit(), "condition": Intact(),
        "scorers": {"right": Right()}, "budget": Budget(),
    } | changes  # fmt: skip
    return Parts(**given)


def door(model: Any, journal: Any = None, **changes: Any) -> Door:
    """A door to one model."""
    models = model if isinstance(model, dict) else {"main": model}
    budget_pool = BudgetPool(changes.pop("budget", Budget()))
    return Door(models, journal, **({"run_seed": 0, "budget_pool": budget_pool} | changes))
