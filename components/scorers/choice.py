"""Accuracy on multiple choice and on decisions (yes, no, maybe), and the rate of unreadable answers.

Source: Tang et al. 2024 (MedAgents), arXiv 2311.10537: accuracy on the letter, an unreadable answer is
wrong. The readers are those of ``components.answers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.answers import parse_decision, parse_letter
from components.types import Sample, Score, Trajectory


@dataclass(frozen=True)
class Choice:
    """``score/accuracy`` and ``score/unreadable``, each 0 or 1, higher accuracy is better.

    Input: ``Trajectory.answer`` as the agent gave it; the target is a letter of ``Problem.choices`` or,
    without choices, one of ``metadata["decisions"]``. An answer that holds neither is wrong and
    unreadable. Without an answer (refused, failed, a limit reached) the sample is wrong and not
    unreadable: the run counts these stops themselves. Errors and open questions are unscored.
    """

    @property
    def version(self) -> str:
        """Changes when a score can."""
        return "1"

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Compare what can be read of the answer with the target."""
        choices, decisions = sample.problem.choices, sample.metadata.get("decisions", ())
        if not choices and not decisions:
            return _both(None, None, "an open question: neither choices nor decisions")
        if trajectory.stop == "error":
            return _both(None, None, "ended in an error")
        answer = trajectory.answer
        if answer is None:
            return _both(0.0, 0.0, f"no answer ({trajectory.stop})")
        read = parse_letter(answer, choices) if choices else parse_decision(answer, decisions)
        right, unreadable = float(read == sample.target), float(read is None)
        return _both(right, unreadable, f"read {read!r}, right is {sample.target!r}")


def _both(accuracy: float | None, unreadable: float | None, why: str) -> Sequence[Score]:
    """The two scores."""
    return (Score("score/accuracy", accuracy, why), Score("score/unreadable", unreadable, why))
