"""The parts that a config names: built, with all that is wrong collected, and whether they fit together, before a call
is paid for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from components.core.errors import ConfigError
from components.core.learning import Source, StandaloneStage
from components.core.plain import Accept
from components.core.protocols import Agent, Condition, Dataset, Grammar, Model, Scorer, Toolset, Verifier
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
from runner.config import build as builder
from runner.config.errors import ConfigErrors, Finding, nearest, note_errors
from runner.episode.confidence import PROMPTS
from runner.episode.shared import Parts
from runner.experiment.confidence import with_confidence, with_samples

Named = Mapping[str, tuple[Any, object]]  # key -> protocol, node
_ONE = {"agent": Agent, "verifier": Verifier, "toolset": Toolset, "condition": Condition, "dataset": Dataset}
_UNSENT: Mapping[str, object] = {"key_optional": True, "retired": None}  # of a model, where nothing is sent


def named_parts(cfg: Mapping[str, Any], findings: list[Finding]) -> Named:
    """Key -> protocol and node of all parts that a config names, without the groups that have a finding already."""
    broken = {finding.key.partition(".")[0] for finding in findings}
    sound = {key: node for key, node in cfg.items() if key not in broken}
    nodes: dict[str, tuple[Any, Any]] = {}
    agent, grammars = sound.get("agent", {}), sound.get("grammars", {})
    named = grammars_of(agent)
    name = next(iter(named.values()), next(iter(grammars), None))  # by default the first
    if any(other != name for other in named.values()):
        names = ", ".join(f"{key}={value}" for key, value in named.items())
        findings.append(Finding("agent.grammar", f"the agents of a run share one grammar, found {names}"))
    elif name in grammars:
        nodes[f"grammars.{name}"] = Grammar, grammars[name]
    elif "grammars" in sound:
        findings.append(Finding("agent.grammar", f"no grammar {name!r}; {nearest(str(name), grammars)}"))
    nodes |= {key: (kind, sound[key]) for key, kind in _ONE.items() if key in sound}
    nodes |= {f"scorer.{key}": (Scorer, node) for key, node in sound.get("scorer", {}).items()}
    models = {"model": sound["model"]} if "model" in sound else {}
    models |= {f"models.{role}": node for role, node in sound.get("models", {}).items()}
    run = cfg.get("run")
    free = _UNSENT if isinstance(run, Mapping) and run.get("replay", False) is not False else {}
    for key, node in models.items():
        unsent = {name: value for name, value in free.items() if isinstance(node, Mapping) and name in node}
        nodes[key] = Model, {**node, **unsent} if unsent else node
    if agent:
        nodes["agent"] = Agent, _without_grammars(agent)
    if sound.get("memory") is not None:
        nodes["memory"] = Source, sound["memory"]
    if isinstance(sound.get("stage"), Mapping):
        nodes["stage"] = StandaloneStage, sound["stage"]
    return with_confidence(nodes, findings)


def build_parts(named: Named, cfg: Mapping[str, Any], findings: list[Finding]) -> dict[str, Any]:
    """Key -> part. Adds errors to ``findings``."""
    allowed = cfg["run"].get("allow_targets") if isinstance(cfg.get("run"), Mapping) else None
    allow = tuple(map(str, allowed)) if isinstance(allowed, list) else ()
    made = {}
    for key, (protocol, node) in named.items():
        with note_errors(findings, key):
            made[key] = builder.part(node, key, allow, protocol)
            if key == "toolset":
                declared(made[key], ToolsetTraits)  # which may ask servers for their tools
            if key == "agent" and (other := with_samples(cfg, made[key], node)) is not node:
                made[key] = builder.part(other, key, allow, protocol)
    return made


def below(made: Mapping[str, Any], group: str) -> dict[str, Any]:
    """Name -> part of a group that has several."""
    return {key.partition(".")[2]: part for key, part in made.items() if key.startswith(f"{group}.")}


def grammars_of(agent: Mapping[str, Any], key: str = "agent") -> dict[str, Any]:
    """Key -> name of the grammars that an agent's node and those of agents within it name."""
    found = {f"{key}.grammar": agent["grammar"]} if "grammar" in agent else {}
    for name, node in agent.items():
        if isinstance(node, Mapping) and "_target_" in node:
            found |= grammars_of(node, f"{key}.{name}")
    return found


def _without_grammars(agent: Mapping[str, Any]) -> dict[str, Any]:
    """The node of an agent, and of those within it, as their classes take it."""
    return {
        name: _without_grammars(node) if isinstance(node, Mapping) and "_target_" in node else node
        for name, node in agent.items()
        if name != "grammar"
    }


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
    needs, toolset = [declared(agent, Requirements) for agent in agents], declared(parts.toolset, ToolsetTraits)
    tools = (*toolset.tools.values(), *(tool for one in needs for tool in one.tools))
    named = {name for one in needs for name in one.prompts} | ({PROMPTS} if parts.confidence == "verbal" else set())
    for one in (*agents, parts.verifier, parts.grammar, parts.toolset, parts.condition, *tools, *others):
        named |= {*prompt_sets(one)}
    return {name: load(name).digest for name in sorted(named)}


