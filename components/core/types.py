"""The nouns. Data moves one way: config, Experiment, Sample, Trajectory, Score, record, metrics.

What goes to a model and comes back (Message, ToolSpec, Request, ...) is in ``components.core.messages``, what a sample
offers (Tool, Offer) in ``components.core.tools``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from components.core.errors import OVERFLOW, ModelError
from components.core.messages import JSON, Image, Message, Purpose, ToolCall, ToolSpec, Usage

Privacy = Literal["open", "credentialed", "phi"]
Stop = Literal["answered", "refused", "limit", "failed", "error"]
CONTEXT_LENGTH = "context_length"  # the failure of an episode one of whose requests was longer than the model takes
ScoreKind = Literal["proportion", "share", "count", "amount", "number"]  # 0 or 1; 0 to 1; 0, 1, 2, ...; from 0; any
_NO_DATA: JSON = {}  # of all observations without facts: nobody changes a Mapping


@dataclass(frozen=True)
class Answer:
    """Outcome of ``solve``: the agent's final answer."""

    text: str


@dataclass(frozen=True)
class Refusal:
    """Outcome of ``solve``: the task cannot be done with the offered tools, and why (field -> value)."""

    grounds: Mapping[str, str]


@dataclass(frozen=True)
class Failure:
    """Outcome of ``solve``: the agent failed by its own method's rules; scored, never run again."""

    label: str
    detail: str = ""


def as_failure(error: ModelError) -> Failure:
    """The failure that an overflow of the context window is. Raises the error where it is another one."""
    if error.kind != OVERFLOW:
        raise error
    return Failure(CONTEXT_LENGTH, str(error))


class Action(NamedTuple):
    """The grammar's reading of a message: tool calls, or the final answer, or a refusal. ``last`` marks calls after
    which the agent concludes. ``error`` is set when the reply could not be read: then there are no calls and
    ``observe`` explains it to the model. ``confidence``: as an action that ends states it, where that is asked for."""

    message: Message
    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    refusal: Refusal | None = None
    last: bool = False
    purpose: str = ""
    error: str | None = None
    error_text: str = ""
    confidence: str | None = None


class Observation(NamedTuple):
    """What a tool returned. ``data`` holds facts for scorers; the agent sees text and images only."""

    text: str
    data: JSON = _NO_DATA
    images: tuple[Image, ...] = ()


@dataclass
class Observed:
    """One call and its result; ``error`` is the label of the failure."""

    call: ToolCall
    observation: Observation
    error: str | None = None
    seconds: float = 0.0
    control: bool = False


@dataclass(frozen=True)
class Verdict:
    """What a verifier chose on a step: of at most ``of`` proposals (``kind``: candidates, or versions of one) the
    ``chosen``-th, counted from 1, because ``why``. ``picks``: number of proposals -> which one it would have led to."""

    verifier: str
    kind: Literal["candidate", "version"]
    chosen: int
    of: int
    why: str
    picks: Mapping[int, int] = field(default_factory=lambda: {1: 1})

    def __str__(self) -> str:
        """It in one line."""
        curve = ", ".join(f"{n}={pick}" for n, pick in sorted(self.picks.items())) if len(self.picks) > 1 else ""
        return f"{self.verifier}: {self.kind} {self.chosen} of {self.of}, {self.why}{curve and f'; curve {curve}'}"


@dataclass
class Step:
    """One model call and what followed. ``asked`` holds the messages after the first ``kept`` ones, which are those of
    the branch's previous call; ``remarks`` are the agent's notes on its own call, for readers and scorers.
    ``logprobs``: of the reply's tokens, if requested; they are not recorded. Times in seconds since the epoch."""

    purpose: Purpose
    role: str
    branch: str
    index: int
    kept: int
    asked: Sequence[Message]
    reply: Message
    usage: Usage
    finish: str = "stop"
    started: float = 0.0
    seconds: float = 0.0
    replayed: bool = False
    action: Action | None = None
    committed: bool = True
    verdict: Verdict | str = ""  # a text of a verifier that does not choose
    observed: list[Observed] = field(default_factory=list)
    tried: list[Observed] = field(default_factory=list)
    remarks: dict[str, Any] = field(default_factory=dict)
    logprobs: Any = field(default=None, compare=False)

    @property
    def acts(self) -> bool:
        """Whether its reply was acted on: an accepted proposal, or a verifier's replacement."""
        return self.committed and (self.purpose == "act" or self.action is not None)


