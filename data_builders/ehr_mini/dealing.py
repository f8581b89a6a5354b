"""Which value of a slot belongs to which split, so that no patient, drug or code is asked about in two of them."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

SPLITS = ("test", "valid", "train")
_TURNS = (("test",), ("valid",), ("test",), ("valid",), ("train",))
_CLOSED_TURNS = (("test", "valid"), ("train",), ("test", "valid"), ("test", "valid"))

Slots = Mapping[str, Any]


class Deal:
    """Deals the values of every slot to the splits, by the seed alone.

    Values that few templates can use are dealt first, so that each split has its share of them. ``closed`` slots
    have too few values for three shares: test and valid have theirs in common, train has others.
    """

    def __init__(self, pools: Sequence[Sequence[Slots]], closed: Sequence[str], seed: str) -> None:
        self._splits: dict[str, dict[Any, tuple[str, ...]]] = {}
        for slot in sorted({name for pool in pools for row in pool for name in row}):
            turns = _CLOSED_TURNS if slot in closed else _TURNS
            groups = sorted(({row[slot] for row in pool if slot in row} for pool in pools), key=len)
            rng, dealt = Random(f"{seed}/{slot}"), dict[Any, tuple[str, ...]]()
            for group in groups:
                rest = sorted(group - dealt.keys())
                for value in rng.sample(rest, len(rest)):
                    dealt[value] = turns[len(dealt) % len(turns)]
            self._splits[slot] = dealt

    def allows(self, slots: Slots, split: str) -> bool:
        """Whether all these values belong to a split."""
        return all(split in self._splits[name][value] for name, value in slots.items())
