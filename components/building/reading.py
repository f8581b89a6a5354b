"""Tools that were requested, built and used in a trajectory."""

from collections.abc import Mapping, Sequence
from typing import Any

from components.core.types import Observed, Refusal, Trajectory


def may_build(trajectory: Trajectory) -> bool:
    """Whether tools could be built in the episode."""
    return "build_tools" in trajectory.facts


def builds(trajectory: Trajectory) -> Sequence[Mapping[str, Any]]:
    """The results of the requests, in order: the facts of a built tool, or why there is none."""
    return [one.observation.data["build"] for one in _observed(trajectory) if "build" in one.observation.data]


def used(trajectory: Trajectory) -> Sequence[Observed]:
    """The calls of built tools."""
    names = {spec.name for spec in trajectory.offered if spec.facts.get("built")}
    return [one for one in _observed(trajectory) if one.call.name in names]


def first_refusal(trajectory: Trajectory) -> Refusal | None:
    """The refusal that ended the episode or, where it continued with a built tool, the first one."""
    if may_build(trajectory):
        for step in trajectory.steps:
            if step.committed and step.action is not None and step.action.refusal is not None:
                return step.action.refusal
    return trajectory.refusal if trajectory.stop == "refused" else None


def _observed(trajectory: Trajectory) -> Sequence[Observed]:
    return [one for step in trajectory.steps if step.committed for one in step.observed]
