"""``agent.confidence``: the parts that an experiment has in addition where its agent is to say how sure it is."""

from collections.abc import Mapping
from typing import Any, get_args

from components.core.protocols import Agent, Scorer
from components.core.traits import Requirements, declared
from runner.config.catalogue import Catalogue
from runner.config.errors import Finding, nearest
from runner.episode.confidence import Confidence

KEY = "confidence"
_SEVERAL = "self_consistency"  # the choice of an agent that draws another one several times


def with_confidence(nodes: Mapping[str, tuple[Any, Any]], findings: list[Finding]) -> dict[str, tuple[Any, Any]]:
    """The nodes of an experiment's parts, with a grammar that asks (verbal) and the scorer; the same where no
    confidence is asked for. Adds an unknown kind to the findings."""
    found = dict(nodes)
    agent = dict(found["agent"][1]) if "agent" in found else {}
    kind = agent.pop(KEY, None)
    if agent:
        found["agent"] = Agent, agent
    if kind is None:
        return found
    if kind not in (kinds := get_args(Confidence)):
        findings.append(Finding(f"agent.{KEY}", f"no confidence {kind!r}; {nearest(str(kind), kinds)}, or null"))
        return found
    if kind == "verbal":
        found |= {key: (of, {**node, KEY: True}) for key, (of, node) in nodes.items() if key.startswith("grammars.")}
    found.setdefault(f"scorer.{KEY}", (Scorer, Catalogue().find("scorer", KEY).own[KEY]))
    return found


def with_samples(cfg: Mapping[str, Any], agent: Agent, node: object) -> object:
    """The node of an agent that is asked for a confidence by samples: of several draws of it, unless it draws."""
    if cfg["agent"].get(KEY) != "samples" or declared(agent, Requirements).draws:
        return node
    several = Catalogue().find("agent", _SEVERAL).own
    return {name: value for name, value in several.items() if name != "defaults"} | {"inner": node}
