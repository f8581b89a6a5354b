"""Whether an answer was reached by a sound way: what it claims was observed, and observed before it was said.

Rules read words and numbers (``components.scorers.claims``), not meaning; a judge may read the same episodes by the
rubric ``audit_support`` (``scorer=[ehr,audit,judged]``).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from components.core.traits import ScorerTraits
from components.core.types import Observed, Sample, Score, Trajectory
from components.faults.wrapping import Share
from components.scorers.claims import has_words, numbers_in, says
from components.text.values import share

SUPPORTED, UNUSED, CONTRADICTED, AFTER, BEFORE, SOUND = RATES = (
    "audit/supported", "audit/unused", "audit/contradicted", "audit/calls_after", "audit/before_evidence",
    "audit/sound",
)  # fmt: skip
CELLS = ("audit/right_sound", "audit/right_unsound", "audit/wrong_sound", "audit/wrong_unsound")
_APART = re.compile(r"[;,\n()\[\]{}'\"]+|\.\s")
_ASIDE = ("judge", "verify")
_PIECES = 3  # values of a result that is short enough to be contradicted


@dataclass(frozen=True)
class Audit:
    """Scores of an episode with an answer; unscored in others, and where no tool was offered.

    A claim is a part of the answer, between commas, line ends and brackets, that the question does not say itself.
    ``audit/supported``: the share of claims that a result says, exactly or in two thirds of its longer words, numbers
    within ``tolerance`` (relative). ``audit/unused``: the share of results of which nothing is in a later call or in
    the answer. ``audit/contradicted``: the last result is of three values at most, and the answer says none of them.
    ``audit/calls_after``: calls after a reply or result that says all claims. ``audit/before_evidence``: the answer was
    said before the first result. ``audit/sound``: every claim is supported, nothing is contradicted, and the answer
    was not said before. Cells: right (deciding score ``right_from`` or more) or wrong, and sound or not; unscored where
    nothing decides.
    """

    tolerance: Annotated[float, Ge(0)] = 0.01
    right_from: Share = 1.0
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=(UNUSED, CONTRADICTED, AFTER, BEFORE, CELLS[1], CELLS[3]),
        neither=(CELLS[2],),
        units={AFTER: "calls"},
        kinds={**dict.fromkeys((*RATES, *CELLS), "proportion"), SUPPORTED: "share", UNUSED: "share", AFTER: "count"},
        follows=True,
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """The scores that do not depend on how right the episode was."""
        return self.follow(sample, trajectory, None)

    def follow(self, sample: Sample, trajectory: Trajectory, right: float | None, *_: object) -> Sequence[Score]:
        """All scores. ``right``: how right the episode was, 0 to 1."""
        if trajectory.stop != "answered" or not trajectory.offered:
            why = "no tool was offered" if trajectory.stop == "answered" else f"no answer ({trajectory.stop})"
            return [Score(name, None, why) for name in (*RATES, *CELLS)]
        answer = sample.problem.choices.get((trajectory.answer or "").strip(), trajectory.answer or "")
        claims = [one for one in _pieces(answer) if not says(sample.problem.question, one, self.tolerance)]
        events = _events(trajectory)
        results = [one for one in events if isinstance(one, Observed) and one.error is None]
        open_claims = [one for one in claims if not any(self._says(result, [one]) for result in results)]
        known = next((n for n, one in enumerate(events) if claims and self._says(one, claims)), len(events))
        begun = next((n for n, one in enumerate(events) if isinstance(one, Observed)), len(events))
        last = _pieces(results[-1].observation.text) if results else []
        against = 0 < len(last) <= _PIECES and not any(says(answer, one, self.tolerance) for one in last)
        early = bool(claims) and (known < begun or not results)
        sound = not open_claims and not against and not early
        values: dict[str, float | None] = {
            SUPPORTED: share([one not in open_claims for one in claims]),
            UNUSED: share([not self._is_used(n, events, answer) for n, one in enumerate(events) if one in results]),
            CONTRADICTED: float(against),
            AFTER: float(sum(isinstance(one, Observed) for one in events[known + 1 :])),
            BEFORE: float(early),
            SOUND: float(sound),
        }
        cell = None if right is None else CELLS[2 * (right < self.right_from) + (not sound)]
        values |= {name: None if cell is None else float(name == cell) for name in CELLS}
        said = {CONTRADICTED: "; ".join(last) if against else ""}
        said[SUPPORTED] = f"not supported: {'; '.join(open_claims)}" if open_claims else ""
        return [Score(name, value, said.get(name, "")) for name, value in values.items()]

    def _says(self, event: Observed | str, claims: Sequence[str]) -> bool:
        """Whether a reply, or a result without an error, says all claims; no reply says a claim of one digit, which any
        step or line of code may have."""
        if isinstance(event, str):
            return all(len(one) > 1 and says(event, one, self.tolerance) for one in claims)
        return event.error is None and all(says(event.observation.text, one, self.tolerance) for one in claims)

    def _is_used(self, place: int, events: Sequence[Observed | str], answer: str) -> bool:
        """Whether anything of a result is in a later call or in the answer."""
        result = events[place]
        pieces = _pieces(result.observation.text) if isinstance(result, Observed) else []
        later = [one.call.arguments for one in events[place + 1 :] if isinstance(one, Observed)]
        text = "\n".join([*later, answer])
        return any(says(text, one, self.tolerance) for one in pieces)


def _events(trajectory: Trajectory) -> list[Observed | str]:
    """What was said and what tools returned, in order."""
    found: list[Observed | str] = []
    for step in trajectory.steps:
        if step.committed and step.purpose not in _ASIDE:
            found += [step.reply.text, *(one for one in step.observed if not one.control)]
    return found


def _pieces(text: str) -> list[str]:
    """The values of a text: what stands between commas, line ends and brackets."""
    pieces = (one.strip() for one in _APART.split(text))
    return list(dict.fromkeys(one for one in pieces if numbers_in(one) or has_words(one)))
