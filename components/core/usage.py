"""What calls took: calls, tokens and US dollars, in total and by purpose."""

from collections.abc import Iterable, Mapping, Sequence
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


def usage_of(trajectory: Trajectory) -> EpisodeUsage:
    """Calls, tokens and US dollars, in total and by purpose; what is not known of one call makes the sum null. What was
    asked about the agent (purpose judge) is not in the total."""
    total, purposes = _nothing(), dict[str, CallUsage]()
    for step in trajectory.steps:
        sent, received, cost, *_ = step.usage
        if step.purpose not in purposes:
            purposes[step.purpose] = _nothing()
        _add(purposes[step.purpose], 1, sent, received, cost)
        if step.purpose != "judge":
            _add(total, 1, sent, received, cost)
    return {**total, "purposes": purposes}


def _nothing() -> CallUsage:
    return {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}


def _add(to: CallUsage, calls: int, sent: int | None, received: int | None, cost: float | None) -> None:
    to["calls"] += calls
    to["input_tokens"] = None if sent is None or to["input_tokens"] is None else to["input_tokens"] + sent
    to["output_tokens"] = None if received is None or to["output_tokens"] is None else to["output_tokens"] + received
    to["cost_usd"] = None if cost is None or to["cost_usd"] is None else to["cost_usd"] + cost


def summed(usages: Iterable[Purposes]) -> dict[str, CallUsage]:
    """Usages by purpose, added up; what is not known of one makes the sum null."""
    found: dict[str, CallUsage] = {}
    for purposes in usages:
        for purpose, usage in purposes.items():
            amounts = usage["calls"], usage["input_tokens"], usage["output_tokens"], usage["cost_usd"]
            _add(found.setdefault(purpose, _nothing()), *amounts)
    return found


def sum_of(values: Sequence[N | None], start: N) -> N | None:
    """The sum; None where a value is not known."""
    return None if None in values else sum((value for value in values if value is not None), start)


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
