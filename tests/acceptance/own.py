"""A user's own parts, named by ``conf/`` of this folder and allowed by ``run.allow_targets=[tests]``."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar

from components.messages import Completion, Message, ToolCall, ToolSpec, Usage
from components.models.simulated.draws import Draws
from components.types import Answer, Observation, Offer, Problem, Sample

LETTERS = "ABCD"


@dataclass(frozen=True)
class Cohort:
    """``n`` questions with four choices, two per patient; ``privacy`` as a data owner would say it."""

    n: int = 24
    privacy: str = "open"
    split: str = "test"
    splits: Sequence[str] = ("test",)

    @property
    def fingerprint(self) -> str:
        return f"cohort-{self.n}"

    def load(self, split: str) -> list[Sample]:
        return [self._sample(i) for i in range(self.n)]

    def _sample(self, i: int) -> Sample:
        target = Random(f"cohort/{i}").choice(LETTERS)
        choices = {letter: f"finding {letter}{i}" for letter in LETTERS}
        problem = Problem(f"case-{i:03}", f"Case {i} of the cohort. Which finding fits best?", choices)
        return Sample(problem, target, {}, f"patient-{i // 2}", {"half": "first" if i < self.n // 2 else "second"})


@dataclass
class Total:
    """State of a sample: the sum so far."""

    value: int = 0

    def fork(self) -> "Total":
        return Total(self.value)


@dataclass(frozen=True)
class Add:
    """Adds ``n`` to the sample's sum; executed again when the sample is resumed."""

    effect: str = "episode"
    spec: ToolSpec = ToolSpec(
        "add", "Adds a score.", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    )

    async def __call__(self, context: Any, n: int) -> Observation:
        context.state.value += n
        return Observation(f"total {context.state.value}")


@dataclass(frozen=True)
class Ledger:
    """One tool with a memory."""

    def open(self, sample: Sample) -> Offer:
        return Offer({"add": Add()}, Total())


@dataclass(frozen=True)
class Panel:
    """Three experts, asked at once or one after the other, twice each; then a vote."""

    at_once: bool = True
    experts: ClassVar[Sequence[str]] = ("radiology", "surgery", "oncology")

    async def solve(self, episode: Any) -> Answer:
        lines = [self._line(episode.branch(f"expert/{name}"), episode.problem) for name in self.experts]
        views = await asyncio.gather(*lines) if self.at_once else [await line for line in lines]
        vote = Message("user", "\n".join([episode.problem.question, *views, "Vote. End with Answer: <letter>"]))
        return Answer((await episode.ask([vote], "vote")).text)

    async def _line(self, branch: Any, problem: Problem) -> str:
        """The same words for every expert: only the branch tells them apart."""
        messages = [Message("user", f"{problem.question}\nYour view?")]
        first = await branch.ask(messages, "knowledge")
        again = await branch.ask([*messages, first, Message("user", "Are you sure?")], "knowledge")
        drawn = await branch.ask(messages, "knowledge")  # the same question again: a draw of its own
        return f"{first.text} / {again.text} / {drawn.text} / {branch.rng.random():.6f}"


@dataclass
class Voice:
    """What the endpoint of these tests says: four tool calls where it has tools, then a letter.

    Everything depends on (messages, seed) alone. It stands where ``Simulated`` stands in the server.
    """

    name: str = "voice"
    seed: int = 0
    says: Sequence[str] = ()
    core: Any = field(init=False)

    def __post_init__(self) -> None:
        self.core = self

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec], seed: int) -> Completion:
        draws = Draws(seed, messages)
        called = sum(bool(m.tool_calls) for m in messages)
        if tools and called < 4:
            arguments = '{"n": %d}' % draws.pick("n", range(1, 10))
            message = Message("assistant", "", (ToolCall(f"call_{called}", "add", arguments),))
        elif tools:
            total = int(messages[-1].text.split()[-1])
            message = Message("assistant", f"The total is {total}.\nAnswer: {LETTERS[total % 4]}")
        elif self.says:
            message = Message("assistant", draws.pick("words", self.says))
        else:
            message = Message("assistant", f"View {draws.share('view'):.6f}.\nAnswer: {draws.pick('letter', LETTERS)}")
        asked = sum(len(m.wire) for m in messages) + sum(len(t.wire) for t in tools)
        return Completion(message, Usage(asked // 4, len(message.wire) // 4), "stop")
