"""Whether an answer was reached in a sound way: its claims were observed, and observed before they were stated.

Rules read words and numbers (``components.scorers.claims``), not meaning; a judge may read the same episodes by the
rubric ``audit_support`` (``scorer=[ehr,audit,judged]``).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, ClassVar

from annotated_types import Ge

from components.core.score_names import (
    AFTER,
    BEFORE,
    CELLS,
    CONTRADICTED,
    RATES,
    RIGHT_UNSOUND,
    SOUND,
    SUPPORTED,
    UNUSED,
    WRONG_SOUND,
    WRONG_UNSOUND,
)
from components.core.traits import ScorerTraits
from components.core.types import Observed, Sample, Score, Trajectory
from components.faults.wrapping import Share
from components.scorers.claims import Number, Source, about_codes, claims_in, numbers_in, pieces
from components.text.values import share

_ASIDE = ("judge", "verify")
_MOST = 1_000_000  # pairs of a claim and a text


@dataclass(frozen=True)
class Audit:
    """Scores of an episode with an answer; unscored in others, and where no tool was offered.

    A claim is a value of the answer that the question does not say itself; of an answer in sentences a number, date or
    code of it (``claims.claims_in``), since other words may say the same. Without a claim nothing says whether the way
    was sound. ``audit/supported``: the share of claims that a result says (``Source.says``, numbers within
    ``tolerance``, relative). ``audit/unused``: the share of results of which nothing is in a later call or in the
    answer. ``audit/contradicted``: results have one number, the answer is one number in the same unit or none, and it
    is another; unscored where there is nothing to compare. ``audit/calls_after``: calls after a reply that says all
    claims, or of replies after a result that does. ``audit/before_evidence``: the answer was said before the first
    result without an error. ``audit/sound``: every claim is supported, nothing is contradicted, and the answer was not
    said before; unscored where results have a claim only next to a negation or with a decimal comma. Cells: right
    (deciding score ``right_from`` or more) or wrong, and sound or not; unscored where nothing decides.
    """

    tolerance: Annotated[float, Ge(0)] = 0.01
    right_from: Share = 1.0
    version: str = "2"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=(UNUSED, CONTRADICTED, AFTER, BEFORE, RIGHT_UNSOUND, WRONG_UNSOUND),
        neither=(WRONG_SOUND,),
        units={AFTER: "calls"},
        kinds={**dict.fromkeys((*RATES, *CELLS), "proportion"), SUPPORTED: "share", UNUSED: "share", AFTER: "count"},
        follows=True,
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """The scores that do not depend on how right the episode was."""
        return self.follow(sample, trajectory, None, {})

    def follow(
        self, sample: Sample, trajectory: Trajectory, right: float | None, scores: Mapping[str, float | None]
    ) -> Sequence[Score]:
        """All scores. ``right``: how right the episode was, 0 to 1; what other scorers found does not matter."""
        if trajectory.stop != "answered" or not trajectory.offered:
            why = "no tool was offered" if trajectory.stop == "answered" else f"no answer ({trajectory.stop})"
            return [Score(name, None, why) for name in (*RATES, *CELLS)]
        answer = sample.problem.choices.get((trajectory.answer or "").strip(), trajectory.answer or "")
        codes = about_codes(sample)
        question, events = Source(sample.problem.question, codes=codes), _events(trajectory)
        claims = [one for one in claims_in(answer, codes) if question.says(one, self.tolerance) is not True]
        if len(claims) * len(events) > _MOST:
            why = (
                f"unrated: {len(claims):,} claims and {len(events):,} replies and results; {_MOST:,} pairs are compared"
            )
            return [Score(name, None, why) for name in (*RATES, *CELLS)]
        said = [(place, one, self._find(claims, one, codes)) for place, one in events]
        calls = [(place, one) for place, one in events if isinstance(one, Observed)]
        results = [(place, one, of) for place, one, of in said if isinstance(one, Observed) and one.error is None]
        found = {one: {of[one] for _, _, of in results} for one in claims}
        open_claims = [one for one, of in found.items() if not of & {True, None}]
        unclear = [one for one, of in found.items() if None in of and True not in of]
        known = next((place for place, _, of in said if set(of.values()) == {True}), math.inf)
        against = self._contradicts([one.observation.text for _, one, _ in results], answer, codes)
        early = bool(claims) and (not results or known < results[0][0])
        wrong_way = bool(open_claims) or against is True or early
        sound = None if not claims or (unclear and not wrong_way) else not wrong_way
        values: dict[str, float | None] = {
            SUPPORTED: share([True in of for of in found.values() if True in of or None not in of]),
            UNUSED: share(self._unused(calls, answer, codes)),
            CONTRADICTED: None if against is None else float(against),
            AFTER: float(sum(place > known for place, _ in calls)) if claims else None,
            BEFORE: float(early) if claims else None,
            SOUND: None if sound is None else float(sound),
        }
        cell = None if right is None or sound is None else CELLS[2 * (right < self.right_from) + (not sound)]
        values |= {name: None if cell is None else float(name == cell) for name in CELLS}
        notes = {"not supported": open_claims, "next to a negation or with a decimal comma": unclear}
        texts = [f"{what}: {'; '.join(of)}" for what, of in notes.items() if of]
        about = {SUPPORTED: ", ".join(texts) if claims else "no claim that can be looked for"}
        return [Score(name, value, about.get(name, "")) for name, value in values.items()]

    def _contradicts(self, texts: Sequence[str], answer: str, codes: bool) -> bool | None:
        """Whether the only number of all results is another one than the answer is; None where they cannot be
        compared, as a date and a number of days, or two numbers and their sum."""
        returned = {number for text in texts for number in numbers_in(text, codes)}
        own = numbers_in(answer, codes)
        if len(returned) != 1 or len(own) != 1 or pieces(answer) != claims_in(answer, codes):
            return None
        only: Number = returned.pop()
        return None if not only.is_comparable(own[0]) else not only.agrees(own[0], self.tolerance)

    def _find(self, claims: Sequence[str], event: Observed | str, codes: bool) -> dict[str, bool | None]:
        """Of each claim whether a reply, or a result without an error, says it; no reply says a claim of one digit,
        which any step or line of code may have."""
        if isinstance(event, str):
            reply = Source(event, codes=codes)
            return {one: len(one) > 1 and reply.says(one, self.tolerance) for one in claims}
        result = Source(event.observation.text if event.error is None else "", codes=codes)
        return {one: result.says(one, self.tolerance) for one in claims}

    def _unused(self, calls: Sequence[tuple[int, Observed]], answer: str, codes: bool) -> list[bool]:
        """Of each result, from the last, whether nothing of it is in a later call or in the answer."""
        later, unused = Source(answer, codes=codes), []
        for _, group in groupby(reversed(calls), key=lambda one: one[0]):
            at_once = [one for _, one in group]
            results = [pieces(one.observation.text) for one in at_once if one.error is None]
            unused += [all(later.says(one, self.tolerance) is False for one in result) for result in results]
            for one in at_once:
                later.add(one.call.arguments)
        return unused


def _events(trajectory: Trajectory) -> list[tuple[int, Observed | str]]:
    """What was said and what tools returned, with its place: all results of one reply have the same."""
    found: list[tuple[int, Observed | str]] = []
    for place, step in enumerate(trajectory.steps):
        if step.committed and step.purpose not in _ASIDE:
            found += [(2 * place, step.reply.text), *((2 * place + 1, one) for one in step.observed if not one.control)]
    return found
