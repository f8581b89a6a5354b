"""How an agent copes with tools that fail: recovery, detection, silent errors, and the calls that it took.

What struck is read from the marks of calls and cards (``components.faults.marks``), what the agent says from its own
words (``components.faults.detection``), and how right it was from the score that decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.faults.detection import find_fault_statement
from components.faults.marks import changed_cards, marks, remaining_errors
from components.faults.wrapping import Share
from components.text.words import stands_in

RIGHT, STRUCK, RECOVERY, DETECTION, SILENT, ALARM, AFTER, CALLS, HIT = NAMES = (
    "faults/right", "faults/struck", "faults/recovery", "faults/detection", "faults/silent_error", "faults/false_alarm",
    "faults/calls_after", "faults/tool_calls", "faults/struck_calls",
)  # fmt: skip
_OTHERS_WORDS = ("tool", "judge")  # purposes of calls that are not words of the agent


@dataclass(frozen=True)
class Faults:
    """Scores of one episode; rates are their means.

    ``faults/right``: the episode is right. ``faults/struck``: a fault struck a call, or changed a card. Where one did:
    ``faults/recovery``, it is right all the same; ``faults/detection``, the agent says after it that something is
    wrong; ``faults/silent_error``, it gave a wrong answer and said nothing; ``faults/calls_after``, tool calls after
    the first that was struck. Where none did: ``faults/false_alarm``. ``faults/tool_calls`` and
    ``faults/struck_calls`` (share of them) are of every episode.

    Right is an episode whose deciding score is ``right_from`` at least, and whose answer repeats no value that a fault
    left wrong in place of the right one (deciding scores of radiology tasks look at the calls alone). Unscored after
    an error, and where nothing decides.
    """

    right_from: Share = 1.0
    version: str = "3"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=(SILENT, ALARM, AFTER),
        neither=(STRUCK, CALLS, HIT),
        units={AFTER: "calls", CALLS: "calls"},
        kinds={**dict.fromkeys(NAMES, "proportion"), AFTER: "count", CALLS: "count", HIT: "share"},
        follows=True,
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """The scores that do not depend on how right the episode was."""
        return self.follow(sample, trajectory, None, {})

    def follow(
        self, sample: Sample, trajectory: Trajectory, right: float | None, scores: Mapping[str, float | None]
    ) -> Sequence[Score]:
        """All scores. ``right``: how right the episode was, 0 to 1; what other scorers found does not matter."""
        if trajectory.stop == "error":
            return [Score(name, None, "ended in an error") for name in NAMES]
        first = first_struck(trajectory)
        said = find_fault_statement(_words_after(trajectory, first or 0), [spec.name for spec in trajectory.offered])
        repeated = _wrong_values_in(trajectory.answer or "", trajectory)
        struck = first is not None
        wrong = None if right is None else right < self.right_from or bool(repeated)
        silent = wrong is True and not said and trajectory.stop == "answered"
        decided = struck and wrong is not None
        hits = [bool(marks(one)) for step in trajectory.steps for one in step.observed if not one.control]
        later = [one for step in trajectory.steps[first:] for one in step.observed if not one.control]
        values = {
            RIGHT: None if wrong is None else float(not wrong),
            STRUCK: float(struck),
            RECOVERY: float(not wrong) if decided else None,
            DETECTION: float(bool(said)) if struck else None,
            SILENT: float(silent) if decided else None,
            ALARM: None if struck else float(bool(said)),
            AFTER: float(len(later)) if struck else None,
            CALLS: float(len(hits)),
            HIT: sum(hits) / len(hits) if hits else None,
        }
        why = {DETECTION: said, ALARM: said, RECOVERY: ", ".join(repeated), STRUCK: ", ".join(_kinds(trajectory))}
        return [Score(name, value, why.get(name, "") if value is not None else "") for name, value in values.items()]


def _words_after(trajectory: Trajectory, first: int) -> list[str]:
    """What the agent says from a step on: its committed replies, its answer and the grounds of its refusal."""
    replies = [
        step.reply.text for step in trajectory.steps[first:] if step.purpose not in _OTHERS_WORDS and step.committed
    ]
    grounds = trajectory.refusal.grounds.values() if trajectory.refusal is not None else ()
    return [*replies, trajectory.answer or "", *map(str, grounds)]


def _wrong_values_in(answer: str, trajectory: Trajectory) -> list[str]:
    """Values that faults left wrong and that the answer has in place of the right ones."""
    return [
        shown
        for own, shown in remaining_errors(trajectory).values()
        if stands_in(shown, answer) and not stands_in(own, answer)
    ]


def _kinds(trajectory: Trajectory) -> list[str]:
    """The kinds of the faults that struck, of changed cards first."""
    cards = [str(one["kind"]) for one in trajectory.facts.get("faults", ()) if one.get("cards")]
    calls = [str(mark["kind"]) for step in trajectory.steps for one in step.observed for mark in marks(one)]
    return list(dict.fromkeys([*cards, *calls]))


def first_struck(trajectory: Trajectory) -> int | None:
    """The place of the first step whose reply may know of a fault; None without one."""
    if changed_cards(trajectory):
        return 0
    places = (n for n, step in enumerate(trajectory.steps, 1) if any(map(marks, step.observed)))
    return next(places, None)
