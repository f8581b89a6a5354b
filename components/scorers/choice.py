"""Accuracy on multiple choice and on decisions (yes, no, maybe), and the rate of unreadable answers.

Source: Tang et al. 2024 (MedAgents), arXiv 2311.10537: accuracy on the letter, an unreadable answer is
wrong. The strict readers are those of ``components.text.answers``, the official one of ``components.panel.replies``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.text.answers import parse_decision, parse_letter, published_letter

STRICT, OFFICIAL, UNREADABLE = NAMES = ("score/strict", "score/official", "score/unreadable")


def _unfit(sample: Sample) -> str:
    asked = sample.problem.choices or sample.metadata.get("decisions")
    return "" if asked else "an open question: neither choices nor decisions"


@dataclass(frozen=True)
class Choice:
    """``score/strict`` (the headline), ``score/official`` and ``score/unreadable``, each 0 or 1.

    Input: ``Trajectory.answer`` as the agent gave it; the target is a letter of ``Problem.choices`` or, without
    choices, one of ``metadata["decisions"]``. Strict takes the letter that is clearly chosen; an answer that holds none
    is wrong and unreadable. Official takes a letter as the published code does, also from inside a word; that code has
    no rule for a decision without options (its PubMedQA has letters), so official is strict there. Without an answer
    (refused, failed, a limit reached) the sample is wrong and not unreadable: the run counts these stops themselves.
    Errors and open questions are unscored. ``levels``: all are averaged by task; ``lower``: those that are better low.
    """

    version = "2"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        names=NAMES, levels=("task",), decides=STRICT, lower=(UNREADABLE,), kinds=dict.fromkeys(NAMES, "proportion"),
        unfit=_unfit,
    )  # fmt: skip

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Compare what can be read of the answer with the target."""
        if why := _unfit(sample):
            return _all(None, why)
        choices, decisions = sample.problem.choices, sample.metadata.get("decisions", ())
        if trajectory.stop == "error":
            return _all(None, "ended in an error")
        answer = trajectory.answer
        if answer is None:
            return _all(0.0, f"no answer ({trajectory.stop})")
        read = parse_letter(answer, choices) if choices else parse_decision(answer, decisions)
        official = published_letter(answer) or None if choices else read
        compared = [
            Score(name, float(found == sample.target), f"read {found!r}, right is {sample.target!r}")
            for name, found in ((STRICT, read), (OFFICIAL, official))
        ]
        return (*compared, Score(UNREADABLE, float(read is None), f"read {read!r}"))


def _all(value: float | None, why: str) -> Sequence[Score]:
    return tuple(Score(name, value, why) for name in NAMES)
