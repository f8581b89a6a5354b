"""Random draws that depend on a request's seed and its messages alone, so that they are the same
in this process and behind an HTTP endpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

from components.messages import Message

T = TypeVar("T")


class Draws:
    """Named, independent draws; the same name gives the same draw."""

    def __init__(self, seed: int, messages: Sequence[Message]) -> None:
        digests = [m.digest for m in messages]
        self._seed = seed.to_bytes(8, "little", signed=True)
        self._base, self._whole = self._seed + b"".join(digests), self._seed + b"".join(digests[:2])

    def share(self, what: str, whole: bool = False) -> float:
        """A number in [0, 1); ``whole``: the same for a whole conversation, which its first two messages tell."""
        digest = blake2b(self._whole if whole else self._base, digest_size=8, person=what.encode()[:16]).digest()
        return int.from_bytes(digest, "little") / 2**64

    def happens(self, what: str, rate: float, whole: bool = False) -> bool:
        """True with probability ``rate``."""
        return rate > 0 and (rate >= 1 or self.share(what, whole) < rate)

    def pick(self, what: str, among: Sequence[T]) -> T:
        """One of them, uniformly."""
        return among[int(self.share(what) * len(among))]
