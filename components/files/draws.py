"""Random subsets that depend on a seed alone; the chosen items keep their order."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def draw(items: Sequence[T], n: int | None, seed: str) -> list[T]:
    """Choose ``n`` of the items (all, where there are no more, or ``n`` is None)."""
    if n is None or n >= len(items):
        return list(items)
    return [items[i] for i in sorted(Random(seed).sample(range(len(items)), n))]


def draw_split(items: Sequence[T], n: int | None, seed: str, split: str) -> list[T]:
    """Choose ``n`` of the items for the split test; for any other one as many of the rest."""
    chosen = draw(range(len(items)), n, seed)
    if split != "test":
        taken = set(chosen)
        chosen = draw([i for i in range(len(items)) if i not in taken], n, f"{seed}/{split}")
    return [items[i] for i in chosen]


def draw_in_proportion(groups: Mapping[str, Sequence[T]], n: int | None, seed: str) -> dict[str, list[T]]:
    """Choose ``n`` items in all, from each group its share (largest remainders, ties in the groups' order)."""
    total = sum(len(group) for group in groups.values())
    if n is None or n >= total:
        return {name: list(group) for name, group in groups.items()}
    shares = {name: divmod(n * len(group), total) for name, group in groups.items()}
    counts = {name: whole for name, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda name: -shares[name][1])
    for name in by_remainder[: n - sum(counts.values())]:
        counts[name] += 1
    return {name: draw(group, counts[name], f"{seed}/{name}") for name, group in groups.items()}
