"""Scores of ClinicalAgent Bench: answers by the reference's rules and by repaired ones, and how tools were used.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657; the reference is BlueZeros/ReflecTool at e89ef65.
The other modules here hold both readings of every form of answer and document where they differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from annotated_types import Gt

from components.acting.tool_names import MIXED, distribution
from components.cab.scorers import calculations, choices, entities, tables, texts
from components.cab.scorers.case import Case, Reading, Unscored
from components.cab.tasks import TASKS, Form, Task
from components.core.task_text import INNER, action_names
from components.core.tools import is_misuse
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.text.values import share

STRICT, OFFICIAL = "score/strict", "score/official"
Reader = Callable[[Case], Reading]
# Form of the answer -> its strict and its official reading.
_FORMS: Mapping[Form, tuple[Reader, Reader]] = {
    "choice": (choices.strict, choices.official),
    "tolerant_choice": (choices.strict, choices.official),
    "contains": (texts.strict, texts.official),
    "rouge1_recall": (texts.strict, texts.official),
    "medcalc": (calculations.strict, calculations.official),
    "rows": (tables.strict, tables.official),
    "values": (tables.strict, tables.official),
    "no_result": (tables.strict, tables.official),
    "entities": (entities.strict, entities.official),
}


def _unfit(sample: Sample) -> str:
    name = str(sample.metadata.get("task"))
    return "" if name in TASKS else f"no task of ClinicalAgent Bench: {name!r}"


@dataclass(frozen=True)
class Cab:
    """``score/strict`` and ``score/official``, 0 to 1, of the task in ``metadata["task"]``.

    Input: the target is the letter of a choice, ``{"accepted": [...]}``, or the answer key of the record; the
    database of an SQL answer is the file of the input ``sql_database``, its dataset id ``metadata["sql_dialect"]``.
    Without an answer both are 0; a refusal where the task asks for one is right in strict. Errors, images that the
    model cannot take, and records that cannot be scored are unscored. Official entity F1 can exceed 1, as in
    the reference. ``seconds`` limit one statement. ``levels``: both are averaged by task, then by dimension.
    """

    seconds: Annotated[float, Gt(0)] = 5.0
    version: ClassVar[str] = "1"  # changes when a score can
    # Statements of models may take their time, so scoring leaves the event loop.
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        names=(STRICT, OFFICIAL),
        decides=STRICT,
        levels=("task", "dimension"),
        kinds={STRICT: "share", OFFICIAL: "share"},
        blocking=True,
        unfit=_unfit,
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Both readings of the answer."""
        if why := _unfit(sample):
            return _unscored(why)
        task = TASKS[str(sample.metadata["task"])]
        if trajectory.stop == "error":
            return _unscored("ended in an error")
        if trajectory.failure == "unsupported_input":
            return _unscored("the model cannot take what the task gives it")
        file = sample.files.get(sample.problem.inputs.get("sql_database", ""))
        database, dialect = Path(file) if file else None, str(sample.metadata.get("sql_dialect") or "")
        case = Case(
            trajectory.answer or "", sample.target, sample.problem.choices, database, dialect, self.seconds, task.form
        )
        if trajectory.answer is None:
            return _without_answer(task, case, trajectory)
        strict, official = _FORMS[task.form]
        return (_scored(STRICT, strict, case), _scored(OFFICIAL, official, case))


def _scored(name: str, reader: Reader, case: Case) -> Score:
    try:
        reading = reader(case)
    except Unscored as why:
        return Score(name, None, str(why))
    return Score(name, reading.value, reading.explanation)


def _without_answer(task: Task, case: Case, trajectory: Trajectory) -> Sequence[Score]:
    """0, except for a refusal that the task asks for, which only strict accepts."""
    why = f"no answer ({trajectory.failure or trajectory.stop})"
    wanted = trajectory.stop == "refused" and task.dimension == "trust"
    try:
        refusal_is_right = wanted and (task.form == "no_result" or choices.expects_refusal(case))
    except Unscored as error:
        return _unscored(str(error))
    strict = Score(STRICT, float(refusal_is_right), "refused, as is right" if refusal_is_right else why)
    return (strict, Score(OFFICIAL, 0.0, why))


def _unscored(why: str) -> Sequence[Score]:
    return (Score(STRICT, None, why), Score(OFFICIAL, None, why))


NAMES = ("tools/actions", "tools/share", "tools/malformed", "tools/matching", "tools/misuse")
ACTIONS, SHARE, MALFORMED, MATCHING, MISUSE = NAMES


@dataclass(frozen=True)
class ToolUse:
    """How an episode used its tools: ``tools/actions`` (a count) and four shares, 0 to 1, of its committed actions.

    ``tools/share``: tools among all actions, the rest being inner ones and the end. ``tools/malformed``:
    unreadable or unknown actions among all attempted ones. Among the tool actions: ``tools/matching``, tools of the
    task's own dimension (unscored in trust tasks, whose dimension the others overlap), and ``tools/misuse``, tools
    whose input the task does not have. Without tool actions both are unscored; so is all after an error.
    ``lower``: those that are better low; ``neither``: those that say how, and not how well, tools were used.
    Source: figure 5 and its discussion; ``components.acting.tool_names`` pools many episodes. Departure: misuse and the
    fit to the task, which the article only describes, are numbers here.
    """

    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=(MALFORMED, MISUSE),
        neither=(ACTIONS, SHARE),
        units={ACTIONS: "actions"},
        kinds={**dict.fromkeys(NAMES, "share"), ACTIONS: "count"},
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Count the committed actions."""
        if trajectory.stop == "error":
            return [Score(name, None, "ended in an error") for name in NAMES]
        names = action_names(trajectory)
        tools = {spec.name: spec for spec in trajectory.offered if spec.facts.get("dimension") != "inner"}
        pooled = distribution([names], tools)
        used = [tools[name] for name in names if name in tools and name not in INNER]
        task, kinds = TASKS.get(str(sample.metadata.get("task"))), sample.problem.input_kinds
        fits = [spec.facts.get("dimension") == task.dimension for spec in used] if task else []
        values: Mapping[str, float | None] = {
            ACTIONS: float(pooled.total_actions),
            SHARE: pooled.height if pooled.total_actions else None,
            MALFORMED: pooled.malformed_rate if names else None,
            MATCHING: share(fits) if task and task.dimension != MIXED else None,
            MISUSE: share([is_misuse(spec.facts, kinds) for spec in used]),
        }
        actions = ", ".join(names) or "no action"
        return [Score(name, value, actions if name == ACTIONS else "") for name, value in values.items()]
