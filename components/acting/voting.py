"""Drawing an agent several times, and settling on one outcome: what self-consistency is made of.

Source: Wang et al. 2023, ICLR, arXiv 2203.11171. Readings: letters of choices by ``components.text.answers``, other
answers as their words without case and punctuation at the ends, numbers and lists by what they hold, refusals as such.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from components.core.concurrency import together
from components.core.errors import AttemptOver, ConfigError, ModelError
from components.core.messages import Sampling
from components.core.protocols import Agent, Episode
from components.core.traits import Requirements, declared
from components.core.types import Answer, Failure, Problem, Refusal, Trajectory, as_failure
from components.text.answers import parse_letter
from components.text.values import normal

_REFUSED, _SHOWN = "(refused)", 60
Outcome = Answer | Refusal | Failure
Temperature = Annotated[float, Interval(ge=0, le=2)]
Unit = Literal["calls", "tokens"]


@dataclass(frozen=True)
class Vote:
    """One draw: its outcome, how it counts in the vote (None: not at all), and the branch it was made on."""

    outcome: Outcome
    read: str | None
    line: Episode | None = None

    @property
    def branch(self) -> str:
        """The branch's name."""
        return "" if self.line is None else self.line.name


@dataclass(frozen=True)
class Wrapping:
    """An agent that runs another one, ``inner``, and offers what that one offers."""

    inner: Agent

    @property
    def requirements(self) -> Requirements:
        """The tools and facts of the inner agent; its own needs are read from itself."""
        inner = declared(self.inner, Requirements)
        return Requirements(tools=inner.tools, only_own_tools=inner.only_own_tools, facts=inner.facts)


async def draw(episode: Episode, agent: Agent, numbers: Sequence[int], temperature: float | None) -> list[Vote]:
    """Let an agent try at once on a branch for each number, with a share of the budget each."""
    lines = episode.lines([f"draw/{number}" for number in numbers], Sampling(temperature=temperature))
    return await together(_attempt(line, agent, number) for line, number in zip(lines, numbers, strict=True))


async def _attempt(line: Episode, agent: Agent, number: int) -> Vote:
    """One try; one that spends what its attempt may, or grows too long for the model, has failed."""
    try:
        outcome: Outcome = await agent.solve(line)
    except AttemptOver as limit:
        outcome = Failure("limit", str(limit))
    except ModelError as error:
        outcome = as_failure(error)
    read = reading(line.problem, outcome)
    line.remark(label=f"draw {number}: {(read or 'unreadable')[:_SHOWN]}", draw=number, read=read)
    return Vote(outcome, read, line)


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
    """The first outcome that says what most say; where none can be read, the first answer, else the first failure.

    The draw that it comes from is remarked as ``chosen``.
    """
    winner = majority([one.read for one in votes]).winner
    found = [one for one in votes if winner is not None and one.read == winner]
    answers = [one for one in votes if isinstance(one.outcome, Answer)]
    chosen = (found or answers or votes)[0]
    if chosen.line is not None:
        chosen.line.remark(chosen=True)
    return chosen.outcome


def spent(trajectory: Trajectory, unit: Unit, branch: str = "") -> int:
    """Calls, or tokens in and out, of a branch and those below it; of the whole trajectory without one.

    Raises ConfigError where tokens are not known.
    """
    steps = [step for step in trajectory.steps if not branch or f"{step.branch}/".startswith(f"{branch}/")]
    if unit == "calls":
        return len(steps)
    if any(step.usage.input_tokens is None and step.usage.output_tokens is None for step in steps):
        raise ConfigError("by=tokens: the endpoint does not say how many tokens its replies took; use by=calls")
    return sum((step.usage.input_tokens or 0) + (step.usage.output_tokens or 0) for step in steps)


@dataclass(frozen=True)
class Majority:
    """``winner`` is None where no draw could be read. ``tie``: others have as many of the ``votes``."""

    winner: str | None
    tie: bool
    votes: Mapping[str, int]


def majority(samples: Sequence[str | None]) -> Majority:
    """Count what was read of each draw, in the order of drawing; None is a draw that could not be read."""
    votes = Counter(sample for sample in samples if sample is not None)
    if not votes:
        return Majority(None, False, {})
    most = max(votes.values())
    best = [sample for sample, n in votes.items() if n == most]  # in order of appearance
    return Majority(best[0], len(best) > 1, dict(votes))
