"""Success, completion, reliability and effort on questions over health records.

Source: Shi et al. 2024 (EHRAgent), arXiv 2401.07128: success and completion rate; its judge is ``score/official``. Lee
et al. 2024 (EHRSQL shared task), arXiv 2405.06673: the reliability score RS(c), the mean of ``reliability/rs_c``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, ScoreKind, Trajectory
from components.ehr.errors import EhrError
from components.ehr.interpreters import run_sql
from components.ehr.metadata import metadata
from components.ehr.outcome import FAILURES, Outcome
from components.sql import UnreadableDatabase
from components.text.answers import conclusion
from components.text.values import lenient, strict

STRICT, OFFICIAL = "score/strict", "score/official"
COMPLETED, COMPLETED_OFFICIAL = "ehr/completed", "ehr/completed_official"
WRONG, EXECUTION = "ehr/answered_wrong", "ehr/execution_accuracy"
WITHIN = (3, 5, 10, 22)  # calls; 22 are the most that EHRAgent makes
PENALTIES = (0, 5, 10)
NAMES = (
    STRICT, OFFICIAL, COMPLETED, COMPLETED_OFFICIAL, WRONG, "ehr/abstained", "ehr/executions", "ehr/failed_executions",
    "ehr/calls", *(f"ehr/success_within_{n}" for n in WITHIN), EXECUTION,
    *(f"reliability/rs_{c}" for c in PENALTIES), "reliability/penalised",
    *(f"ehr/failures/{kind}" for kind in FAILURES),
)  # fmt: skip
_NO_RESULT = re.compile(r"\bno results?\b", re.IGNORECASE)
_DIGITS = 6
UNITS = {
    "ehr/executions": "executions", "ehr/failed_executions": "executions", "ehr/calls": "calls",
    **{f"ehr/failures/{kind}": "failures" for kind in FAILURES},
}  # fmt: skip
LOWER = (WRONG, *UNITS, "reliability/penalised")


def _gold(sample: Sample) -> Any:
    return sample.target.get("answer", "") if isinstance(sample.target, Mapping) else ""


def _unfit(sample: Sample) -> str:
    gold = _gold(sample)
    if gold is None or (isinstance(gold, list) and all(isinstance(one, str) for one in gold)):
        return ""
    return f"the target is not a list of right answers: {sample.target!r:.80}"


@dataclass(frozen=True)
class Ehr:
    """Scores of a question whose target is ``{"answer": [texts]}``, or None in their place where none can be given.

    0 or 1: ``score/strict`` (the headline; abstaining is right where there is no answer), ``score/official`` (of
    questions with an answer), ``ehr/completed``, ``ehr/completed_official``, ``ehr/answered_wrong``, ``ehr/abstained``,
    ``ehr/success_within_N`` calls, ``ehr/execution_accuracy`` (of SQL that the agent remarked),
    ``reliability/penalised``. Counts: ``ehr/executions``, ``ehr/failed_executions``, ``ehr/calls`` and
    ``ehr/failures/KIND``, how often a tool or cell failed so. ``reliability/rs_C``: 1, 0 or -C.

    ``questions`` is the N of ``reliability/rs_n``, which is left out without it: RS(N) is RS(0) less N times the mean
    of ``reliability/penalised``. Runs that did not end by their own are failures, errors are unscored. ``seconds``
    limit one statement; ``judge`` is the score by which answers are learnt and compared; ``by``: rates are shown by
    level too; ``lower``: the scores that are better low; to abstain is right only where there is no answer.
    """

    version: ClassVar[str] = "1"  # changes when a score can
    judge: Literal["strict", "official"] = "strict"
    questions: Annotated[int, Ge(1)] | None = None
    seconds: Annotated[float, Gt(0)] = 10.0

    @property
    def traits(self) -> ScorerTraits:
        """Proportions but for what is counted, and for reliability, which goes down to -C; ``judge`` decides.
        Statements of models may be slow, so scoring runs outside the event loop."""
        kinds: dict[str, ScoreKind] = dict.fromkeys(NAMES, "proportion")
        kinds |= {**dict.fromkeys(UNITS, "count"), **dict.fromkeys(self._penalties, "number")}
        return ScorerTraits(
            names=(STRICT, OFFICIAL, COMPLETED, COMPLETED_OFFICIAL, WRONG),
            by=("level",),
            lower=LOWER,
            neither=("ehr/abstained",),
            units=UNITS,
            kinds=kinds,
            decides=STRICT if self.judge == "strict" else OFFICIAL,
            blocking=True,
            unfit=_unfit,
        )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Compare the answer with the gold texts, and count."""
        if why := _unfit(sample):
            return self._unscored(why)
        if trajectory.stop == "error":
            return self._unscored("ended in an error")
        gold, outcome, calls = _gold(sample), Outcome(trajectory), len(trajectory.steps)
        refused = trajectory.stop == "refused"
        answer = outcome.answer
        right = gold is not None and answer is not None and strict(answer, gold)
        nothing = answer is not None and (strict(answer, []) or _NO_RESULT.search(conclusion(answer)) is not None)
        abstained = not right and (refused or nothing)
        right = right or (gold is None and abstained)
        penalised = answer is not None and not abstained and not right
        official = None  # what the published judge says of a run that came to its end, failed executions included
        if gold is not None:
            official = float(outcome.ended and not refused and lenient(outcome.searched, gold))
        executed, why = self._executed(sample, outcome)
        values: dict[str, float | None] = {
            STRICT: float(right),
            OFFICIAL: official,
            COMPLETED: float(outcome.completed),
            COMPLETED_OFFICIAL: float(outcome.ended),
            WRONG: float(outcome.completed and penalised),
            "ehr/abstained": float(abstained),
            "ehr/executions": float(outcome.executions),
            "ehr/failed_executions": float(outcome.failed),
            "ehr/calls": float(calls),
            **{f"ehr/success_within_{n}": float(right and calls <= n) for n in WITHIN},
            EXECUTION: executed,
            **{name: float(-penalty if penalised else right) for name, penalty in self._penalties.items()},
            "reliability/penalised": float(penalised),
            **{f"ehr/failures/{kind}": float(outcome.failures[kind]) for kind in FAILURES},
        }
        read = f"no answer ({trajectory.failure or trajectory.stop})" if answer is None else f"read {answer[:300]!r}"
        key = "no answer" if gold is None else str(list(gold))[:300]
        explanations = {STRICT: f"{read}, right is {key}", EXECUTION: why}
        return [Score(name, value, explanations.get(name, "")) for name, value in values.items()]

    @property
    def _penalties(self) -> Mapping[str, int]:
        """Reliability score -> what it takes for a wrong answer."""
        known = {f"reliability/rs_{c}": c for c in PENALTIES}
        return known if self.questions is None else {**known, "reliability/rs_n": self.questions}

    def _unscored(self, why: str) -> Sequence[Score]:
        return [Score(name, None, why) for name in dict.fromkeys((*NAMES, *self._penalties))]

    def _executed(self, sample: Sample, outcome: Outcome) -> tuple[float | None, str]:
        """Whether the SQL of the answer gives the rows of the gold SQL, as sets; and why not."""
        sql, gold, file = outcome.remarked("sql"), sample.metadata.get("sql"), sample.files.get("database")
        if sql is None or gold is None or file is None:
            return None, "" if sql is None else "no gold SQL or no database to run it on"
        dialect = sample.metadata.get("sql_dialect")
        clock = None if dialect is None else metadata(dialect).clock
        try:
            wanted = _rows(run_sql(Path(file), str(gold), clock, seconds=self.seconds))
        except (EhrError, UnreadableDatabase) as error:
            return None, f"the gold SQL cannot be run: {error}"
        try:
            return float(_rows(run_sql(Path(file), str(sql), clock, seconds=self.seconds)) == wanted), ""
        except EhrError as error:
            return 0.0, str(error)


def _rows(rows: Sequence[Sequence[Any]]) -> set[tuple[Any, ...]]:
    return {tuple(round(cell, _DIGITS) if isinstance(cell, float) else cell for cell in row) for row in rows}
