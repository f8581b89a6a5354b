"""Whether the parts of an experiment fit together, and whether its models may see its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from components.core.errors import ConfigError
from components.core.protocols import Agent, Model, Scorer, Toolset
from components.core.tools import Offer, Tool
from components.core.types import Sample
from runner.config.errors import Flaw, Flaws
from runner.episode.ending import consults

if TYPE_CHECKING:
    from runner.episode.shared import Parts


_TESTED = ("main", "planner", "executor", "concluder", "builder", "verifier")  # roles whose work is scored
# Attributes that name prompt sets.
_PROMPTS = ("prompts", "draft_prompts", "expert_prompts", "example_prompts", "building_prompts")


class PrivacyRefused(ConfigError):
    """The data may not go to the model. ``decision`` is for the manifest."""

    def __init__(self, decision: Mapping[str, str]) -> None:
        super().__init__(decision["reason"])
        self.decision = decision


def permit(privacy: str, models: Mapping[str, Model], toolset: Toolset, what: str = "dataset") -> dict[str, str]:
    """Whether these models and tools may see data of a class, for the manifest. Raises PrivacyRefused."""
    names = ", ".join(sorted({model.name for model in models.values()}))
    decision = {"dataset": privacy, "model": names, "decision": "permitted"}
    outside = {role: model for role, model in models.items() if not model.in_process}
    if privacy == "open":
        return decision | {"reason": "the data are open"}
    _permit_tools(privacy, toolset, decision, what)
    if not outside:
        return decision | {"reason": "the model runs in this process: nothing leaves it"}
    for role, model in outside.items():
        if privacy not in model.permits:
            key = "model" if role == "main" else f"models.{role}"
            allowed = ", ".join(["open", *model.permits])
            reason = (
                f"the {what} is {privacy} and the model {model.name!r} may only get data that are {allowed};"
                f" if its endpoint may receive such data: {key}.permits=[{privacy}]"
            )
            raise PrivacyRefused(decision | {"decision": "refused", "reason": reason})
    return decision | {"reason": f"every model's permits hold {privacy}"}


def _permit_tools(privacy: str, toolset: Toolset, decision: Mapping[str, str], what: str) -> None:
    """Raises PrivacyRefused when a tool could carry what it is asked to a service that may not get it."""
    tools: Mapping[str, Tool] = getattr(toolset, "tools", {})
    outside = [name for name, tool in tools.items() if tool.effect == "external"]
    if outside and privacy not in (permits := getattr(toolset, "permits", ())):
        allowed = ", ".join(["open", *permits])
        reason = (
            f"the {what} is {privacy} and the tool {outside[0]} asks a service, which may only get data that"
            f" are {allowed}; if it may receive such data: toolset.permits=[{privacy}]"
        )
        raise PrivacyRefused(dict(decision) | {"decision": "refused", "reason": reason})


def playable(models: Mapping[str, Model]) -> None:
    """Refuse a model that may have no call at all on its way. Raises Flaws."""
    for role, model in models.items():
        if model.max_connections < 1:
            key = "model" if role == "main" else f"models.{role}"
            raise Flaws([Flaw(f"{key}.max_connections", f"found {model.max_connections}; at least 1 is needed")])


def priced(models: Mapping[str, Model], budgets: Mapping[str, Any]) -> None:
    """Refuse a budget in dollars that no unpriced call would ever reach. Raises Flaws."""
    limited = [name for name in ("sample", "run") if budgets[name].get("usd") is not None]
    for role, model in models.items() if limited else ():
        if not has_price(model):
            key = "model" if role == "main" else f"models.{role}"
            text = f"the price of {model.name} is not known, so this limit would never be reached; set {key}.price"
            raise Flaws([Flaw(f"budget.{limited[0]}.usd", text)])


def impartial(scorers: Mapping[str, Scorer], models: Mapping[str, Model]) -> None:
    """Refuse a scorer that would have the model under test grade itself, unless it is told to. Raises Flaws."""
    tested = {_short(model): role for role, model in models.items() if role in _TESTED}
    for key, scorer in scorers.items():
        if not consults(scorer) or scorer.allow_self:
            continue
        model = models.get(scorer.asks)
        if model is not None and _short(model) not in tested:
            continue
        found = f"is {model.name}, which is tested here (as {tested[_short(model)]})" if model else "is not named"
        text = (
            f"models.{scorer.asks}, which grades, {found}; name another, as in +model@models.{scorer.asks}=openai,"
            f" or say scorer.{key}.allow_self=true"
        )
        raise Flaws([Flaw(f"scorer.{key}", text)])


def _short(model: Model) -> str:
    """The name of a model without the provider before it."""
    return model.name.rpartition("/")[2].casefold()


def has_price(model: Model) -> bool:
    """Whether what a model's calls cost is known; what is not live costs nothing."""
    row = getattr(model, "price_row", None)
    return model.kind != "live" or (row is not None and row.get("input") is not None)


