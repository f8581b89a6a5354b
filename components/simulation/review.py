"""How the simulated model answers a verifier: with one of its candidates, or with the proposal, rewritten or not.

It sees what is better with a probability that lessons on the action raise. Where it does not, it takes the first
candidate, or leaves the proposal. What it has begun to rewrite it mostly rewrites again; a good proposal that was
rewritten twice it may spoil.
"""

from collections.abc import Callable, Sequence

from components.core.messages import Message
from components.simulation.draws import Draws
from components.simulation.grammar import Style, called, finished, refused, said
from components.simulation.history import History, call_in

SEES, SEES_GUIDED = 0.6, 0.9  # picks a good candidate where there is one
MENDS, MENDS_GUIDED = 0.45, 0.85  # rewrites a proposal that is not good
GOES_ON = 0.8  # rewrites one that was rewritten once and is still not good
OVERDOES = 0.5  # rewrites a good proposal that has been rewritten twice or more
Good = Callable[[str], bool]


def review(history: History, good: Good, better: Callable[[], Message], style: Style, draws: Draws) -> Message:
    """The reply to a verifier's question; ``better`` writes the action that the model would take."""
    if history.candidates:
        return said(_picked(history, good, draws))
    return better() if _rewrites(history, good, draws) else repeated(history.current or "", style)


def repeated(text: str, style: Style) -> Message:
    """An action that the prompt shows, in the grammar that is asked for."""
    found = call_in(text)
    if style == "bracket" or found is None:
        return said(f"Action: {text}")
    if found.name == "Refuse":
        return refused(style, {name: str(value) for name, value in found.arguments.items()})
    if found.name == "Finish":
        return finished(style, str(found.arguments.get("response", "")))
    return called(style, found.name, found.arguments)


def guided(history: History, texts: Sequence[str]) -> bool:
    """Whether lessons are shown on one of these actions."""
    return any((found := call_in(text)) is not None and found.name in history.guided for text in texts)


def _picked(history: History, good: Good, draws: Draws) -> str:
    """One of the candidates, as it is written."""
    best = [text for text in history.candidates if good(text)]
    if best and draws.happens("sees the better", SEES_GUIDED if guided(history, history.candidates) else SEES):
        return best[0]
    return history.candidates[0]


def _rewrites(history: History, good: Good, draws: Draws) -> bool:
    """Whether the current proposal is rewritten."""
    current = history.current or ""
    if good(current):
        return history.earlier >= 2 and draws.happens("overdoes", OVERDOES)
    if call_in(current) is None:
        return True  # what cannot be read is written again
    rate = MENDS_GUIDED if guided(history, [current]) else GOES_ON if history.earlier == 1 else MENDS
    return draws.happens("mends", rate)
