"""What a question costs: calls, tokens and US dollars, by purpose of the calls and by method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from runner.results.intervals import Metric

APART = "judge"  # the purpose of calls that ask about the agent; they are in no total
WHAT = ("calls", "tokens in", "tokens out", "USD")
HEAD = ("purpose", *WHAT)
TITLE = "per question, by purpose"
_COUNTS = {"calls/{}": "calls", "tokens/{}/input": "input_tokens", "tokens/{}/output": "output_tokens"}


def by_purpose(records: Sequence[Mapping[str, Any]]) -> dict[str, Metric]:
    """``calls/<purpose>``, ``tokens/<purpose>/input`` and ``/output``, ``cost/<purpose>``: totals over ``n`` episodes.

    A call whose price or tokens are not known makes that sum of its purpose None, never 0.
    """
    used = [record["usage"]["purposes"] for record in records]
    found: dict[str, Metric] = {}
    for purpose in dict.fromkeys(purpose for purposes in used for purpose in purposes):
        parts = [purposes[purpose] for purposes in used if purpose in purposes]
        for name, key in _COUNTS.items():
            found[name.format(purpose)] = total([part[key] for part in parts], len(records))
        found[f"cost/{purpose}"] = total([part["cost_usd"] for part in parts], len(records))
    return found


def total(values: Sequence[float | None], n: int | None = None) -> Metric:
    """The sum over ``n`` episodes, by default as many as there are values; None where one of them is."""
    known = [value for value in values if value is not None]
    unknown = len(values) - len(known)
    whole = all(isinstance(value, int) for value in known)
    found = None if unknown else sum(known) if whole else math.fsum(known)
    return Metric(found, n=(len(values) if n is None else n) - unknown, unscored=unknown)


def purposes_of(metrics: Mapping[str, Any]) -> list[str]:
    """The purposes that metrics tell of."""
    names = (name.split("/") for name in metrics)
    return [parts[1] for parts in names if parts[0] == "tokens" and parts[2:] == ["input"]]


def is_of_a_purpose(name: str, purposes: Sequence[str]) -> bool:
    """Whether a metric is one purpose's share of a total."""
    parts = name.split("/")
    return parts[0] in ("calls", "tokens", "cost") and len(parts) > 1 and parts[1] in purposes


def lines(metrics: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One line per purpose and one for all; none where there is one purpose only."""
    purposes = purposes_of(metrics)
    if len(purposes) < 2:
        return []
    keys = [[name.format(purpose) for name in (*_COUNTS, "cost/{}")] for purpose in purposes]
    keys.append(["calls/total", "tokens/input", "tokens/output", "cost/usd"])
    n = metrics["calls/total"]["n"]
    names = [f"{purpose} (not in all)" if purpose == APART else purpose for purpose in purposes]
    return [
        (name, *said([metrics[key]["value"] for key in of], n)) for name, of in zip([*names, "all"], keys, strict=True)
    ]


def purpose_lines(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One line per purpose of the calls of episodes; none where there is one purpose only."""
    found = by_purpose(records)
    purposes = list(dict.fromkeys(name.split("/")[1] for name in found))
    keys = {purpose: [name.format(purpose) for name in (*_COUNTS, "cost/{}")] for purpose in purposes}
    told = [(purpose, *said([found[key].value for key in of], len(records))) for purpose, of in keys.items()]
    return told if len(told) > 1 else []


def per_question(records: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Calls, tokens and US dollars per episode; None for what is not known of a call."""
    keys = ("calls", "input_tokens", "output_tokens", "cost_usd")
    sums = [total([record["usage"][key] for record in records]).value for key in keys]
    return {what: None if one is None else one / len(records) for what, one in zip(WHAT, sums, strict=True)}


def said(values: Sequence[float | None], n: int = 1) -> list[str]:
    """Calls, tokens in, tokens out and dollars, each over n questions."""
    shown = zip(values, (".2f", ",.0f", ",.0f", ".3g"), strict=True)
    return ["-" if value is None else format(value / n, form) for value, form in shown]
