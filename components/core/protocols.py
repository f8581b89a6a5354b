"""The verbs: structural, nothing to inherit; ``_target_`` is the registry.

What a part declares besides its verb is in ``components.core.traits``, verbs for learning in
``components.core.learning``.
"""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from components.core import types as t
from components.core.messages import Completion, Message, Purpose, Request, Sampling, ToolCall, ToolSpec
from components.core.tools import Offer
from components.core.types import Action, Observation, Problem, Sample, Score, Trajectory

T = TypeVar("T")


@runtime_checkable
class Model(Protocol):
    """A source of replies. Raises ModelError after its bounded retries."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str:
        """Name and what else changes the answers, not where it is served; part of every journal key."""

    @property
    def kind(self) -> Literal["simulated", "live"]: ...

    @property
    def in_process(self) -> bool: ...

    @property
    def permits(self) -> Sequence[str]: ...

    @property
    def deterministic(self) -> bool:
        """Whether the same request at temperature 0 always gets the same reply."""

    @property
    def sampling(self) -> Sampling: ...

    @property
    def max_connections(self) -> int: ...

    async def generate(self, request: Request) -> Completion: ...

    async def close(self) -> None: ...


@runtime_checkable
class Agent(Protocol):
    """A strategy: a deterministic program over one episode, without its own state."""

    async def solve(self, episode: "Episode") -> t.Answer | t.Refusal | t.Failure: ...


class Propose(Protocol):
    """Asks for one more proposal, or for several at once. Raises LimitReached, ModelError."""

    async def __call__(self, sampling: Sampling | None = None) -> Action: ...

    async def at_once(self, n: int, sampling: Sampling | None = None) -> list[Action]: ...


@runtime_checkable
class Verifier(Protocol):
    """Chooses among proposals, without the target; may try candidates with ``episode.try_``."""

    async def choose(self, messages: Sequence[Message], propose: Propose, episode: "Episode") -> Action: ...


@runtime_checkable
class Grammar(Protocol):
    """How an action is written and read."""

    def instructions(self, offer: Offer) -> str:
        """What a model must know to act in this grammar, with the cards of the tools."""

    def specs(self, offer: Offer) -> tuple[ToolSpec, ...]:
        """The tools to send in the request itself; empty for text grammars."""

    def parse(self, message: Message, offer: Offer) -> Action:
        """Raises ActionError when the message does not follow the grammar."""

    def render(self, call: ToolCall, observation: Observation) -> Message: ...


@runtime_checkable
class Toolset(Protocol):
    """Opens what one sample offers, with a fresh state. Raises ConfigError."""

    def open(self, sample: Sample) -> Offer: ...


@runtime_checkable
class Condition(Protocol):
    """Turns one offer into another; deterministic in ``rng``. Raises ConfigError."""

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer: ...


@runtime_checkable
class Dataset(Protocol):
    """Samples in a fixed order, of which ``split`` is evaluated. ``limit`` is the runner's. Raises ConfigError."""

    @property
    def splits(self) -> Sequence[str]: ...

    @property
    def split(self) -> str: ...

    @property
    def privacy(self) -> t.Privacy: ...

    @property
    def fingerprint(self) -> str: ...

    def load(self, split: str) -> Iterable[Sample]: ...


@runtime_checkable
class Scorer(Protocol):
    """Sees the target. What cannot be scored has value None. ``version`` changes when a score can."""

    @property
    def version(self) -> str: ...

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[t.Score]: ...


@runtime_checkable
class Memory(Protocol):
    """The result of learning before the evaluation; read-only while it runs."""

    @property
    def digest(self) -> str: ...

    def search(self, problem: str) -> Sequence[t.Demonstration]:
        """Solved problems like this one (the text of ``components.core.task_text``), the nearest first."""

    def experience(self, tool: str) -> Sequence[str]: ...


