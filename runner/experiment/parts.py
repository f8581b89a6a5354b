"""Builds the parts that a config names, and collects all that is wrong with them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.core.learning import Source, StandaloneStage
from components.core.protocols import Agent, Condition, Dataset, Grammar, Model, Scorer, Toolset, Verifier
from runner.config import build as builder
from runner.config.errors import Finding, nearest, noting

_UNSENT: Mapping[str, object] = {"key_optional": True, "retired": None}  # of a model, where nothing is sent


@dataclass
class PartsBuilder:
    """Builds the parts of a config, each once, and collects what is wrong.

    What is ``broken`` already is left out; ``only`` these groups are built, None = all.
    """

    cfg: Mapping[str, Any]
    broken: Collection[str]
    findings: list[Finding]
    only: Collection[str] | None
    made: dict[str, Any] = field(default_factory=dict)

    def everything(self) -> tuple[dict[str, Any], dict[str, Model], Dataset]:
        """The parts of an episode by the names of ``Parts``, the models, the dataset; None for each that is broken."""
        agent = {} if "agent" in self.broken else self.cfg["agent"]
        pieces = {"grammar": self._grammar(agent), "agent": self.one("agent", Agent, _without_grammars(agent))}
        kinds = {"verifier": Verifier, "toolset": Toolset, "condition": Condition}
        pieces |= {key: self.one(key, protocol) for key, protocol in kinds.items()}
        pieces["scorers"] = {k: self.one(f"scorer.{k}", Scorer, node) for k, node in self._nodes("scorer")}
        return pieces, self._models(), self.one("dataset", Dataset)

    def source(self) -> Source | None:
        """The memory's source, where the config names one."""
        return None if self.cfg.get("memory") is None else self.one("memory", Source)

    def stage(self) -> StandaloneStage | None:
        """The standalone stage, where the config names one."""
        return self.one("stage", StandaloneStage) if isinstance(self.cfg.get("stage"), Mapping) else None

    def one(self, key: str, protocol: Any, node: object = None) -> Any:
        """The part under a key."""
        top = key.partition(".")[0]
        if key not in self.made and top not in self.broken and (self.only is None or top in self.only):
            with noting(self.findings, key):
                node = self.cfg[top] if node is None else node
                self.made[key] = builder.part(node, key, self._allow, protocol)
        return self.made.get(key)

    def _models(self) -> dict[str, Model]:
        """Role -> model. A replay needs no key."""
        nodes = {"main": ("model", self.cfg.get("model"))}
        nodes |= {role: (f"models.{role}", node) for role, node in self._nodes("models")}
        return {role: self.one(key, Model, self._keyless(node)) for role, (key, node) in nodes.items()}

    def _grammar(self, agent: Mapping[str, Any]) -> Any:
        """The grammar that the agent's node, or that of an agent within it, names; by default the first."""
        grammars, named = dict(self._nodes("grammars")), grammars_of(agent)
        name = next(iter(named.values()), next(iter(grammars), None))
        if any(other != name for other in named.values()):
            names = ", ".join(f"{key}={value}" for key, value in named.items())
            self.findings.append(Finding("agent.grammar", f"the agents of a run share one grammar, found {names}"))
            return None
        if name in grammars:
            return self.one(f"grammars.{name}", Grammar, grammars[name])
        if "grammars" not in self.broken:
            self.findings.append(Finding("agent.grammar", f"no grammar {name!r}; {nearest(str(name), grammars)}"))
        return None

    def _nodes(self, key: str) -> list[tuple[str, Any]]:
        return [] if key in self.broken else list(self.cfg[key].items())

    def _keyless(self, node: Any) -> Any:
        """The node of a model; where nothing is sent, it needs no key, and may be retired."""
        replays = isinstance(run := self.cfg.get("run"), Mapping) and run.get("replay", False) is not False
        if not replays or not isinstance(node, Mapping):
            return node
        return {**node, **{key: free for key, free in _UNSENT.items() if key in node}}

    @property
    def _allow(self) -> tuple[str, ...]:
        named = self.cfg["run"].get("allow_targets") if isinstance(self.cfg.get("run"), Mapping) else None
        return tuple(map(str, named)) if isinstance(named, list) else ()


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