def fit(parts: Parts, sample: Sample, seed: int, toolsets: Sequence[str], acts: bool) -> None:
    """Whether the parts work together, tried on the first sample. Raises Flaws.

    ``acts``: the agent writes actions in the grammar.
    """
    flaws: list[Flaw] = []
    with noting(flaws, "toolset"):
        parts.toolset.open(sample)
    if not flaws:
        with noting(flaws, "condition"):
            offer = parts.open(sample, 0, seed)
            _out_of_codes_reach(parts, offer)
            with noting(flaws, "agent"):
                for agent in within(parts.agent):
                    if (fits := getattr(agent, "fits", None)) is not None:
                        fits(offer)
                    lacking = [c for c in getattr(agent, "needs_controls", ()) if c not in offer.controls]
                    if not lacking:
                        continue
                    kind = type(agent).__name__
                    has = ", ".join(offer.controls) or "none"
                    raise ConfigError(
                        f"{kind} needs a toolset with the controls {', '.join(lacking)}; this one has {has}:"
                        f" choose another toolset ({', '.join(toolsets)}) or another agent"
                    )
                if acts and not offer.tools and getattr(parts.grammar, "needs_tools", False):
                    raise ConfigError(
                        f"{type(parts.grammar).__name__} has no way to answer without a tool, and nothing is offered:"
                        " choose another agent.grammar, toolset or condition"
                    )
                parts.grammar.instructions(offer)
        with noting(flaws, "sandbox"):
            holder_of_code(parts)
    if flaws:
        raise Flaws(flaws)


def _out_of_codes_reach(parts: Parts, offer: Offer) -> None:
    """Refuse to withhold functions from code, in which all of them stand, or to let them fail. Raises ConfigError."""
    if not any("code" in tool.spec.facts for tool in offer.tools.values()):
        return
    agent = type(parts.agent).__name__
    if withheld := offer.facts.get("withheld"):
        raise ConfigError(
            f"{agent} writes code, in which every function stands; withholding"
            f" {', '.join(map(str, withheld))} takes nothing from it: choose an agent that takes actions"
        )
    if faults := offer.facts.get("faults"):
        kinds = ", ".join(str(fault["kind"]) for fault in faults)
        raise ConfigError(
            f"{agent} writes code, whose functions run in the sandbox, where the fault ({kinds}) does not strike them:"
            " choose an agent and a toolset that take actions"
        )


def holder_of_code(parts: Parts) -> Mapping[str, Any] | None:
    """What holds the code that a model writes, where any is run. Raises ConfigError where nothing can."""
    for agent in within(parts.agent):
        if (own := getattr(agent, "runs_code", None)) is not None:
            return dict(own.report())
    sandbox = getattr(parts.toolset, "runs_code", None)
    brought = (tool for agent in within(parts.agent) for tool in getattr(agent, "brings", ()))
    tools = (*getattr(parts.toolset, "tools", {}).values(), *brought)
    if sandbox is None or not any("code" in tool.spec.facts for tool in tools):
        return None
    return dict(sandbox.report())


def within(part: object) -> Iterator[object]:
    """A part and, of an agent that plays other agents, those."""
    yield part
    for value in list(getattr(part, "__dict__", {}).values()) if isinstance(part, Agent) else ():
        if isinstance(value, Agent):
            yield from within(value)


def prompt_digests(parts: Sequence[object]) -> dict[str, str]:
    """The digests of the prompt sets that parts name. Raises ConfigError."""
    from components.prompts import load

    parts = [one for part in parts for one in within(part)]
    tools = [tool for part in parts for tool in _tools_of(part)]
    named = [getattr(part, field, None) for part in (*parts, *tools) for field in _PROMPTS]
    names = {name for name in named if isinstance(name, str)}
    return {name: load(name).digest for name in sorted(names)}


def _tools_of(part: object) -> Iterator[Tool]:
    """The tools that a part holds or brings; the ``tools`` of a condition are names."""
    held = getattr(part, "tools", None)
    yield from held.values() if isinstance(held, Mapping) else ()
    yield from getattr(part, "brings", ())


@contextmanager
def noting(flaws: list[Flaw], key: str = "") -> Iterator[None]:
    """Collect what a block complains about."""
    try:
        yield
    except Flaws as error:
        flaws += error.flaws
    except ConfigError as error:
        flaws.append(Flaw(key, str(error)))
