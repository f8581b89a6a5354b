"""Whether the parts of an experiment fit together, before a call is paid for."""

from collections.abc import Mapping, Sequence
from typing import Any

from components.core.errors import ConfigError
from components.core.plain import Accept
from components.core.protocols import Model, Toolset
from components.core.tools import Offer
from components.core.traits import (
    GrammarTraits,
    ModelTraits,
    Requirements,
    ScorerTraits,
    ToolsetTraits,
    agents_in,
    declared,
)
from components.core.types import Sample
from runner.config.errors import ConfigErrors, Finding, note_errors
from runner.config.targets import undeclared_in
from runner.episode.shared import Parts
from runner.experiment.parts import sandbox_of


def check_models(parts: Parts, models: Mapping[str, Model], budgets: Mapping[str, Any]) -> None:
    """Raises ConfigErrors for models without connections, a price for a budget, or leave to grade themselves."""
    limited = [name for name in ("sample", "run") if budgets[name].get("usd") is not None]
    for role, model in models.items():
        key = "model" if role == "main" else f"models.{role}"
        if model.max_connections < 1:
            text = f"found {model.max_connections}; at least 1 is needed"
            raise ConfigErrors([Finding(f"{key}.max_connections", text)])
        if limited and not has_price(model):
            text = f"the price of {model.name} is not known, so this limit would never be reached; set {key}.price"
            raise ConfigErrors([Finding(f"budget.{limited[0]}.usd", text)])
    used = {"main", "verifier"}
    for agent in agents_in(parts.agent):
        needs = declared(agent, Requirements)
        used |= {*needs.models, *needs.roles}
    tested = {_short(model): role for role, model in models.items() if role in used}
    for key, scorer in parts.scorers.items():
        traits = declared(scorer, ScorerTraits)
        grader = models.get(traits.asks or "")
        if traits.asks is None or traits.allow_self or (grader is not None and _short(grader) not in tested):
            continue
        found = f"is {grader.name}, which is tested here (as {tested[_short(grader)]})" if grader else "is not named"
        text = (
            f"models.{traits.asks}, which grades, {found}; name another, as in +model@models.{traits.asks}=openai,"
            f" or say scorer.{key}.allow_self=true"
        )
        raise ConfigErrors([Finding(f"scorer.{key}", text)])


def _short(model: Model) -> str:
    return model.name.rpartition("/")[2].casefold()


def has_price(model: Model) -> bool:
    """Whether what a model's calls cost is known; what is not live costs nothing."""
    row = declared(model, ModelTraits).price
    return model.kind != "live" or (row is not None and row.get("input") is not None)


def check_fit(parts: Parts, sample: Sample, seed: int, toolsets: Sequence[str], acts: bool) -> None:
    """Whether the parts work together, tried on the first sample. ``acts``: in the grammar. Raises ConfigErrors."""
    findings: list[Finding] = []
    with note_errors(findings, "toolset"):
        parts.toolset.open(sample)
    if not findings:
        with note_errors(findings, "condition"):
            offer = parts.open(sample, 0, seed)
            for tool in offer.tools.values():
                if undeclared := undeclared_in(type(tool), "Tool"):
                    raise ConfigError(undeclared)
            _refuse_ineffective_condition(parts, offer)
            with note_errors(findings, "agent"):
                for agent in agents_in(parts.agent):
                    needs = declared(agent, Requirements)
                    if needs.accepts is not None:
                        needs.accepts(offer)
                    if lacking := [name for name in needs.controls if name not in offer.controls]:
                        has = ", ".join(offer.controls) or "none"
                        raise ConfigError(
                            f"{type(agent).__name__} needs a toolset with the controls {', '.join(lacking)}; this one"
                            f" has {has}: choose another toolset ({', '.join(toolsets)}) or another agent"
                        )
                if acts and not offer.tools and declared(parts.grammar, GrammarTraits).needs_tools:
                    raise ConfigError(
                        f"{type(parts.grammar).__name__} has no way to answer without a tool, and nothing is offered:"
                        " choose another agent.grammar, toolset or condition"
                    )
                parts.grammar.instructions(offer)
            _refuse_idle_verifier(parts, offer)
        with note_errors(findings, "sandbox"):
            sandbox_of(parts)
    if findings:
        raise ConfigErrors(findings)


def _refuse_ineffective_condition(parts: Parts, offer: Offer) -> None:
    """Refuse to withhold functions from code, which can call all of them, or to let them fail. Raises ConfigError."""
    if not any("code" in tool.spec.facts for tool in offer.tools.values()):
        return
    writer = f"{type(parts.agent).__name__} writes code"
    if withheld := offer.facts.get("withheld"):
        names = ", ".join(map(str, withheld))
        text = f"which can call every function, so withholding {names} has no effect"
        raise ConfigError(f"{writer}, {text}: choose an agent that takes actions")
    if faults := offer.facts.get("faults"):
        kinds = ", ".join(str(fault["kind"]) for fault in faults)
        text = f"whose functions run in the sandbox, where the fault ({kinds}) has no effect"
        raise ConfigError(f"{writer}, {text}: choose an agent and a toolset that call tools")


def _refuse_idle_verifier(parts: Parts, offer: Offer) -> None:
    """Refuse a verifier where no agent asks for the actions that it would check. Raises ConfigErrors."""
    acts = {declared(agent, Requirements).acts for agent in agents_in(parts.agent)}
    if not (isinstance(parts.verifier, Accept) or "always" in acts or ("with_tools" in acts and offer.tools)):
        who, without = type(parts.agent).__name__, " without tools" if "with_tools" in acts else ""
        text = f"{type(parts.verifier).__name__} would not be asked: {who} takes no action that it could check{without}"
        raise ConfigErrors([Finding("verifier", f"{text}: verifier=accept, or choose an agent that acts")])


class PrivacyRefused(ConfigError):
    """The data may not go to the model. ``decision`` is for the manifest."""

    def __init__(self, decision: Mapping[str, str]) -> None:
        super().__init__(decision["reason"])
        self.decision = decision


def permit(privacy: str, models: Mapping[str, Model], toolset: Toolset, what: str = "dataset") -> dict[str, str]:
    """Whether these models and tools may see data of a class, for the manifest. Raises PrivacyRefused."""
    names, traits = ", ".join(sorted({model.name for model in models.values()})), declared(toolset, ToolsetTraits)
    decision = {"dataset": privacy, "model": names, "decision": "permitted"}
    if privacy == "open":
        return decision | {"reason": "the data are open"}
    receivers = [  # who, what it may get, who else, its key
        (f"tool {name} asks a service, which", traits.permits, "it", "toolset")
        for name, tool in traits.tools.items()
        if tool.effect == "external"
    ]
    outside = {role: model for role, model in models.items() if not model.in_process}
    for role, model in outside.items():
        key = "model" if role == "main" else f"models.{role}"
        receivers.append((f"model {model.name!r}", model.permits, "its endpoint", key))
    for who, permits, receiver, key in receivers:
        if privacy not in permits:
            reason = (
                f"the {what} is {privacy} and the {who} may only get data that are {', '.join(['open', *permits])};"
                f" if {receiver} may receive such data: {key}.permits=[{privacy}]"
            )
            raise PrivacyRefused(decision | {"decision": "refused", "reason": reason})
    kept = "the model runs in this process: nothing leaves it"
    return decision | {"reason": f"every model's permits hold {privacy}" if outside else kept}
