"""What calls took: calls, tokens and US dollars, in total and by purpose."""

from collections.abc import Iterable, Mapping
from typing import Any

from components.core.types import Trajectory

Purposes = Mapping[str, Mapping[str, Any]]  # purpose -> calls, input_tokens, output_tokens, cost_usd


def usage_of(trajectory: Trajectory) -> dict[str, Any]:
    """Calls, tokens and US dollars, in total and by purpose; what is not known of one call makes the sum null.

    What was asked about the agent (purpose judge) is not in the total.
    """
    total = _nothing()
    purposes: dict[str, dict[str, Any]] = {}
    for step in trajectory.steps:
        own = purposes.setdefault(step.purpose, _nothing())
        for part in (own,) if step.purpose == "judge" else (own, total):
            part["calls"] += 1
            for name in ("input_tokens", "output_tokens", "cost_usd"):
                value = getattr(step.usage, name)
                part[name] = None if value is None or part[name] is None else part[name] + value
    return total | {"purposes": purposes}


def summed(usages: Iterable[Purposes]) -> dict[str, dict[str, Any]]:
    """Usages by purpose, added up; what is not known of one makes the sum null."""
    found: dict[str, dict[str, Any]] = {}
    for purposes in usages:
        for purpose, usage in purposes.items():
            own = found.setdefault(purpose, _nothing())
            for name, value in usage.items():
                own[name] = None if value is None or own[name] is None else own[name] + value
    return found


def usage_lines(purposes: Purposes) -> list[str]:
    """A line for each purpose below a head, as they are printed; none for no calls."""
    lines = ["all calls, now and before:"] if purposes else []
    for purpose, usage in purposes.items():
        said = [f"{usage['calls']:,} calls"]
        for name, what in (("input_tokens", "tokens in"), ("output_tokens", "out")):
            said.append(f"unknown {what}" if usage[name] is None else f"{usage[name]:,} {what}")
        said.append("price unknown" if usage["cost_usd"] is None else f"${usage['cost_usd']:.4f}")
        lines.append(f"{purpose + ':':<12}{', '.join(said)}")
    return lines


def _nothing() -> dict[str, Any]:
    return {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
