"""Skill: a verifier's questions, answered from what the prompt shows: candidates, versions and lessons.

The core sees what is better with a probability that lessons on the action raise (below). Where it does not, it
takes the first candidate, or leaves the proposal as it is. What it has begun to mend it mostly goes on mending,
and where it is shown a good proposal that was rewritten twice already, it may overdo it and spoil that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from components.models.simulated.dialogue import Consultation, call_in
from components.models.simulated.draws import Draws

SEES, SEES_GUIDED = 0.6, 0.9  # picks a good candidate where there is one
MENDS, MENDS_GUIDED = 0.45, 0.85  # rewrites a proposal that is not good
GOES_ON = 0.8  # rewrites one that was rewritten once and is still not good
OVERDOES = 0.5  # rewrites a good proposal that has been rewritten twice or more
Good = Callable[[str], bool]


def pick(dialogue: Consultation, good: Good, draws: Draws) -> str:
    """One of the candidates, as it is written."""
    best = [text for text in dialogue.candidates if good(text)]
    if best and draws.happens("sees the better", SEES_GUIDED if guided(dialogue, dialogue.candidates) else SEES):
        return best[0]
    return dialogue.candidates[0]


def mends(dialogue: Consultation, good: Good, draws: Draws) -> bool:
    """Whether the current proposal is rewritten."""
    current = dialogue.current or ""
    if good(current):
        return dialogue.earlier >= 2 and draws.happens("overdoes", OVERDOES)
    if call_in(current) is None:
        return True  # what cannot be read is written again
    rate = MENDS_GUIDED if guided(dialogue, [current]) else GOES_ON if dialogue.earlier == 1 else MENDS
    return draws.happens("mends", rate)


def guided(dialogue: Consultation, texts: Sequence[str]) -> bool:
    """Whether lessons are shown on one of these actions."""
    return any((found := call_in(text)) is not None and found.name in dialogue.guided for text in texts)
