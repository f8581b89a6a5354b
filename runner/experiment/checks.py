"""Whether the parts of an experiment fit together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from components.core.errors import ConfigError
from components.core.plain import Accept
from components.core.protocols import Agent, Model, Toolset, Verifier
from components.core.tools import Offer
from components.core.traits import (
    GrammarTraits,
    ModelTraits,
    Requirements,
    ScorerTraits,
    ToolsetTraits,
    agents_in,
    declared,
    prompt_sets,
)
from components.core.types import Sample
from components.prompts import load
from runner.config.errors import ConfigErrors, Finding, noting
from runner.config.targets import undeclared_in

if TYPE_CHECKING:
    from runner.episode.shared import Parts


def check_models(parts: Parts, models: Mapping[str, Model], budgets: Mapping[str, Any]) -> None:
    """Refuse models without connections, without a price for a budget, or grading themselves. Raises ConfigErrors."""
    limited = [name for name in ("sample", "run") if budgets[name].get("usd") is not None]
    for role, model in models.items():
        key = _key_of(role)
        if model.max_connections < 1:
            text = f"found {model.max_connections}; at least 1 is needed"
            raise ConfigErrors([Finding(f"{key}.max_connections", text)])
        if limited and not has_price(model):
            text = f"the price of {model.name} is not known, so this limit would never be reached; set {key}.price"
            raise ConfigErrors([Finding(f"budget.{limited[0]}.usd", text)])
    _refuse_self_grading(parts, models)


def _key_of(role: str) -> str:
    """The key of a model in the config."""
    return "model" if role == "main" else f"models.{role}"


def _refuse_self_grading(parts: Parts, models: Mapping[str, Model]) -> None:
    """Refuse a scorer that would have the model under test grade itself without leave. Raises ConfigErrors."""
    asked = {"main", "verifier"}
    for agent in agents_in(parts.agent):
        needs = declared(agent, Requirements)
        asked |= {*needs.models, *needs.roles}
    tested = {_short(model): role for role, model in models.items() if role in asked}
    for key, scorer in parts.scorers.items():
        traits = declared(scorer, ScorerTraits)
        if traits.asks is None or traits.allow_self:
            continue
        model = models.get(traits.asks)
        if model is not None and _short(model) not in tested:
            continue
        found = f"is {model.name}, which is tested here (as {tested[_short(model)]})" if model else "is not named"
        text = (
            f"models.{traits.asks}, which grades, {found}; name another, as in +model@models.{traits.asks}=openai,"
            f" or say scorer.{key}.allow_self=true"
        )
        raise ConfigErrors([Finding(f"scorer.{key}", text)])


def _short(model: Model) -> str:
    """The name of a model without the provider before it."""
    return model.name.rpartition("/")[2].casefold()


def has_price(model: Model) -> bool:
    """Whether what a model's calls cost is known; what is not live costs nothing."""
    row = declared(model, ModelTraits).price
    return model.kind != "live" or (row is not None and row.get("input") is not None)


def check_fit(parts: Parts, sample: Sample, seed: int, toolsets: Sequence[str], acts: bool) -> None:
    """Whether the parts work together, tried on the first sample. Raises ConfigErrors.

    ``acts``: the agent writes actions in the grammar.
    """
    findings: list[Finding] = []
    with noting(findings, "toolset"):
        parts.toolset.open(sample)
    if not findings:
        with noting(findings, "condition"):
            offer = parts.open(sample, 0, seed)
            for tool in offer.tools.values():
                if undeclared := undeclared_in(type(tool), "Tool"):
                    raise ConfigError(undeclared)
            _refuse_ineffective_condition(parts, offer)
            with noting(findings, "agent"):
                for agent in agents_in(parts.agent):
                    _check_offer(agent, offer, toolsets)
                if acts and not offer.tools and declared(parts.grammar, GrammarTraits).needs_tools:
                    raise ConfigError(
                        f"{type(parts.grammar).__name__} has no way to answer without a tool, and nothing is offered:"
                        " choose another agent.grammar, toolset or condition"
                    )
                parts.grammar.instructions(offer)
        with noting(findings, "sandbox"):
            sandbox_of(parts)
    if findings:
        raise ConfigErrors(findings)


def _check_offer(agent: Agent, offer: Offer, toolsets: Sequence[str]) -> None:
    """Raises ConfigError for an offer that an agent cannot work with."""
    needs = declared(agent, Requirements)
    if needs.accepts is not None:
        needs.accepts(offer)
    if lacking := [name for name in needs.controls if name not in offer.controls]:
        has = ", ".join(offer.controls) or "none"
        raise ConfigError(
            f"{type(agent).__name__} needs a toolset with the controls {', '.join(lacking)}; this one has {has}:"
            f" choose another toolset ({', '.join(toolsets)}) or another agent"
        )


def _refuse_ineffective_condition(parts: Parts, offer: Offer) -> None:
    """Refuse to withhold functions from code, which can call all of them, or to let them fail. Raises ConfigError."""
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
            f"{agent} writes code, whose functions run in the sandbox, where the fault ({kinds}) has no effect:"
            " choose an agent and a toolset that call tools"
        )


