"""Whether a diagnosis is right, and what the way to it took: questions, tests and their price.

Source: Schmidgall et al. 2024, arXiv 2405.07960, where a moderator model alone decides; here that is scorer ``judged``
with the rubric ``moderator``. The comparison of names, the prices and what a bias suggests are the project's.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, runtime_checkable

from annotated_types import Ge

from components.core.errors import ConfigError, check_pattern
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.text.answers import sentence
from components.text.words import plain

STRICT, EXACT, SUSPECTED = RIGHT = ("score/strict", "score/exact", "clinic/suspected")
QUESTIONS, TESTS, COST = COUNTS = ("clinic/questions", "clinic/tests", "clinic/cost")
Units = Annotated[float, Ge(0)]
_MARK = re.compile(r"\bdiagnos[ie]s(?: ready)?[*_]*\s*(?::|\bis\b)[\s*_]*(?:that of |an? |the )?", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*\)")
_SHORT = re.compile(r"\(\s*([A-Z][A-Za-z0-9-]*[A-Z0-9])\s*\)")
_AROUND = " .*_`\"'“”"
_LEFT_OUT = frozenset(("a", "an", "the", "s"))  # of a name; the last one of a possessive


@dataclass(frozen=True)
class Price:
    """What an order costs that has one of these ``words`` (a regular expression). Raises ConfigError."""

    words: str
    units: Units

    def __post_init__(self) -> None:
        check_pattern("words", self.words)


@runtime_checkable
class Terminology(Protocol):
    """Knows names of concepts."""

    def concept(self, name: str) -> str | None:
        """The identifier of the concept that has this name; None where there is none."""

    @property
    def missing(self) -> str:
        """The missing files and how to get them; empty when all exist."""


@dataclass(frozen=True)
class Diagnosis:
    """``score/exact``: the answer is the reference's name, ignoring case, accents, punctuation and articles; of
    "Disease (D)" either name counts. ``score/strict``: the same, or the terminology has both as one concept.
    ``clinic/suspected``: a wrong answer names what a bias suggests (``suspected``, a regular expression); unscored
    where the reference does too. ``clinic/questions`` and ``clinic/tests`` count what was answered, on every line of
    work; ``clinic/cost`` is what that costs: ``question`` units each, and for an order the sum of all ``prices`` whose
    words it has, or ``other``. Without an answer the case is wrong. Raises ConfigError."""

    terms: Terminology
    prices: Mapping[str, Price]
    question: Units = 0.0
    other: Units = 2.0
    suspected: str = "cancer"
    version: str = "1"

    def __post_init__(self) -> None:
        check_pattern("suspected", self.suspected)
        if missing := self.terms.missing:
            raise ConfigError(f"terms: {missing}")

    @property
    def traits(self) -> ScorerTraits:
        """The deciding score, and the counts."""
        return ScorerTraits(
            names=(*RIGHT, *COUNTS), decides=STRICT, lower=(SUSPECTED, COST), neither=(QUESTIONS, TESTS),
            units={QUESTIONS: "questions", TESTS: "tests", COST: "units"}, by=("specialty",),
            kinds={**dict.fromkeys(RIGHT, "proportion"), QUESTIONS: "count", TESTS: "count", COST: "amount"},
        )  # fmt: skip

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Compare the names, and count."""
        if trajectory.stop == "error":
            return [Score(name, None, "ended in an error") for name in self.traits.names]
        texts = str(sample.target), named_in(trajectory.answer or "")
        names = [{normalise_name(one) for one in names_in(text)} - {""} for text in texts]
        concepts = [{self.terms.concept(one) for one in names_in(text)} - {None} for text in texts]
        exact = not names[0].isdisjoint(names[1])
        same = exact or not concepts[0].isdisjoint(concepts[1])
        hidden, found = (re.search(self.suspected, text, re.IGNORECASE) for text in texts)
        suspected = None if hidden else float(found is not None and not same)
        why = f"read {trajectory.answer!r:.80}, right is {sample.target!r}"
        return [
            Score(STRICT, float(same), why),
            Score(EXACT, float(exact)),
            Score(SUSPECTED, suspected),
            *self._counts(trajectory),
        ]

    def _counts(self, trajectory: Trajectory) -> Sequence[Score]:
        calls = [one for step in trajectory.steps if step.committed for one in step.observed if one.error is None]
        asked = [one.observation.data for one in calls if "asked" in one.observation.data]
        orders = [str(one["request"]) for one in asked if one["asked"] == "measurement"]
        n_questions = len(asked) - len(orders)
        cost = n_questions * self.question + sum(map(self.price, orders))
        return [Score(QUESTIONS, float(n_questions)), Score(TESTS, float(len(orders))), Score(COST, cost)]

    def price(self, order: str) -> float:
        """What an order costs, in units."""
        text = order.replace("_", " ")
        found = [one.units for one in self.prices.values() if re.search(one.words, text, re.IGNORECASE)]
        return sum(found) if found else self.other


def named_in(answer: str) -> str:
    """The diagnosis in an answer: what follows the last "diagnosis:" or "answer:", up to the end of the sentence."""
    return sentence(_MARK.split(answer)[-1]).strip(_AROUND)


def names_in(text: str) -> list[str]:
    """The names of a disease: the text, the text without brackets, and abbreviations in brackets."""
    return [text, _BRACKETS.sub(" ", text), *_SHORT.findall(text)]


def normalise_name(name: str) -> str:
    """A name in lower case without accents, punctuation and articles."""
    return " ".join(one for one in re.findall(r"\w+", plain(name)) if one not in _LEFT_OUT)
