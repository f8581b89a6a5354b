"""What parts declare of themselves, one typed declaration per kind: the runner reads these and nothing else of a part.

An agent declares ``requirements``, every other kind ``traits``. A part without a declaration has the defaults.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Literal, Protocol, TypeVar

from components.core.errors import ConfigError
from components.core.messages import JSON
from components.core.protocols import Agent, Memory, Verifier
from components.core.tools import Offer, State, Tool
from components.core.types import Observed, Sample, ScoreKind, Trajectory

PromptSetName = Annotated[str, "the name of a prompt set"]  # of a field: the set's digest is recorded with each run
T = TypeVar("T")


class HoldsCode(Protocol):
    """What holds the code that models write: a sandbox."""

    def report(self) -> Mapping[str, Any]:
        """Which sandbox it is, with what limits and how many kills so far, for the manifest."""


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """The needs of an agent, and what it provides.

    Needs: ``models``: names under ``models`` that must be configured; ``roles``: others that are asked where they are
    configured. ``controls``: of the toolset. ``memory``: the kind of content that the memory must hold. ``shots``: how
    many demonstrations of the memory are shown (None: not a setting of this agent). ``accepts`` raises ConfigError for
    an offer that the agent cannot work with. ``fits``: choices that it works with, for messages.
    Provides: ``verifier``: used in place of one that accepts everything.
    ``tools``: offered with the toolset's, or instead of them (``only_own_tools``). ``facts``: added to the offer's
    facts for scorers. For checks and records: ``acts``: when it asks for actions (``Episode.act``), which alone a
    verifier checks. ``oracle``: the agent learns whether its answer is right. ``shown_patients``: how the contexts of
    the patients in its prompts begin, whose samples may not be evaluated. ``prompts``: prompt sets that no field of
    type ``PromptSetName`` names. ``sandbox``: where code runs that models write for it. ``export``: an episode in the
    layout of published records. ``takes_over``: it can begin in the middle of another agent's episode (its ``past``).
    ``draws``: its answer is that of several draws, which it remarks.
    ``unrecorded``: what it does outside of its record, so that no episode of it can be continued from the middle.
    ``permits``: data classes, in addition to open ones, that a program of its own may receive; None: it has none.
    ``functions``: it acts by function calls alone, so that the grammar must be of these.
    """

    models: Sequence[str] = ()
    roles: Sequence[str] = ()
    controls: Sequence[str] = ()
    fits: str = ""
    memory: str | None = None
    shots: int | None = None
    accepts: Callable[[Offer], None] | None = None
    verifier: Verifier | None = None
    tools: Sequence[Tool] = ()
    only_own_tools: bool = False
    facts: JSON = field(default_factory=dict)
    oracle: bool = False
    acts: Literal["always", "with_tools", "never"] = "always"
    shown_patients: Sequence[str] = ()
    prompts: Sequence[str] = ()
    sandbox: HoldsCode | None = None
    export: Callable[[Sample, Trajectory], Mapping[str, Any]] | None = None
    takes_over: bool = False
    draws: bool = False
    unrecorded: str = ""
    permits: Sequence[str] | None = None
    functions: bool = False


@dataclass(frozen=True, kw_only=True)
class ModelTraits:
    """``vision``: whether it takes images. ``price``: a row of a price table (``input`` None: unknown).
    ``context_tokens`` and the limits per minute: None where there is none, or none is known. ``counters``: of requests
    so far. ``study``: takes the samples that are evaluated or learnt from as a private answer key; None: it has none.
    """

    vision: bool = True
    price: Mapping[str, Any] | None = None
    context_tokens: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    counters: Callable[[], Mapping[str, Any]] = dict
    study: Callable[[Iterable[Sample]], None] | None = None


@dataclass(frozen=True, kw_only=True)
class ScorerTraits:
    """``names``: of its scores. ``levels``: strata over which means of means are taken, from the inner to the outer
    one; ``by``: strata with a plain mean each. ``lower``: scores that are better low; ``neither``: those that are
    better neither way. ``units`` and ``kinds``: of what its scores count (a ``number`` where not declared).
    ``decides``: the score that says whether an episode was right. ``blocking``: it must leave the event loop. ``asks``:
    the role of the model that it asks (see ``Consulting``); ``allow_self``: that may be the model under test.
    ``follows``: it scores by how right another, which ``decides``, found an episode (see ``Following``). ``unfit``: why
    it can never score a sample, whatever the agent does; empty where it can."""

    names: Sequence[str] = ()
    levels: Sequence[str] = ()
    by: Sequence[str] = ()
    lower: Sequence[str] = ()
    neither: Sequence[str] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, ScoreKind] = field(default_factory=dict)
    decides: str | None = None
    blocking: bool = False
    asks: str | None = None
    allow_self: bool = False
    follows: bool = False
    unfit: Callable[[Sample], str] = lambda _: ""


@dataclass(frozen=True, kw_only=True)
class ToolsetTraits:
    """``tools``: by name, before a condition changes them. ``permits``: data classes that services behind its tools may
    receive. ``notes``: for readers of results. ``sandbox``: where cells run. ``prepare``: called once with the samples
    before the first of them runs, but not in a replay; raises ConfigError. ``identities``: server behind its tools ->
    what identifies it and what it offers; a run is not resumed with others."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    permits: Sequence[str] = ()
    notes: Sequence[str] = ()
    sandbox: HoldsCode | None = None
    prepare: Callable[[Sequence[Sample]], None] | None = None
    identities: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ToolTraits:
    """``identity``: what else identifies its answers, for the journal. ``triable``: a candidate may run it on a fork.
    ``wrapped``: the tool that this one replaces, which it reaches through the episode's door alone; it reaches nothing
    else. ``timeout_seconds``: after which its calls fail; None: never. ``asks``: the role of the model that it asks,
    where it asks one. ``missing``: what must be set before it can be used. ``sends_data_out``: what it is called with
    leaves this process, whatever its effect, as that of an external one does. ``note_recorded``: takes in a call that
    the journal or a record answered in its place."""

    identity: str = ""
    triable: bool = True
    wrapped: Tool | None = None
    timeout_seconds: float | None = None
    asks: str | None = None
    missing: str = ""
    sends_data_out: bool = False
    note_recorded: Callable[[State, Observed], None] | None = None


