"""Tools that fail: a tool in the place of another, which a fault strikes at some calls and leaves alone at others.

Whether a call is struck, and how, is drawn from the run's seed, the sample, the fault, the branch, the tool and the
number of the call, so it is the same whatever runs beside it. A call that is not struck goes on to the tool through
the door: same arguments, same key in the journal, same observation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Protocol

from components.acting.tool_names import category_of, named
from components.core.errors import ConfigError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect, Offer, Tool
from components.core.traits import ToolTraits, tool_traits
from components.core.types import Observation, Sample
from components.faults.marks import KEY
from components.faults.placed import Placed, placed
from components.radiology.memory import RadiologyMemory
from components.radiology.tasks import CATEGORIES


@dataclass(frozen=True)
class Struck:
    """A call that a fault may strike. ``tool`` is what it would have reached, ``name`` how the model calls it;
    ``others`` are the names of the other tools, ``fixed`` draws the same for every call of the tool in the episode."""

    tool: Tool
    name: str
    context: Placed
    sample: Sample
    rng: Random
    fixed: Random
    others: Sequence[str]

    async def run(self) -> Observation:
        """What the tool returns. Raises ToolError."""
        return await self.context.use(self.tool)


class OnTools(Protocol):
    """A condition on some tools. ``tools`` are names or categories, all where it is empty."""

    @property
    def kind(self) -> str: ...

    @property
    def rate(self) -> float: ...

    @property
    def tools(self) -> Sequence[str]: ...


class Fault(OnTools, Protocol):
    """What goes wrong with calls."""

    def strikes(self, call: Struck) -> bool:
        """Whether it strikes this call; draws from the call's numbers alone."""

    async def strike(self, call: Struck) -> Observation:
        """What the call returns in place of what it should. Raises ToolError, marked."""


@dataclass(frozen=True)
class Faulty:
    """A tool in the place of ``wraps``; ``draws`` begins the seeds of its faults."""

    wraps: Tool
    fault: Fault
    sample: Sample
    draws: str
    others: Sequence[str] = ()

    @property
    def spec(self) -> ToolSpec:
        """The card of the tool itself."""
        return self.wraps.spec

    @property
    def effect(self) -> Effect:
        """That of the tool itself."""
        return self.wraps.effect

    @property
    def traits(self) -> ToolTraits:
        """The tool that it stands for."""
        return replace(tool_traits(self.wraps), wrapped=self.wraps)

    async def __call__(self, context: Context, **_: Any) -> Observation:
        """Run the tool, or what the fault makes of it. Raises ToolError."""
        at, own = placed(context, self), _own_name(self.wraps)
        rng, fixed = Random(f"{self.draws}/{own}/{at.line}/{at.number}"), Random(f"{self.draws}/{own}")
        call = Struck(self.wraps, at.call.name, at, self.sample, rng, fixed, self.others)
        return await (self.fault.strike(call) if self.fault.strikes(call) else call.run())


def innermost(tool: Tool) -> Tool:
    """The tool below all that wrap it."""
    while (inner := tool_traits(tool).wrapped) is not None:
        tool = inner
    return tool


def _own_name(tool: Tool) -> str:
    """The name that a toolset gave it, whatever it is offered under."""
    return innermost(tool).spec.name


def faulty(fault: Fault, offer: Offer, sample: Sample, rng: Random) -> Offer:
    """The offer with the fault on its tools. Raises ConfigError when there is no such tool, or none at all."""
    draws = f"{rng.getrandbits(64):x}/{fault.kind}"
    names = chosen(fault, offer)
    outer = [name for name, tool in offer.tools.items() if not _is_inner(tool)]
    wrapped: dict[str, Tool] = {
        name: Faulty(offer.tools[name], fault, sample, draws, [one for one in outer if one != name]) for name in names
    }
    return replace(offer, tools={**offer.tools, **wrapped}, facts=noted(offer, fault))


def chosen(fault: OnTools, offer: Offer) -> list[str]:
    """The names of the offered tools that a fault is on. Raises ConfigError."""
    tools = {name: tool for name, tool in offer.tools.items() if not _is_inner(tool)}
    known = _known(offer, tools)
    if not known:
        raise ConfigError(f"condition {fault.kind}: the toolset has no tool that could fail: choose another toolset")
    wanted = named(fault.tools, known, f"condition {fault.kind}")
    return [name for name, tool in tools.items() if not wanted or told_by(tool) & {*wanted}]


def _known(offer: Offer, tools: Mapping[str, Tool]) -> list[str]:
    """What a fault may name: the same for every sample, whichever tools this one is offered."""
    if not isinstance(offer.state, RadiologyMemory):
        gone = {*offer.tools, *offer.facts.get("withheld", ())}
        others = [name for name in offer.facts.get("toolset", ()) if name not in gone]
        return [*dict.fromkeys([*map(_own_name, tools.values()), *others])]
    numbered_anew = offer.facts.get("kind") not in (None, "intact", "baseline")
    return [*(() if numbered_anew else map(_own_name, tools.values())), *CATEGORIES]


def told_by(tool: Tool) -> set[str | None]:
    """What a tool is meant by: its own name, and its category where it has one."""
    return {_own_name(tool), category_of(tool)}


def noted(offer: Offer, fault: OnTools, **more: Any) -> Mapping[str, Any]:
    """The offer's facts with what is told of a fault."""
    told = {"kind": fault.kind, "rate": fault.rate, **more}
    return {"kind": "intact", "condition": "intact", **offer.facts, KEY: [*offer.facts.get(KEY, ()), told]}


def _is_inner(tool: Tool) -> bool:
    """Whether a tool only holds the agent's own words, which cannot fail."""
    return tool.spec.facts.get("dimension") == "inner"
