"""Tools that fail: a tool in the place of another, with a fault that strikes some of its calls.

Whether and how depends on the run's seed, the sample, the fault, the branch, the tool and the number of the call alone.
A call that is not struck reaches the tool through the door: same arguments, same key in the journal, same observation.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

from annotated_types import Ge, Le

from components.acting.tool_names import category_of, resolve_names
from components.core.errors import ConfigError
from components.core.messages import ToolCall, ToolSpec
from components.core.tools import Context, Effect, Offer, Tool
from components.core.traits import ToolTraits, declared, own_name
from components.core.types import Observation, Observed, Sample
from components.faults.marks import KEY

Share = Annotated[float, Ge(0), Le(1)]


@runtime_checkable
class CallContext(Context, Protocol):
    """The context of a call that an agent made (``runner.episode.calls``), for a tool that wraps another one. ``line``
    is the branch that made the call, ``past`` the results of that branch's earlier calls of the same name, and
    ``number`` their count, including those before it in its own step."""

    @property
    def call(self) -> ToolCall: ...

    @property
    def line(self) -> str: ...

    @property
    def past(self) -> Sequence[Observed]: ...

    @property
    def number(self) -> int: ...

    async def use(self, tool: Tool) -> Observation:
        """Run another tool on this call, through the door, as if it had been called itself. Raises ToolError."""

    async def wait(self, seconds: float) -> None:
        """Let time pass, except in a replay."""


def call_context(context: Context, tool: Tool) -> CallContext:
    """The context of an agent's call. Raises TypeError for any other: a tool that wraps needs one."""
    if not isinstance(context, CallContext):
        raise TypeError(f"{tool.spec.name} wraps a tool and can be called by an agent only")
    return context


@dataclass(frozen=True)
class Struck:
    """A call that a fault may strike. ``tool`` is what it would have reached, ``name`` how the model calls it;
    ``others`` are the names of the other tools, ``fixed`` draws the same for every call of the tool in the episode."""

    tool: Tool
    name: str
    context: CallContext
    rng: Random
    fixed: Random
    others: Sequence[str]

    async def run(self) -> Observation:
        """What the tool returns. Raises ToolError."""
        return await self.context.use(self.tool)


@dataclass(frozen=True)
class OnTools:
    """A condition on some tools, by names, or categories where their cards have such; all where ``tools`` is empty."""

    rate: Share = 0.3
    tools: Sequence[str] = ()
    kind: ClassVar[str] = ""


@dataclass(frozen=True)
class Striking(OnTools, ABC):
    """A condition that strikes every call of its tools with probability ``rate``."""

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Apply the fault to the tools. Raises ConfigError when there is no such tool, or none at all."""
        draws, tools = f"{rng.getrandbits(64):x}/{self.kind}", dict(offer.tools)
        outer = [name for name, tool in offer.tools.items() if not _is_inner(tool)]
        for name in fallible(self, offer):
            tools[name] = Faulty(tools[name], self, draws, [one for one in outer if one != name])
        return replace(offer, tools=tools, facts=with_fault(offer, self))

    def strikes(self, call: Struck) -> bool:
        """Whether this call is struck; draws from the call's numbers alone."""
        return call.rng.random() < self.rate

    @abstractmethod
    async def strike(self, call: Struck) -> Observation:
        """The wrong result of the call, or a marked ToolError; each condition decides."""


@dataclass(frozen=True)
class Wrapper:
    """The base of tools in the place of another one, ``wraps``, with its effect and traits."""

    wraps: Tool

    @property
    def effect(self) -> Effect:
        """The effect of the wrapped tool."""
        return self.wraps.effect

    @property
    def traits(self) -> ToolTraits:
        """The traits of the wrapped tool, which they name."""
        return replace(declared(self.wraps, ToolTraits), wrapped=self.wraps)


@dataclass(frozen=True)
class Faulty(Wrapper):
    """A tool with a fault; ``draws`` begins the seeds of its strikes."""

    fault: Striking
    draws: str
    others: Sequence[str] = ()

    @property
    def spec(self) -> ToolSpec:
        """The card of the wrapped tool."""
        return self.wraps.spec

    async def __call__(self, context: Context, /, **_: Any) -> Observation:
        at, own = call_context(context, self), own_name(self.wraps)
        rng, fixed = Random(f"{self.draws}/{own}/{at.line}/{at.number}"), Random(f"{self.draws}/{own}")
        call = Struck(self.wraps, at.call.name, at, rng, fixed, self.others)
        return await (self.fault.strike(call) if self.fault.strikes(call) else call.run())


def fallible(fault: OnTools, offer: Offer) -> list[str]:
    """The names of the offered tools that a fault is on. Raises ConfigError."""
    tools = {name: tool for name, tool in offer.tools.items() if not _is_inner(tool)}
    own = [own_name(tool) for tool in tools.values()]
    if offer.categories:  # names that are the same for every sample, whichever tools this one is offered
        renumbered = offer.facts.get("kind") not in (None, "intact", "baseline")
        known = [*(() if renumbered else own), *offer.categories]
    else:
        gone = {*offer.tools, *offer.facts.get("withheld", ())}
        known = [*dict.fromkeys([*own, *(name for name in offer.facts.get("toolset", ()) if name not in gone)])]
    if not known:
        raise ConfigError(f"condition {fault.kind}: the toolset has no tool that could fail: choose another toolset")
    wanted = resolve_names(fault.tools, known, f"condition {fault.kind}")
    return [name for name, tool in tools.items() if not wanted or names_of_tool(tool) & {*wanted}]


def names_of_tool(tool: Tool) -> set[str | None]:
    """The names of a tool in configs: its own name, and its category where it has one."""
    return {own_name(tool), category_of(tool)}


def with_fault(offer: Offer, fault: OnTools, **more: Any) -> Mapping[str, Any]:
    """The offer's facts with those of one more fault."""
    facts = {"kind": fault.kind, "rate": fault.rate, **more}
    return {"kind": "intact", "condition": "intact", **offer.facts, KEY: [*offer.facts.get(KEY, ()), facts]}


def _is_inner(tool: Tool) -> bool:
    """Whether a tool only holds the agent's own words, which cannot fail."""
    return tool.spec.facts.get("dimension") == "inner"
