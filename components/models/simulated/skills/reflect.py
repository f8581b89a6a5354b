"""Skill: reflecting before a call, and answering what was found on one.

A reflection is written where the prompt asks for one, but for slips; it changes nothing by itself. A finding on the
core's own proposal is mostly heeded: then the step is done anew without a slip of the tool. Asked again without being
told what is wrong, the core says the same again.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from components.core.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.reading import CALLS, REFLECTS, Situation
from components.models.simulated.review import again
from components.models.simulated.skills.act import Move
from components.models.simulated.skills.write import Style

HEEDS = 0.9  # of findings are heeded
SHOWN_FORM = 0.25  # of the malformed replies are left where replies are shown in the form that is asked for
_PROPOSAL, _FINDING = "[Proposal]\n", "[Finding]\n"
_CALLED = {"xml": r"^<(?:Call|EndCall|NoCall)>", "bracket": r"^Action: \w+\[", "native": r"^\w+\(\{"}
_SHOWN = {style: re.compile(pattern, re.MULTILINE) for style, pattern in _CALLED.items()}


def shows_form(messages: Collection[Message], situation: Situation, style: Style) -> bool:
    """Whether replies in this grammar are shown as examples."""
    if CALLS not in situation.marks:
        return False
    return any(_SHOWN[style].search(one.text.partition(CALLS)[2]) for one in messages if CALLS in one.text)


def proposed(last: str) -> str | None:
    """The core's own proposal, which has no empty line, where a verifier shows it again; None where it shows none."""
    return last.rpartition(_PROPOSAL)[2].partition("\n\n")[0] if _PROPOSAL in last else None


def heeds(last: str, draws: Draws) -> bool:
    """Whether a finding is told, and heeded."""
    return _FINDING in last and draws.happens("heeds", HEEDS)


def repeated(proposal: str, style: Style) -> Message:
    """The same reply again; a native call is shown as text."""
    return again(proposal, style) if style == "native" and "[{" in proposal else Message("assistant", proposal)


def reflected(message: Message, move: Move, situation: Situation, style: Style, forgets: bool) -> Message:
    """A reply with its reflection, where one is asked for and it calls or refuses."""
    if forgets or REFLECTS not in situation.marks or (move.card is None and move.grounds is None):
        return message
    block = _block(move)
    if style == "native":
        return replace(message, content=block)
    if style == "bracket":
        return Message("assistant", f"Thought: {block}\nAction:{message.text.partition('Action:')[2]}")
    return Message("assistant", f"{block}\n{message.text}")


def _block(move: Move) -> str:
    if move.card is None:
        said = ("none", "No tool here can do the next step.", "Without it the task cannot be done.")
    else:
        said = (move.card.name, f"The next step needs a {move.card.category}.", "Its inputs were looked at.")
    names = ("Candidates", "Reasoning", "Constraints")
    inside = "\n".join(f"<{name}>{text}</{name}>" for name, text in zip(names, said, strict=True))
    return f"<Reflection>\n{inside}\n</Reflection>"
