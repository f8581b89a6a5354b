"""``agent.confidence``: the parts that an experiment has in addition where its agent is to say how sure it is."""

from collections.abc import Mapping
from typing import Any, get_args

from components.core.protocols import Agent, Scorer
from runner.config.errors import Finding, nearest
from runner.episode.confidence import Confidence

KEY = "confidence"
_DRAWS = "components.agents.self_consistency"  # the module of agents that draw several answers
_SCORER = {"_target_": "components.scorers.confidence.Confidence"}


def with_confidence(nodes: Mapping[str, tuple[Any, Any]], findings: list[Finding]) -> dict[str, tuple[Any, Any]]:
    """The nodes of an experiment's parts, with a grammar that asks (verbal), several draws of the agent (samples), and
    the scorer; the same where no confidence is asked for. Adds an unknown kind to the findings."""
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
    elif kind == "samples" and not str(agent.get("_target_", "")).startswith(f"{_DRAWS}."):
        found["agent"] = Agent, {"_target_": f"{_DRAWS}.SelfConsistency", "inner": agent}
    found.setdefault(f"scorer.{KEY}", (Scorer, _SCORER))
    return found
