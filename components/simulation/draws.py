"""Rates of the simulated model, and random draws that depend on a request's seed and messages alone, so that they are
the same behind an HTTP endpoint; some on less: on the question, or on the question and the number of replies so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

from components.core.cached import cached_property
from components.core.messages import Message

T = TypeVar("T")


@dataclass(frozen=True)
class Rates:
    """How often replies are right and how they fail, all in [0, 1]; the defaults make a model that never errs."""

    competence: float = 1.0
    planning_slip: float = 0.0
    wrong_tool: float = 0.0
    malformed: float = 0.0
    ignored_refusal: float = 0.0
    second_choice: float = 0.0


class Draws:
    """Named, independent draws; the same name gives the same draw. Those of a ``turn``, the number of a dialogue's
    reply, depend on the question in place of the messages."""

    def __init__(
        self, seed: int, messages: Sequence[Message], question: str | None = None, turn: int | None = None
    ) -> None:
        self._seed, self._messages, self._question, self._turn = seed, messages, question, turn
        self._start = (seed % 2**64).to_bytes(8, "little")
        self._subject = b"" if question is None else question.encode("utf-8", "surrogatepass")

    @cached_property
    def _base(self) -> bytes:
        if self._turn is not None and self._question is not None:
            return self._start + b"turn %d\0" % self._turn + self._subject
        return self._start + b"".join([m.digest for m in self._messages])

    def in_turn(self, n: int) -> "Draws":
        """The draws of a dialogue's n-th reply, independent of its prompts' wording, so that two ways of asking meet
        the same slips. Without a question: these draws."""
        return self if self._question is None else Draws(self._seed, (), self._question, n)

    def share(self, what: str, whole: bool = False) -> float:
        """A number in [0, 1); ``whole``: the same for all conversations on the question, where there is one."""
        base = self._start + self._subject if whole and self._question is not None else self._base
        return int.from_bytes(blake2b(base, digest_size=8, person=what.encode()[:16]).digest(), "little") / 2**64

    def happens(self, what: str, rate: float, whole: bool = False) -> bool:
        """True with probability ``rate``."""
        return rate > 0 and (rate >= 1 or self.share(what, whole) < rate)

    def pick(self, what: str, among: Sequence[T]) -> T:
        """One of them, uniformly."""
        return among[int(self.share(what) * len(among))]
