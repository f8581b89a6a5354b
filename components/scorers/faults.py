"""How an agent copes with tools that fail: recovery, detection, silent errors, and the calls that it took.

What struck is read from the marks of calls and cards (``components.faults.marks``), what the agent says from its own
words (``components.faults.detection``), and how right it was from the score that decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.faults.detection import says_wrong
from components.faults.marks import changed_cards, left_wrong, marks
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
        return self.follow(sample, trajectory, None)

    def follow(self, sample: Sample, trajectory: Trajectory, right: float | None) -> Sequence[Score]:
        """All scores. ``right``: how right the episode was, 0 to 1."""
        if trajectory.stop == "error":
            return [Score(name, None, "ended in an error") for name in NAMES]
        steps, first = trajectory.steps, first_struck(trajectory)
        calls = [bool(marks(one)) for step in steps for one in step.observed if not one.control]
        answer = trajectory.answer or ""
        replies = [
            step.reply.text for step in steps[(first or 0) :] if step.purpose not in _OTHERS_WORDS and step.committed
        ]
        grounds = trajectory.refusal.grounds.values() if trajectory.refusal is not None else ()
        texts = [*replies, answer, *map(str, grounds)]
        said = says_wrong(texts, [spec.name for spec in trajectory.offered])
        repeated = [  # values that faults left wrong, in place of the right ones
            shown
            for own, shown in left_wrong(trajectory).values()
            if stands_in(shown, answer) and not stands_in(own, answer)
        ]
        kinds = [str(one["kind"]) for one in trajectory.facts.get("faults", ()) if one.get("cards")]
        kinds += [str(mark["kind"]) for step in steps for one in step.observed for mark in marks(one)]
        wrong = None if right is None else right < self.right_from or bool(repeated)
        silent = wrong is True and not said and trajectory.stop == "answered"
        struck = first is not None
        values = {
            RIGHT: None if wrong is None else float(not wrong),
            STRUCK: float(struck),
            RECOVERY: float(not wrong) if struck and wrong is not None else None,
            DETECTION: float(bool(said)) if struck else None,
            SILENT: float(silent) if struck and wrong is not None else None,
            ALARM: None if struck else float(bool(said)),
            AFTER: float(sum(not one.control for step in steps[first:] for one in step.observed)) if struck else None,
            CALLS: float(len(calls)),
            HIT: sum(calls) / len(calls) if calls else None,
        }
        why = {DETECTION: said, ALARM: said, RECOVERY: ", ".join(repeated), STRUCK: ", ".join(dict.fromkeys(kinds))}
        return [Score(name, value, why.get(name, "") if value is not None else "") for name, value in values.items()]


def first_struck(trajectory: Trajectory) -> int | None:
    """The place of the first step whose reply may know of a fault; None without one."""
    if changed_cards(trajectory):
        return 0
    places = (n for n, step in enumerate(trajectory.steps, 1) if any(map(marks, step.observed)))
    return next(places, None)
