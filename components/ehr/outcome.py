"""What an episode over health records did and how it ended, read from its trajectory; any agent's will do.

A cell leaves ``{"status", "answer", ...}`` in ``Observed.observation.data``, an action its error's label. Agents may
remark ``terminated`` (whether they ended on their own), ``executions`` and ``sql`` (the statement they answer with).
``export_episode`` gives an episode as one object: the trajectory record of EHRAgent's specification.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property as cached
from typing import Any

from components.core.types import Observed, Sample, Step, Trajectory
from components.ehr.actions import cell_of
from components.ehr.errors import KINDS

END = "TERMINATE"
LIMITS = ("timeout", "killed", "too_large")
FAILURES = (*KINDS, "exception", "limit", "other")  # kinds of a tool's errors, Python's, limits of cells, all else
_NOTHING_TO_RUN = "unparsable_reply"  # gets a reminder, and is not a failed execution


@dataclass(frozen=True)
class Outcome:
    """A trajectory, as scores of questions over health records need it."""

    trajectory: Trajectory

    @property
    def answer(self) -> str | None:
        """The final prediction; None for a run that did not end by its own."""
        return self.trajectory.answer if self.trajectory.stop == "answered" and self.ended else None

    @cached
    def ended(self) -> bool:
        """Whether the agent ended by its own: as it remarked, else whether it gave an answer or refused."""
        remark = self.remarked("terminated")
        return bool(remark) if remark is not None else self.trajectory.stop in ("answered", "refused")

    @cached
    def completed(self) -> bool:
        """Whether it ended so with an answer, and what it ran last did not fail."""
        if not self.ended or self.trajectory.stop not in ("answered", "refused"):
            return False
        ran = _executed(self._counted)
        return not ran or _is_ok(ran[-1], ("ok",))

    @cached
    def executed(self) -> Sequence[Observed]:
        """The cells and actions that were run, in order."""
        return _executed(self._steps)

    @property
    def executions(self) -> int:
        """How many cells and actions, by the agent's own count where it remarked one."""
        counts = [step.remarks["executions"] for step in self._steps if isinstance(step.remarks.get("executions"), int)]
        return sum(counts) if counts else len(self.executed) + self._unread

    @property
    def failed(self) -> int:
        """How many of them failed; a call that could not be read did."""
        return sum(self.failures.values()) + self._unread

    @cached
    def failures(self) -> Counter[str]:
        """Number of failed executions, by kind (FAILURES)."""
        return Counter(_kind(one) for one in self.executed if not _is_ok(one, ("ok", "no_answer")))

    @property
    def searched(self) -> str:
        """The text that the published judge reads: the last result and the closing text up to the word of the end."""
        ran = _executed(self._counted)
        last = ran[-1].observation.text if ran else ""
        result = self.trajectory.answer if self.trajectory.answer is not None else last
        closing = next((step for step in reversed(self._counted) if step.acts), None)
        if closing is None or closing.observed or END not in closing.reply.text:
            return result
        return f"{result}\n{closing.reply.text.partition(END)[0]}"

    def remarked(self, name: str) -> Any:
        """The newest remark of this name, of several sampled answers that of the chosen one; None without."""
        return next((step.remarks[name] for step in reversed(self._counted) if name in step.remarks), None)

    @cached
    def _steps(self) -> Sequence[Step]:
        return [step for step in self.trajectory.steps if step.committed]

    @cached
    def _counted(self) -> Sequence[Step]:
        """The steps that the answer comes from: all, or where several answers were sampled those of the chosen one."""
        branch = next((step.branch for step in self._steps if step.remarks.get("chosen")), None)
        own = [step for step in self._steps if f"{step.branch}/".startswith(f"{branch}/")]
        return self._steps if branch is None else own

    @property
    def _unread(self) -> int:
        """Replies that were meant to run something and could not be read."""
        actions = [step.action for step in self._steps if step.action and not step.observed]
        return sum(action.error not in (None, _NOTHING_TO_RUN) for action in actions)


def _executed(steps: Sequence[Step]) -> list[Observed]:
    return [one for step in steps for one in step.observed if not one.control]


def _kind(one: Observed) -> str:
    error = one.observation.data.get("error")
    raised = error if isinstance(error, Mapping) else {}
    kind = raised.get("kind") or one.error
    return str(kind) if kind in KINDS else "limit" if one.error in LIMITS else "exception" if raised else "other"


def _is_ok(one: Observed, statuses: Sequence[str]) -> bool:
    """Whether a cell came to its end with one of these statuses, and an action without an error."""
    status = one.observation.data.get("status")
    return one.error is None if status is None else status in statuses


def export_episode(sample: Sample, trajectory: Trajectory) -> Mapping[str, Any]:
    """The record of an episode."""
    outcome, steps, metadata = Outcome(trajectory), trajectory.steps, sample.metadata
    turns: list[dict[str, Any]] = []  # what the planner wrote, what came of it, and the cause that the debugger named
    for step in steps:
        if step.acts:
            turns.append({"planner": step.reply.text, **_execution(step), "cause": None})
        elif step.purpose == "debug" and turns:
            turns[-1]["cause"] = step.reply.text
    return {
        "id": sample.problem.id,
        "db_id": metadata.get("sql_dialect"),
        "question": sample.problem.question,
        "template": metadata.get("template"),
        "level": sample.strata.get("level"),
        "knowledge": next((step.reply.text for step in steps if step.purpose == "knowledge"), None),
        "memory_hits": outcome.remarked("memory_hits"),
        "memory_size": outcome.remarked("memory_size"),
        "order": outcome.remarked("order"),
        "turns": turns,
        "terminated": outcome.ended,
        "prediction": outcome.answer,
        "gold": sample.target.get("answer") if isinstance(sample.target, Mapping) else None,
        "completed": outcome.completed,
        "n_executions": outcome.executions,
        "n_llm_calls": len(steps),
        "stop": trajectory.stop,
        "error": trajectory.error,
    }


def _execution(step: Step) -> dict[str, Any]:
    """The last execution of a step, or why there is none; nothing at the end."""
    seen: Observed | None = next((one for one in reversed(step.observed) if not one.control), None)
    action = step.action
    shown = {"cell": cell_of(action) or None if action else None, "status": None, "result": None, "error": None}
    if seen is None:
        unread = {"status": action.error, "result": action.error_text} if action and action.error else {}
        return {**shown, **unread, "seconds": None}
    data = seen.observation.data
    return {
        "cell": shown["cell"] or seen.call.arguments,
        "status": data.get("status", seen.error or "ok"),
        "result": seen.observation.text,
        "error": data.get("error"),
        "seconds": data.get("seconds", seen.seconds),
    }
