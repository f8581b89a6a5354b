"""Skill: playing the members of a panel, from the messages alone.

An expert's opinion is right as often as a direct answer: what makes a panel better is that its report follows the
majority of the analyses, and that who knows better speaks up more often than who errs (below), so that votes and
revisions mend wrong reports more often than they spoil right ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from components.acting.majority import majority
from components.core.messages import Message
from components.core.types import Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.opinions import believed, favoured, heart, letter_in, marked, right

INSISTS_RIGHT = 0.2  # votes no on a report that it sees to be wrong
INSISTS_WRONG = 0.02  # votes no on a report because its own opinion, another one, is wrong
FIELDS = (
    "Internal Medicine", "Cardiology", "Pulmonology", "Gastroenterology", "Nephrology", "Endocrinology", "Haematology",
    "Oncology", "Neurology", "Psychiatry", "Infectious Diseases", "Immunology", "Rheumatology", "Dermatology",
    "Surgery", "Gynaecology and Obstetrics", "Paediatrics", "Radiology", "Pathology", "Pharmacology",
    "Medical Genetics", "Public Health",
)  # fmt: skip

Stage = Literal["experts", "report", "vote", "advice", "revision", "decision"]
# How the last two lines of a prompt tell what is asked.
_ASKS: Mapping[Stage, str] = {
    "experts": r"^Medical Field: .+",
    "report": r"^Key Knowledge: .*\nTotal Analysis: .*",
    "revision": r"^Total Analysis: .*",
    "advice": r"^Revisions: .*",
    "vote": r"YES or NO\.?",
    "decision": r"^(?:Option|Decide on .*\nAnswer): <.*>",
}
_PATTERNS = {stage: re.compile(rf"{form}\Z", re.MULTILINE) for stage, form in _ASKS.items()}
_ANALYSIS = re.compile(r"^Analysis \d+, .*:$", re.MULTILINE)
_ADVICE = "Revisions:"


def stage_of(messages: Sequence[Message]) -> Stage | None:
    """What a fresh chat asks of a panel's member; None for anything else, analyses too."""
    if any(message.role == "assistant" for message in messages):
        return None
    asked = "\n".join(messages[-1].text.rstrip().rsplit("\n", 2)[-2:])
    return next((stage for stage, pattern in _PATTERNS.items() if pattern.search(asked)), None)


def reply(stage: Stage, text: str, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """The reply to a prompt of this stage, in the form that it asks for."""
    match stage:
        case "experts":
            wanted = text.rstrip().rpartition("\n")[2].count("|") + 1
            return f"Medical Field: {' | '.join(_drawn(draws)[:wanted])}"
        case "report":
            return _report(text)
        case "revision":
            return _revision(text)
        case "vote":
            return _vote(text, sample, rates, draws)
        case "advice":
            return _advice(text, sample, rates, draws)
        case "decision":
            return _decision(text, sample, rates, draws)


def _drawn(draws: Draws) -> list[str]:
    """All fields, in an order of this draw."""
    return sorted(FIELDS, key=lambda field: draws.share(f"field {FIELDS.index(field)}"))


def _report(text: str) -> str:
    """What the analyses tell of the question, and the answer that most of them favour; of equals the first."""
    analyses = [part.strip() for part in _ANALYSIS.split(text)[1:]]
    told = dict.fromkeys(one.split("\n")[0] for one in analyses if one and not favoured(one))
    votes = majority([named[-1] for one in analyses if (named := favoured(one))])
    knowledge = f"Key Knowledge: {' '.join(told) or 'The analyses tell none.'}"
    if votes.winner is None:
        return f"{knowledge}\nTotal Analysis: The analyses name no answer."
    agree = f"{votes.votes[votes.winner]} of {sum(votes.votes.values())} analyses that name an answer favour this one."
    return f"{knowledge}\nTotal Analysis: {agree}\n{marked(votes.winner)}"


def _vote(text: str, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """NO on a report that names no answer, or another than the expert's own opinion where it insists."""
    if sample is None:
        return "YES"
    held = majority(favoured(text)).winner
    if held is None:
        return "NO"
    known = draws.happens("competence", heart(sample, rates))
    own, choices = believed(sample, known, draws), sample.problem.choices
    agrees = known if right(sample, held) else letter_in(choices, own) == letter_in(choices, held)
    return "NO" if not agrees and draws.happens("insists", INSISTS_RIGHT if known else INSISTS_WRONG) else "YES"


def _advice(text: str, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """Another answer than the report's."""
    if sample is None:
        return f"{_ADVICE} It should say what it rests on."
    held = majority(favoured(text)).winner
    doubts = held is not None and right(sample, held)
    known = not doubts and draws.happens("competence", heart(sample, rates))
    return f"{_ADVICE} What the report finds does not fit best.\n{marked(believed(sample, known, draws, held))}"


def _revision(text: str) -> str:
    """The answer of more than half of the advice; else the report's own."""
    report, *advice = text.split(_ADVICE)
    votes = majority([named[-1] for one in advice if (named := favoured(one))])
    kept = majority(favoured(report)).winner or votes.winner
    if votes.winner is not None and 2 * votes.votes[votes.winner] > len(advice):
        return f"Total Analysis: Most of the advice is taken up.\n{marked(votes.winner)}"
    if kept is None:
        return "Total Analysis: The panel names no answer."
    return f"Total Analysis: The advice does not agree, so the analysis stands.\n{marked(kept)}"


def _decision(text: str, sample: Sample | None, rates: Rates, draws: Draws) -> str:
    """The answer that the material favours; by heart where it names none."""
    held = majority(favoured(text)).winner
    if held is None and sample is not None:
        held = believed(sample, draws.happens("competence", heart(sample, rates)), draws)
    if sample is not None and held:
        held = letter_in(sample.problem.choices, held) or held
    mark = "Option" if text.rstrip().rpartition("\n")[2].startswith("Option:") else "Answer"
    return f"{mark}: {held or 'not known'}"