class Turn(NamedTuple):
    """An action of an earlier agent and the messages that answered it, for the agent that takes its place."""

    action: Action
    seen: Sequence[Message]
    text: str


@dataclass
class Trajectory:
    """All steps of one episode and how it ended; ``offered`` are the tools it could call and ``facts``
    the facts of the offer for scorers."""

    steps: list[Step] = field(default_factory=list)
    offered: tuple[ToolSpec, ...] = ()
    facts: JSON = field(default_factory=dict)
    stop: Stop = "error"
    answer: str | None = None
    refusal: Refusal | None = None
    failure: str | None = None
    error: str | None = None

    @property
    def decisive(self) -> list[Step]:
        """The steps that led to the outcome: of several draws those of the one that was chosen."""
        chosen = next((f"{one.branch}/" for one in self.steps if one.remarks.get("chosen")), "")
        return [one for one in self.steps if one.committed and f"{one.branch}/".startswith(chosen)]


@dataclass(frozen=True)
class Problem:
    """The part of a sample that an agent may see. ``choices``: letter -> text, empty for open questions. ``inputs``:
    further inputs, kind (image, image_2, sql_database, upload_files) -> the name by which tools take it; the images
    among them are in ``images`` in the same order."""

    id: str
    question: str
    choices: Mapping[str, str] = field(default_factory=dict)
    context: str = ""
    images: tuple[Image, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def input_kinds(self) -> list[str]:
        """The kinds of inputs besides the text, each once: images are ``image``, however many there are."""
        kinds = {"image" if kind.startswith("image_") else kind for kind in self.inputs}
        return sorted(kinds | {"image"} if self.images else kinds)

    def image(self, name: str) -> Image | None:
        """The image with this name among the inputs."""
        names = [value for kind, value in self.inputs.items() if kind.startswith("image")]
        return dict(zip(names, self.images, strict=False)).get(name)


@dataclass(frozen=True)
class Sample:
    """A row of a dataset. The target and metadata are not reachable from the problem.

    ``cluster`` is the patient (or what else makes samples depend on each other) for intervals,
    ``strata`` name -> value for breakdowns. ``files``: name of an input -> its path, for toolsets and
    scorers, never shown. ``card``: name with its unit -> word or number, only for the report's
    card of the dataset: age, sex, steps of the gold chain. ``plain``: the problem before a dataset put it otherwise.
    ``gold_steps``: the steps that lead to the target in words, for stages that learn from training samples.
    """

    problem: Problem
    target: Any
    metadata: JSON = field(default_factory=dict)
    cluster: str | None = None
    strata: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    card: Mapping[str, str | float] = field(default_factory=dict)
    plain: Problem | None = None
    gold_steps: str = ""

    @property
    def known_as(self) -> Problem:
        """The problem by which it is known again, after any rewording."""
        return self.plain or self.problem


@dataclass(frozen=True)
class EpisodeResult:
    """The result of an episode of a stage: its trajectory, its deciding score (0 to 1; None: unscored), all scores."""

    trajectory: Trajectory
    score: float | None
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Demonstration:
    """A solved problem shown to an agent."""

    problem: str
    solution: str
    data: JSON = field(default_factory=dict)


class Score(NamedTuple):
    """A scorer's result on one sample. ``value`` None = unscored. ``ceiling`` is what a perfect agent
    would have got here, where the scorer knows it."""

    name: str
    value: float | None
    explanation: str = ""
    ceiling: float | None = None
