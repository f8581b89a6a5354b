"""What calls took: calls, tokens and US dollars, in total and by purpose."""

from collections.abc import Iterable, Mapping
from typing import TypedDict, TypeVar

from components.core.types import Trajectory

N = TypeVar("N", int, float)


class CallUsage(TypedDict):
    """Calls, tokens and US dollars; None for what is not known of one of the calls."""

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class EpisodeUsage(CallUsage):
    """The total of an episode, and its parts by purpose."""

    purposes: dict[str, CallUsage]


Purposes = Mapping[str, CallUsage]
_NOTHING: CallUsage = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}


def usage_of(trajectory: Trajectory) -> EpisodeUsage:
    """Calls, tokens and US dollars, in total and by purpose; what is not known of one call makes the sum null.

    What was asked about the agent (purpose judge) is not in the total.
    """
    total, purposes = _NOTHING, dict[str, CallUsage]()
    for step in trajectory.steps:
        usage = step.usage
        call: CallUsage = {"calls": 1, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
                           "cost_usd": usage.cost_usd}  # fmt: skip
        purposes[step.purpose] = _added(purposes.get(step.purpose, _NOTHING), call)
        if step.purpose != "judge":
            total = _added(total, call)
    return {**total, "purposes": purposes}


def summed(usages: Iterable[Purposes]) -> dict[str, CallUsage]:
    """Usages by purpose, added up; what is not known of one makes the sum null."""
    found: dict[str, CallUsage] = {}
    for purposes in usages:
        for purpose, usage in purposes.items():
            found[purpose] = _added(found.get(purpose, _NOTHING), usage)
    return found


def usage_lines(purposes: Purposes) -> list[str]:
    """A line for each purpose below a head, as they are printed; none for no calls."""
    lines = ["all calls, now and before:"] if purposes else []
    for purpose, usage in purposes.items():
        said = [f"{usage['calls']:,} calls"]
        for n, what in ((usage["input_tokens"], "tokens in"), (usage["output_tokens"], "out")):
            said.append(f"unknown {what}" if n is None else f"{n:,} {what}")
        said.append("price unknown" if usage["cost_usd"] is None else f"${usage['cost_usd']:.4f}")
        lines.append(f"{purpose + ':':<12}{', '.join(said)}")
    return lines


def _added(one: CallUsage, other: CallUsage) -> CallUsage:
    return {
        "calls": one["calls"] + other["calls"],
        "input_tokens": _sum(one["input_tokens"], other["input_tokens"]),
        "output_tokens": _sum(one["output_tokens"], other["output_tokens"]),
        "cost_usd": _sum(one["cost_usd"], other["cost_usd"]),
    }


def _sum(one: N | None, other: N | None) -> N | None:
    return None if one is None or other is None else one + other