class Episode(Protocol):
    """The only door to the model and the tools; ``name`` is that of the branch, with those above it."""

    name: str

    @property
    def problem(self) -> Problem: ...

    @property
    def offer(self) -> Offer: ...

    @property
    def trajectory(self) -> Trajectory: ...

    @property
    def last(self) -> t.Step: ...

    @property
    def past(self) -> Sequence[t.Turn]:
        """The actions of another agent before this one took over; empty in a new episode."""

    @property
    def rng(self) -> Random: ...

    @property
    def memory(self) -> Memory | None: ...

    @property
    def sees_images(self) -> bool: ...

    @property
    def model_name(self) -> str:
        """The name of its main model."""

    def instructions(self, closing: bool = False) -> str:
        """How to act in the grammar, with the cards of the offered tools; ``closing``: only how to end."""

    def parse(self, message: Message) -> Action:
        """Read a message; an unreadable one carries ``error``."""

    async def act(
        self, messages: Sequence[Message], sampling: Sampling | None = None, closing: bool = False,
        functions: Sequence[ToolSpec] | None = None,
    ) -> Action:  # fmt: skip
        """Ask for a verified, parsed action; ``closing``: no tool is offered; ``functions``: what a program offers the
        model, in place of what the grammar shows. Raises LimitReached, ModelError."""

    async def suggest(
        self, messages: Sequence[Message], sampling: Sampling | None = None, role: str = "verifier",
        purpose: Purpose = "verify") -> Action:  # fmt: skip
        """For verifiers: ask for an action that may take a proposal's place. Raises LimitReached, ModelError."""

    async def observe(self, action: Action) -> list[Message]:
        """Run the action's calls, several at once; an unreadable action gets an explanation of the error."""

    async def call(self, name: str, arguments: str) -> t.Observed:
        """Run one call of a program, whose arguments are JSON: recorded with the last step, under the id by which its
        action names it, or with the first step where there is none yet. One runs after the other."""

    async def within(self, work: Awaitable[T]) -> T:
        """Await work that is not a call within the time of the sample. Raises LimitReached."""

    async def try_(self, action: Action) -> list[Observation] | None:
        """Run the action on a fork of the offer, recorded as a trial; None when a tool cannot be tried."""

    def note(self, action: Action, verdict: t.Verdict | str) -> None:
        """For verifiers: write down why an action was chosen."""

    async def correct(self, outcome: t.Answer | t.Refusal | t.Failure) -> bool:
        """Whether an outcome is right. Only for agents with a true ``oracle``, which results name."""

    async def ask(
        self, messages: Sequence[Message], purpose: Purpose, sampling: Sampling | None = None, role: str = "main"
    ) -> Message:
        """Ask without verification; recorded. Raises LimitReached, ModelError."""

    async def ask_each(
        self, asks: Mapping[str, Sequence[Message]], purpose: Purpose, sampling: Sampling | None = None
    ) -> list[Message]:
        """Ask on branches at once: the budget has room for all or none is asked, and all come to their end."""

    def lines(self, names: Sequence[str], sampling: Sampling | None = None) -> "Sequence[Episode]":
        """Branches at once, each with fresh tools and a share of the budget (AttemptOver); none has what another one
        added. Raises LimitReached."""

    def remark(self, **facts: Any) -> None:
        """Write JSON facts to the newest step of this branch, for readers (``label``) and scorers."""

    async def run_separately(self, agent: Agent) -> Trajectory:
        """Run another agent on this sample in a separate episode, which is not charged here."""

    async def control(self, name: str, /, **arguments: Any) -> Observation:
        """Use a control of the offer, or a tool as one; recorded with the last step, no call. Raises ToolError."""

    def branch(
        self, name: str, tools: Literal["shared", "fresh"] = "shared", sampling: Sampling | None = None,
        role: str | None = None,
    ) -> "Episode":  # fmt: skip
        """A separate episode that shares budget and sample; ``fresh``: with a newly opened state, and the tools that
        were added so far on this branch or below it."""


class Consulting(Scorer, Protocol):
    """Asks a model of a role (``ScorerTraits.asks``) when an episode is over and the other scores are known. What it
    asks are steps at the trajectory's end, which other scorers and exports do not see; ``score`` reads them there, so
    that records are scored again without asking."""

    async def consult(
        self, sample: Sample, trajectory: Trajectory, scores: Mapping[str, float | None], episode: Episode
    ) -> None:
        """Ask on branches of ``episode``. Raises ModelError, which errors the sample, and ConfigError."""


class Following(Scorer, Protocol):
    """Scores an episode when the scores that need no model are known, by the one of them that decides
    (``ScorerTraits.follows``)."""

    def follow(
        self, sample: Sample, trajectory: Trajectory, right: float | None, scores: Mapping[str, float | None]
    ) -> Sequence[Score]:
        """``right``: how right the episode was, 0 to 1; None where it is not known. ``scores``: those known so far."""