@dataclass(frozen=True, kw_only=True)
class DatasetTraits:
    """``base``: the fingerprint of the dataset whose samples these are, changed; None: its own."""

    base: str | None = None


@dataclass(frozen=True, kw_only=True)
class GrammarTraits:
    """``needs_tools``: without a tool it has no way to answer. ``functions``: its actions are function calls."""

    needs_tools: bool = False
    functions: bool = False


@dataclass(frozen=True, kw_only=True)
class VerifierTraits:
    """``reads_lessons``: it is shown what the memory teaches about the tools that a candidate names."""

    reads_lessons: bool = False


@dataclass(frozen=True, kw_only=True)
class SourceTraits:
    """``holds``: the kinds of content that agents find in the memory (None: any). ``grows``: it learns while it is
    evaluated, so that samples run one after the other. ``per_task``: its training samples are counted for each task,
    not for all together. ``teaches``: it may hold lessons on tools, which verifiers can read."""

    holds: Sequence[str] | None = None
    grows: bool = False
    per_task: bool = False
    teaches: bool = False


@dataclass(frozen=True, kw_only=True)
class StageTraits:
    """``ignores``: settings of the agent that make no difference to what a stage learns. ``unread``: groups and
    keys of the config that make no difference to the stage; naming one on the command line is refused."""

    ignores: Sequence[str] = ()
    unread: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class MemoryTraits:
    """``notes``: for readers of results. ``texts``: the tasks that it was learnt from, which may not be evaluated.
    ``tasks``: task -> the memory that samples of this task see in its place. ``hold``: takes in what the run has taught
    before a sample, and nothing else of the run; None: the memory does not grow."""

    notes: Sequence[str] = ()
    texts: Sequence[str] = ()
    tasks: Mapping[str, Memory] = field(default_factory=dict)
    hold: Callable[[Iterable[Mapping[str, Any]]], None] | None = None


_DEFAULTS: dict[Any, Any] = {}  # of each kind of declaration


def declared(part: object, kind: type[T]) -> T:
    """The declaration of a part (``requirements`` of an agent, ``traits`` of any other kind), or the defaults. Raises
    ConfigError for a declaration of another type."""
    name = "requirements" if kind is Requirements else "traits"
    declaration = getattr(part, name, None)
    if declaration is None:
        default: T = _DEFAULTS.get(kind) or _DEFAULTS.setdefault(kind, kind())
        return default
    if not isinstance(declaration, kind):
        raise ConfigError(f"{type(part).__name__}.{name} is {declaration!r}; it must be {kind.__name__}(...)")
    return declaration


def innermost(tool: Tool) -> Tool:
    """The tool below all that wrap it."""
    while (wrapped := declared(tool, ToolTraits).wrapped) is not None:
        tool = wrapped
    return tool


def own_name(tool: Tool) -> str:
    """The name that a toolset gave a tool, whatever it is offered under."""
    return innermost(tool).spec.name


def code_settings(kind: type) -> Sequence[str]:
    """The settings of a class that have code run (``takes_code``), which a config from elsewhere must not set."""
    return tuple(getattr(kind, "takes_code", ()))


def agents_in(agent: Agent) -> Iterator[Agent]:
    """An agent and the agents that it holds, at any depth."""
    yield agent
    for value in vars(agent).values():
        if isinstance(value, Agent):
            yield from agents_in(value)


def prompt_sets(part: object) -> Iterator[str]:
    """The prompt sets that the fields of a part name."""
    for one in fields(part) if is_dataclass(part) else ():
        if one.type in ("PromptSetName", PromptSetName) and (name := vars(part)[one.name]) is not None:
            yield name