def sandbox_of(parts: Parts) -> Mapping[str, Any] | None:
    """What holds the code that a model writes, where any is run. Raises ConfigError where nothing can."""
    needs = [declared(agent, Requirements) for agent in agents_in(parts.agent)]
    if own := next((one.sandbox for one in needs if one.sandbox is not None), None):
        return dict(own.report())
    toolset = declared(parts.toolset, ToolsetTraits)
    tools = (*toolset.tools.values(), *(tool for one in needs for tool in one.tools))
    if toolset.sandbox is None or not any("code" in tool.spec.facts for tool in tools):
        return None
    return dict(toolset.sandbox.report())


def prompt_digests(parts: Parts, *others: object) -> dict[str, str]:
    """The digests of the prompt sets that the parts of an episode, and others, name. Raises ConfigError."""
    agents = [*agents_in(parts.agent)]
    needs = [declared(agent, Requirements) for agent in agents]
    tools = (*declared(parts.toolset, ToolsetTraits).tools.values(), *(tool for one in needs for tool in one.tools))
    named = {name for one in needs for name in one.prompts}
    for one in (*agents, parts.verifier, parts.grammar, parts.toolset, parts.condition, *tools, *others):
        named |= {*prompt_sets(one)}
    return {name: load(name).digest for name in sorted(named)}


def with_provided_verifier(parts: Parts, models: Mapping[str, Model], samples: Sequence[Sample]) -> Parts:
    """The parts, with the verifier that an agent provides. Raises ConfigErrors for what cannot be granted."""
    agents = [*agents_in(parts.agent)]
    findings = [*_missing_models(agents, models), *_evaluated_examples(agents, samples)]
    provided = [one for agent in agents if (one := declared(agent, Requirements).verifier) is not None]
    findings += _unused_verifiers(parts.verifier, provided)
    if findings:
        raise ConfigErrors(findings)
    return replace(parts, verifier=provided[0]) if provided else parts


def _missing_models(agents: Iterable[Agent], models: Mapping[str, Model]) -> Iterator[Finding]:
    """Models that an agent names and that are not there."""
    for agent in agents:
        for name in declared(agent, Requirements).models:
            if name not in models:
                have = f"there are {', '.join(models)}; another: +model@models.{name}=openai"
                text = f"{type(agent).__name__} names the model {name!r}; {have}"
                yield Finding("agent", text)


def _unused_verifiers(verifier: Verifier, provided: Sequence[Verifier]) -> Iterator[Finding]:
    """A verifier that would not be asked, since an agent provides another."""
    for one in provided:
        mine, other = type(one).__name__, type(verifier).__name__
        if not isinstance(verifier, Accept) and verifier != one:
            text = f"the agent provides a verifier ({mine}), so {other} would not be asked: verifier=accept"
            yield Finding("verifier", text)
        elif one != provided[0]:
            yield Finding(
                "agent", f"the agents within it provide different verifiers: {mine} and {type(provided[0]).__name__}"
            )


def _evaluated_examples(agents: Iterable[Agent], samples: Sequence[Sample]) -> Iterator[Finding]:
    """Examples on patients that are evaluated."""
    for agent in agents:
        known = tuple(declared(agent, Requirements).shown_patients)
        seen = [one.problem.id for one in samples if known and one.known_as.context.startswith(known)]
        if seen:
            text = f"{type(agent).__name__} shows examples on {len(seen)} of the samples that are evaluated, such as"
            yield Finding("agent", f"{text} {seen[0]!r}: evaluate another split, or show other examples")


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
    _check_tools(privacy, toolset, decision, what)
    if not outside:
        return decision | {"reason": "the model runs in this process: nothing leaves it"}
    for role, model in outside.items():
        if privacy not in model.permits:
            allowed = ", ".join(["open", *model.permits])
            reason = (
                f"the {what} is {privacy} and the model {model.name!r} may only get data that are {allowed};"
                f" if its endpoint may receive such data: {_key_of(role)}.permits=[{privacy}]"
            )
            raise PrivacyRefused(decision | {"decision": "refused", "reason": reason})
    return decision | {"reason": f"every model's permits hold {privacy}"}


def _check_tools(privacy: str, toolset: Toolset, decision: Mapping[str, str], what: str) -> None:
    """Raises PrivacyRefused when a tool could carry what it is asked to a service that may not get it."""
    traits = declared(toolset, ToolsetTraits)
    outside = [name for name, tool in traits.tools.items() if tool.effect == "external"]
    if outside and privacy not in traits.permits:
        allowed = ", ".join(["open", *traits.permits])
        reason = (
            f"the {what} is {privacy} and the tool {outside[0]} asks a service, which may only get data that"
            f" are {allowed}; if it may receive such data: toolset.permits=[{privacy}]"
        )
        raise PrivacyRefused(dict(decision) | {"decision": "refused", "reason": reason})
