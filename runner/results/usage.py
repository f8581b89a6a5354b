"""What a question costs: calls, tokens and US dollars, in total and by purpose of the calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from runner.results.intervals import Metric
from runner.results.sheets import USD, Column

APART = "judge"  # the purpose of calls that ask about the agent; they are in no total
COLUMNS = (Column("calls", "calls"), Column("tokens in", "tokens"), Column("tokens out", "tokens"), Column("USD", USD))
TOTALS = ("calls/total", "tokens/input", "tokens/output", "cost/usd")
_OF_A_PURPOSE = {
    "calls/{}": "calls", "tokens/{}/input": "input_tokens", "tokens/{}/output": "output_tokens", "cost/{}": "cost_usd",
}  # fmt: skip


def by_purpose(records: Sequence[Mapping[str, Any]]) -> dict[str, Metric]:
    """``calls/<purpose>``, ``tokens/<purpose>/input`` and ``/output``, ``cost/<purpose>``: totals over ``n`` episodes.

    A call whose price or tokens are not known makes that sum of its purpose None, never 0.
    """
    used = [record["usage"]["purposes"] for record in records]
    return {
        name.format(purpose): total([of[purpose][key] for of in used if purpose in of], len(records))
        for purpose in dict.fromkeys(purpose for purposes in used for purpose in purposes)
        for name, key in _OF_A_PURPOSE.items()
    }


def total(values: Sequence[float | None], n: int | None = None) -> Metric:
    """The sum over ``n`` episodes, by default as many as there are values; None where one of them is."""
    known = [value for value in values if value is not None]
    unknown = len(values) - len(known)
    whole = all(isinstance(value, int) for value in known)
    found = None if unknown else sum(known) if whole else math.fsum(known)
    return Metric(found, n=(len(values) if n is None else n) - unknown, unscored=unknown)


def purposes_of(metrics: Mapping[str, object]) -> list[str]:
    """The purposes that metrics have totals of."""
    names = (name.split("/") for name in metrics)
    return [parts[1] for parts in names if parts[0] == "tokens" and parts[2:] == ["input"]]


def is_of_a_purpose(name: str, purposes: Sequence[str]) -> bool:
    """Whether a metric is one purpose's share of a total."""
    parts = name.split("/")
    return parts[0] in ("calls", "tokens", "cost") and len(parts) > 1 and parts[1] in purposes


def per_purpose(values: Mapping[str, float | None], n: int) -> dict[str, list[float | None]]:
    """Purpose -> calls, tokens in, tokens out and dollars per question, of totals over n questions; empty where there
    is one purpose only."""
    purposes = purposes_of(values)
    if len(purposes) < 2:
        return {}
    return {purpose: divided([values[name.format(purpose)] for name in _OF_A_PURPOSE], n) for purpose in purposes}


def divided(values: Sequence[float | None], n: int) -> list[float | None]:
    """Totals per question; None for what is not known."""
    return [None if value is None else value / n for value in values]


def per_question(records: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Calls, tokens and US dollars per episode; None for what is not known of a call."""
    sums = [total([record["usage"][key] for record in records]).value for key in _OF_A_PURPOSE.values()]
    return dict(zip((column.name for column in COLUMNS), divided(sums, len(records)), strict=True))