def with_provided_verifier(parts: Parts, models: Mapping[str, Model], samples: Sequence[Sample]) -> Parts:
    """The parts, with the verifier that an agent provides. Raises ConfigErrors for what cannot be granted."""
    findings: list[Finding] = []
    needs = [(agent, declared(agent, Requirements)) for agent in agents_in(parts.agent)]
    for agent, one in needs:
        for name in (name for name in one.models if name not in models):
            have = f"there are {', '.join(models)}; another: +model@models.{name}=openai"
            findings.append(Finding("agent", f"{type(agent).__name__} names the model {name!r}; {have}"))
    for agent, one in needs:
        known = tuple(one.shown_patients)
        if seen := [one.problem.id for one in samples if known and one.known_as.context.startswith(known)]:
            text = f"{type(agent).__name__} shows examples on {len(seen)} of the samples that are evaluated, such as"
            text = f"{text} {seen[0]!r}: evaluate another split, or show other examples"
            findings.append(Finding("agent", text))
    chosen, provided = parts.verifier, [one.verifier for _, one in needs if one.verifier is not None]
    for verifier in provided:
        mine, other, first = (type(one).__name__ for one in (verifier, chosen, provided[0]))
        if not isinstance(chosen, Accept) and chosen != verifier:
            text = f"the agent provides a verifier ({mine}), so {other} would not be asked: verifier=accept"
            findings.append(Finding("verifier", text))
        elif verifier != provided[0]:
            text = f"the agents within it provide different verifiers: {mine} and {first}"
            findings.append(Finding("agent", text))
    if findings:
        raise ConfigErrors(findings)
    return replace(parts, verifier=provided[0]) if provided else parts


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


def check_scorers(scorers: Mapping[str, Scorer], samples: Sequence[Sample]) -> None:
    """Raises ConfigErrors for scorers that can score none of the samples, or follow a deciding score that none has."""
    findings = []
    traits = {key: declared(scorer, ScorerTraits) for key, scorer in scorers.items()}
    if not any(one.decides and one.asks is None for one in traits.values()):
        text = "scores by whether an answer is right, and no other scorer here decides that; add the scorer that the "
        text += "dataset's file names, as in scorer=[ehr,{}]"
        findings += [Finding(f"scorer.{key}", text.format(key)) for key, one in traits.items() if one.follows]
    for key, scorer in scorers.items():
        unfit = traits[key].unfit
        if all(map(unfit, samples)):
            text = f"{type(scorer).__name__} can score none of these samples: {unfit(samples[0])}; leave it out, or"
            findings.append(Finding(f"scorer.{key}", f"{text} choose the scorer that the dataset's file names"))
    if findings:
        raise ConfigErrors(findings)


def _short(model: Model) -> str:
    return model.name.rpartition("/")[2].casefold()


def has_price(model: Model) -> bool:
    """Whether the cost of a model's calls is known; a model that sends nothing costs nothing."""
    row = declared(model, ModelTraits).price
    return model.kind != "live" or (row is not None and row.get("input") is not None)


def check_fit(parts: Parts, sample: Sample, seed: int, acts: bool) -> None:
    """Whether the parts work together, tried on the first sample. ``acts``: in the grammar. Raises ConfigErrors."""
    findings: list[Finding] = []
    with note_errors(findings, "toolset"):
        parts.toolset.open(sample)
    if not findings:
        with note_errors(findings, "condition"):
            offer = parts.open(sample, 0, seed)
            _refuse_ineffective_condition(parts, offer)
            with note_errors(findings, "agent"):
                for agent in agents_in(parts.agent):
                    needs = declared(agent, Requirements)
                    if needs.accepts is not None:
                        needs.accepts(offer)
                    if needs.functions and not declared(parts.grammar, GrammarTraits).functions:
                        text = (
                            f"{type(agent).__name__} acts by function calls, which {type(parts.grammar).__name__} does"
                        )
                        raise ConfigErrors([Finding("agent.grammar", f"{text} not read: choose {needs.fits}")])
                    if lacking := [name for name in needs.controls if name not in offer.controls]:
                        fits = needs.fits or "the dataset and the toolset that it is for"
                        raise ConfigError(
                            f"{type(agent).__name__} needs a toolset with the controls {', '.join(lacking)}: choose"
                            f" {fits}, or an agent that needs none of these (--info choices agent)"
                        )
                if acts and not offer.tools and declared(parts.grammar, GrammarTraits).needs_tools:
                    raise ConfigError(
                        f"{type(parts.grammar).__name__} has no way to answer without a tool, and nothing is offered:"
                        " choose another agent.grammar, toolset or condition"
                    )
                parts.grammar.instructions(offer)
            acts_when = {declared(agent, Requirements).acts for agent in agents_in(parts.agent)}
            has_actions = "always" in acts_when or ("with_tools" in acts_when and offer.tools)
            if offer.note and not has_actions:
                text = (
                    f"{type(parts.agent).__name__} takes no action, so it would not be shown what this condition adds"
                )
                raise ConfigErrors([Finding("condition", f"{text} to the instructions: choose an agent that acts")])
            if not (isinstance(parts.verifier, Accept) or has_actions):
                without = " without tools" if "with_tools" in acts_when else ""
                text = (
                    f"{type(parts.verifier).__name__} would not be asked: {type(parts.agent).__name__} takes no action"
                    f" that it could check{without}: verifier=accept, or choose an agent that acts"
                )
                raise ConfigErrors([Finding("verifier", text)])
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
