"""Draws that depend on a seed alone; what is drawn keeps its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def drawn(items: Sequence[T], n: int | None, seed: str) -> list[T]:
    """``n`` of the items (all, where there are no more, or ``n`` is None)."""
    if n is None or n >= len(items):
        return list(items)
    return [items[i] for i in sorted(Random(seed).sample(range(len(items)), n))]


def drawn_in_proportion(groups: Mapping[str, Sequence[T]], n: int | None, seed: str) -> list[T]:
    """``n`` items in all, from each group its share (largest remainders, ties in the groups' order)."""
    total = sum(len(group) for group in groups.values())
    if n is None or n >= total:
        return [item for group in groups.values() for item in group]
    shares = {name: divmod(n * len(group), total) for name, group in groups.items()}
    counts = {name: whole for name, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda name: -shares[name][1])
    for name in by_remainder[: n - sum(counts.values())]:
        counts[name] += 1
    return [item for name, group in groups.items() for item in drawn(group, counts[name], f"{seed}/{name}")]
