"""What calls took: calls, tokens and US dollars, in total and by purpose."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TypedDict, TypeVar, cast

from components.core.messages import Usage
from components.core.types import Trajectory

N = TypeVar("N", int, float)


class CallUsage(TypedDict):
    """Calls, tokens and US dollars; None if it is unknown for one of the calls."""

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class EpisodeUsage(CallUsage):
    """The total of an episode, and its parts by purpose."""

    purposes: dict[str, CallUsage]


Purposes = Mapping[str, CallUsage]


def usage_of(trajectory: Trajectory) -> EpisodeUsage:
    """Calls, tokens and US dollars, in total and by purpose; a value that is unknown for one call makes the sum null.
    Calls about the agent (purpose judge) are not in the total."""
    used = [(step.purpose, _of(step.usage)) for step in trajectory.steps]
    total = _sum([one for purpose, one in used if purpose != "judge"])
    return {**total, "purposes": sum_usages({purpose: one} for purpose, one in used)}


def _of(call: Usage) -> CallUsage:
    return {"calls": 1, "input_tokens": call.input_tokens, "output_tokens": call.output_tokens,
            "cost_usd": call.cost_usd}  # fmt: skip


def sum_usages(usages: Iterable[Purposes]) -> dict[str, CallUsage]:
    """Usages by purpose, added up; a value that is unknown for one makes the sum null."""
    found: dict[str, list[CallUsage]] = {}
    for purposes in usages:
        for purpose, usage in purposes.items():
            found.setdefault(purpose, []).append(usage)
    return {purpose: _sum(used) for purpose, used in found.items()}


def _sum(used: Sequence[CallUsage]) -> CallUsage:
    return {
        "calls": sum(one["calls"] for one in used),
        "input_tokens": sum_of([one["input_tokens"] for one in used], 0),
        "output_tokens": sum_of([one["output_tokens"] for one in used], 0),
        "cost_usd": sum_of([one["cost_usd"] for one in used], 0.0),
    }


def sum_of(values: Sequence[N | None], start: N) -> N | None:
    """The sum, from the first value on; None where a value is not known."""
    return None if None in values else reduce(add, cast(Sequence[N], values), start)


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
