"""Skill: a verifier's questions, answered from what the prompt shows: candidates, versions and lessons.

The core sees what is better with a probability that lessons on the action raise (below); without them it
mostly leaves a proposal as it is, and picks among candidates almost blindly. Where it is shown a proposal that
was rewritten twice already, it may overdo it and spoil a good one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from components.models.simulated.dialogue import Dialogue, call_in
from components.models.simulated.draws import Draws

SEES, SEES_GUIDED = 0.6, 0.9  # picks a good candidate where there is one
MENDS, MENDS_GUIDED = 0.35, 0.85  # rewrites a proposal that is not good
OVERDOES = 0.3  # rewrites a good proposal that has been rewritten twice or more
Good = Callable[[str], bool]


def pick(dialogue: Dialogue, good: Good, draws: Draws) -> str:
    """One of the candidates, as it is written."""
    best = [text for text in dialogue.candidates if good(text)]
    if best and draws.happens("sees the better", SEES_GUIDED if guided(dialogue, dialogue.candidates) else SEES):
        return best[0]
    return draws.pick("which candidate", dialogue.candidates)


def mends(dialogue: Dialogue, good: Good, draws: Draws) -> bool:
    """Whether the current proposal is rewritten."""
    current = dialogue.current or ""
    if good(current):
        return dialogue.earlier >= 2 and draws.happens("overdoes", OVERDOES)
    if call_in(current) is None:
        return True  # what cannot be read is written again
    return draws.happens("mends", MENDS_GUIDED if guided(dialogue, [current]) else MENDS)


def guided(dialogue: Dialogue, texts: Sequence[str]) -> bool:
    """Whether lessons are shown on one of these actions."""
    return any((found := call_in(text)) is not None and found.name in dialogue.guided for text in texts)
