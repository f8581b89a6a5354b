"""Success on tasks over a FHIR server, of queries and of actions, and what kind of error a failure is.

Source: Jiang et al. 2025 (MedAgentBench), NEJM AI, arXiv 2501.14654: success rate, in total and of both kinds of tasks.
``fhir/success`` reads as the published reference solutions do (docs/papers/medagentbench.md); ``fhir/strict`` is ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.fhir.gold import QUERIES
from components.fhir.grading import ERRORS, grade, posts_of

SUCCESS, STRICT, QUERY, ACTION = "fhir/success", "fhir/strict", "fhir/query", "fhir/action"
ANSWER, WRITES, POSTS, REFUSED = "fhir/answer", "fhir/writes", "fhir/posts", "fhir/refused_posts"
ERROR = "fhir/errors/{}"
_ERRORS = tuple(ERROR.format(name) for name in (*ERRORS, "other_form") if name != "refused_write")
_RATES = (SUCCESS, STRICT, QUERY, ACTION, ANSWER, WRITES)
_COUNTS = {POSTS: "requests", REFUSED: "requests"}


def _unfit(sample: Sample) -> str:
    target = sample.target if isinstance(sample.target, Mapping) else {}
    why = target.get("unscored") or f"the target is not one of a task over a FHIR server: {sample.target!r:.80}"
    return "" if "requests" in target else str(why)


@dataclass(frozen=True)
class FhirTasks:
    """0 or 1: ``fhir/success`` (the headline), ``fhir/strict``; of one kind of task alone ``fhir/query`` and
    ``fhir/action``; ``fhir/answer`` and ``fhir/writes``, the two halves of success; ``fhir/errors/TYPE``, the first
    error of the published reading, ``other_form`` where it is strictly right. Counts: ``fhir/posts`` and
    ``fhir/refused_posts``. A run that did not end with an answer has failed; errors, and tasks whose gold needs a
    server that is not known, are unscored."""

    version: ClassVar[str] = "2"  # changes when a score can
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        names=_RATES, by=("category",), lower=(*_ERRORS, REFUSED), neither=(POSTS,), units=_COUNTS,
        kinds={**dict.fromkeys((*_RATES, *_ERRORS), "proportion"), **dict.fromkeys(_COUNTS, "count")},
        decides=SUCCESS, unfit=_unfit,
    )  # fmt: skip

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Grade it in both readings."""
        if why := _unfit(sample) or ("ended in an error" if trajectory.stop == "error" else ""):
            return [Score(name, None, f"unscored: {why}") for name in self.traits.kinds]
        graded, category = grade(sample.target, trajectory), sample.metadata.get("fhir_category")
        strict = grade(sample.target, trajectory, strict=True)
        error = "other_form" if graded.error and strict.right else graded.error
        posts, right = posts_of(trajectory), float(graded.right)
        values: dict[str, float | None] = {
            SUCCESS: right,
            STRICT: float(strict.right),
            QUERY: right if category in QUERIES else None,
            ACTION: None if category in QUERIES else right,
            ANSWER: float(graded.answer),
            WRITES: float(graded.writes),
            **{name: float(name == ERROR.format(error)) for name in _ERRORS},
            POSTS: float(len(posts)),
            REFUSED: float(sum(one.error is not None for one in posts)),
        }
        ended, answer = trajectory.failure or trajectory.stop, trajectory.answer
        read = f"no answer ({ended})" if answer is None else f"read {answer[-200:]!r}"
        n = len(sample.target["requests"])
        right_is = f"right is {sample.target['answer']} and {n} request{'s' * (n != 1)}"
        verdict = f"{error or 'right'}: {read}, {right_is}"
        return [Score(name, value, verdict if name == SUCCESS else "") for name, value in values.items()]
