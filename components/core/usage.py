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
        call = step.usage
        used: CallUsage = {"calls": 1, "input_tokens": call.input_tokens, "output_tokens": call.output_tokens,
                           "cost_usd": call.cost_usd}  # fmt: skip
        _add(purposes.setdefault(step.purpose, _nothing()), used)
        if step.purpose != "judge":
            _add(total, used)
    return {**total, "purposes": purposes}


def _nothing() -> CallUsage:
    return {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}


def _add(to: CallUsage, used: CallUsage) -> None:
    to["calls"] += used["calls"]
    for name in ("input_tokens", "output_tokens", "cost_usd"):
        so_far, more = to[name], used[name]
        to[name] = None if so_far is None or more is None else so_far + more


def summed(usages: Iterable[Purposes]) -> dict[str, CallUsage]:
    """Usages by purpose, added up; what is not known of one makes the sum null."""
    found: dict[str, CallUsage] = {}
    for purposes in usages:
        for purpose, usage in purposes.items():
            _add(found.setdefault(purpose, _nothing()), usage)
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
