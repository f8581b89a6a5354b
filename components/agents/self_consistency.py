"""Self-consistency: several attempts of one agent at once, and the answer that most of them give.

Source: Wang et al. 2023, ICLR, arXiv 2203.11171; as a baseline in Tang et al. 2024 (MedAgents), arXiv 2311.10537,
with 5 samples at temperature 0.7. Departure: any agent may be sampled, with tools too. Readings: letters of choices by
``components.text.answers``, other answers as their words without case and punctuation at the ends, numbers and lists by
their values, refusals as such.

``Matched`` has as many calls, or as many tokens, as another agent spends on the same question: what a panel gains over
one call may be no more than its calls (Wang et al. 2024, ACL, arXiv 2402.18272; Snell et al. 2024, arXiv 2408.03314).
The other agent runs in parallel, in an episode of its own that is neither charged nor recorded here; where its own run
was made, the journal answers it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from annotated_types import Ge, Interval

from components.core.concurrency import gather_all
from components.core.errors import AttemptOver, ConfigError, ModelError
from components.core.messages import Sampling
from components.core.protocols import Agent, Episode
from components.core.traits import Requirements, declared
from components.core.types import Answer, Failure, Problem, Refusal, Trajectory, as_failure
from components.text.answers import parse_letter
from components.text.values import most_frequent, normal

_REFUSED, _SHOWN = "(refused)", 60
Outcome = Answer | Refusal | Failure
Temperature = Annotated[float, Interval(ge=0, le=2)]
Unit = Literal["calls", "tokens"]


@dataclass(frozen=True)
class Vote:
    """One draw: its outcome, how it counts in the vote (None: not at all), and the branch it was made on."""

    outcome: Outcome
    read: str | None
    line: Episode


@dataclass(frozen=True)
class Wrapping:
    """An agent that runs another one, ``inner``, and offers what that one offers."""

    inner: Agent

    @property
    def requirements(self) -> Requirements:
        """The tools and facts of the inner agent; its own needs are read from itself."""
        own = declared(self.inner, Requirements)
        return Requirements(
            acts="never", draws=True, tools=own.tools, only_own_tools=own.only_own_tools, facts=own.facts
        )


async def draw(episode: Episode, agent: Agent, numbers: Sequence[int], temperature: float | None) -> list[Vote]:
    """Let an agent try at once on a branch for each number, with a share of the budget each. An attempt that spends its
    share, or grows too long for the model, has failed."""

    async def attempt(line: Episode, number: int) -> Vote:
        try:
            outcome: Outcome = await agent.solve(line)
        except AttemptOver as limit:
            outcome = Failure("limit", str(limit))
        except ModelError as error:
            outcome = as_failure(error)
        read = reading(line.problem, outcome)
        line.remark(label=f"draw {number}: {(read or 'unreadable')[:_SHOWN]}", draw=number, read=read)
        return Vote(outcome, read, line)

    lines = episode.lines([f"draw/{number}" for number in numbers], Sampling(temperature=temperature))
    return await gather_all(attempt(line, number) for line, number in zip(lines, numbers, strict=True))


def reading(problem: Problem, outcome: Outcome) -> str | None:
    """What an outcome says, so that equal ones can be counted."""
    match outcome:
        case Answer(text) if problem.choices:
            return parse_letter(text, problem.choices)
        case Answer(text):
            return normal(" ".join(text.casefold().split()).strip(" .,;:!\"'*_")) or None
        case Refusal():
            return _REFUSED
    return None


def settle(votes: Sequence[Vote]) -> Outcome:
    """The first outcome that says what most say; where none can be read, the first answer, else the first failure. The
    draw that it comes from is remarked as ``chosen``."""
    winner = most_frequent([one.read for one in votes])
    found = [one for one in votes if winner is not None and one.read == winner]
    answers = [one for one in votes if isinstance(one.outcome, Answer)]
    chosen = (found or answers or votes)[0]
    chosen.line.remark(chosen=True)
    return chosen.outcome


def spent(trajectory: Trajectory, unit: Unit, branch: str = "") -> int:
    """Calls, or tokens in and out, of a branch and those below it; of the whole trajectory without one. Raises
    ConfigError where tokens are not known."""
    steps = [step for step in trajectory.steps if not branch or f"{step.branch}/".startswith(f"{branch}/")]
    if unit == "calls":
        return len(steps)
    if any(step.usage.input_tokens is None and step.usage.output_tokens is None for step in steps):
        raise ConfigError("by=tokens: the endpoint does not say how many tokens its replies took; use by=calls")
    return sum((step.usage.input_tokens or 0) + (step.usage.output_tokens or 0) for step in steps)


@dataclass(frozen=True)
class SelfConsistency(Wrapping):
    """``draws`` attempts of ``inner`` at ``temperature`` (None: the model's), each with fresh tools."""

    draws: Annotated[int, Ge(1)] = 5
    temperature: Temperature | None = 0.7

    async def solve(self, episode: Episode) -> Outcome:
        """The most frequent answer; of a tie the first."""
        return settle(await draw(episode, self.inner, range(1, self.draws + 1), self.temperature))


@dataclass(frozen=True)
class Matched(Wrapping):
    """Samples ``inner`` as long as another attempt fits into what ``to`` spent ``by`` calls or tokens, at least once.
    The most expensive attempt so far predicts the cost of the next one. At most ``most`` attempts."""

    to: Agent
    by: Unit = "calls"
    temperature: Temperature | None = 0.7
    most: Annotated[int, Ge(1)] = 200

    @property
    def requirements(self) -> Requirements:
        """Of the inner agent; what the other one does is not recorded."""
        return replace(super().requirements, unrecorded="it runs another agent in an episode of its own")

    async def solve(self, episode: Episode) -> Outcome:
        """The most frequent answer; of a tie the first."""
        allowed = spent(await episode.run_separately(self.to), self.by)
        votes: list[Vote] = []
        more = 1
        while more > 0:
            numbers = range(len(votes) + 1, len(votes) + more + 1)
            votes += await draw(episode, self.inner, numbers, self.temperature)
            costs = [spent(episode.trajectory, self.by, one.line.name) for one in votes]
            fitting = (allowed - sum(costs)) // max(costs) if max(costs) else 0
            more = min(fitting, self.most - len(votes))
        episode.branch("draw/1").remark(matched=self.by, allowed=allowed)
        return settle(votes)
