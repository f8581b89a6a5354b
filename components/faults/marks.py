"""Marks of faults in the results of calls: for scorers and readers, and never shown to a model.

A marked observation has ``data["faults"]``, a list of {kind, ...}. For values that a fault changed ``changes`` holds
variable -> [right, shown]; changed numbers of a text are counted (``numbers``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from components.core.errors import ToolError
from components.core.types import Observation, Observed, Trajectory

KEY = "faults"  # of an observation's data, and of an offer's facts


def marked(observation: Observation, kind: str, **facts: Any) -> Observation:
    """The observation with one more mark."""
    return replace(observation, data=with_mark(observation.data, kind, facts))


def failed(kind: str, text: str, **facts: Any) -> ToolError:
    """A marked failure of a tool; its label is the fault's kind."""
    return ToolError(text, kind, with_mark({}, kind, facts))


def with_mark(data: Mapping[str, Any], kind: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an observation, or of a failure, with one more mark."""
    return {**data, KEY: [*data.get(KEY, ()), {"kind": kind, **facts}]}


def marks(observed: Observed) -> Sequence[Mapping[str, Any]]:
    """The faults of a call; empty where it had none."""
    return tuple(observed.observation.data.get(KEY, ()))


def fault_lines(observed: Observed) -> list[str]:
    """The faults of a call in a line each, for readers: what was shown, and what was right."""
    lines = []
    for mark in marks(observed):
        facts = [str(mark.get("kind"))]
        for name, value in mark.items():
            if name == "changes":
                facts += [f"{variable}: shown {shown}, right is {right}" for variable, (right, shown) in value.items()]
            elif name != "kind":
                facts.append(f"{name} {value}")
        lines.append(", ".join(facts))
    return lines


def brought_down(observed: Observed) -> bool:
    """Whether a call failed by a fault, and by nothing that the agent did."""
    return observed.error is not None and any(mark["kind"] == observed.error for mark in marks(observed))


def changed_cards(trajectory: Trajectory) -> Sequence[str]:
    """The offered tools whose cards a fault changed, by the names that they are offered under."""
    return [name for fault in trajectory.facts.get(KEY, ()) for name in fault.get("cards", ())]


def left_wrong(trajectory: Trajectory) -> dict[str, tuple[str, str]]:
    """Variable -> (right, shown) of the values that faults changed and no later call set right."""
    wrong: dict[str, tuple[str, str]] = {}
    for observed in (one for step in trajectory.steps for one in step.observed if not one.control):
        for name in observed.observation.data.get("outputs", ()):
            wrong.pop(name, None)
        for mark in marks(observed):
            wrong |= {name: (right, shown) for name, (right, shown) in mark.get("changes", {}).items()}
    return wrong
