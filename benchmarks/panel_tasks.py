"""What a panel of experts plays: long multiple-choice questions, and the replies of a server that takes all its parts.

Calls and waves of a question: Tang et al. 2024 (MedAgents), arXiv 2311.10537, algorithm 1, with seven experts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.core.types import Problem, Sample

AGREED, DISPUTED = "panel-agreed", "panel-disputed"
_CLOCKS = 3e-4  # start and length of a stored step are rounded, and two clocks measure them
_TAIL = 160  # the form that is asked for stands at the end of a prompt
_NUMBER = b"00000000"
_FIELDS = ("Cardiology", "Nephrology", "Haematology", "Emergency Medicine", "Clinical Pharmacology")
_ARGUED = (
    "The loss of renal clearance over three days, the rising potassium and the warm, swollen leg weigh more here than "
    "the age alone; a drug that the kidney excretes would build up, and the platelets argue for watching them daily. "
)
_KINDS = {  # of the marks that may stand together at the end of a prompt, the one that decides comes first
    b"Medical Field: field | field | field": "experts",
    b"Medical Field:": "pair",
    b"YES or NO": "vote",
    b"Revisions:": "advice",
    b"Option:": "decision",
    b"Key Knowledge:": "report",
    b"Total Analysis:": "revision",
}


@dataclass(frozen=True)
class Wave:
    """Calls of one question that are made at once, and how their prompts end in the bare loops."""

    calls: int
    form: str


_GATHERED = (
    Wave(2, "Name the fields that it takes:\nMedical Field: field | field"),
    Wave(5, "Say what this describes from the point of view of your field."),
    Wave(2, "Judge each option from the point of view of your field."),
    Wave(1, "Reply in this form:\nKey Knowledge: the facts\nTotal Analysis: the merged analysis"),
)
_VOTE = Wave(7, "Is it consistent with your own opinion? Reply with one word, YES or NO.")
_ROUND = (
    _VOTE,
    Wave(7, "Reply in this form:\nRevisions: what to change"),
    Wave(1, "Reply in this form:\nTotal Analysis: the revised analysis"),
)
_DECISION = Wave(1, "Reply with one line, which names the letter:\nOption: <letter>")


def waves(model: str) -> Iterable[Wave]:
    """A question of a panel of five and two: all agree at once, or nobody does in three rounds."""
    return (*_GATHERED, *(_ROUND * 3 if model == DISPUTED else (_VOTE,)), _DECISION)


def waves_of(steps: Iterable[Mapping[str, Any]]) -> int:
    """The most steps of a record of which each began when the one before had ended."""
    ended, count = float("-inf"), 0
    for end, began in sorted((step["started"] + step["seconds"], step["started"]) for step in steps):
        if began >= ended - _CLOCKS:
            ended, count = end, count + 1
    return count


def question(n: int) -> str:
    """The text of one, about as long as a question of a licensing examination."""
    return (
        f"Patient p{n}, {50 + n % 40} years old, is admitted on day {n % 9} after a fall at home with a swollen, warm "
        "left calf and shortness of breath on climbing stairs. There is a history of atrial fibrillation, a hip "
        f"replacement {n % 7 + 2} weeks ago and chronic kidney disease. Blood pressure is {110 + n % 50}/70 mm Hg, the "
        f"pulse {70 + n % 50}/min and irregular, oxygen saturation {90 + n % 9} % on room air. Laboratory values: "
        f"creatinine {1.4 + n % 20 / 10:.1f} mg/dL (three days ago 1.2), potassium 5.3 mmol/L, platelets "
        f"{90 + n % 80} G/L, haemoglobin 10.8 g/dL. Compression ultrasound shows a clot in the popliteal vein. Current "
        "drugs are bisoprolol, ramipril and ibuprofen as needed. Which of the following is the most appropriate next "
        "step in the treatment of this patient?"
    )


def samples(n: int) -> list[Sample]:
    """Questions with five options."""
    options = {
        "A": "Apixaban at the full dose", "B": "Dabigatran at the reduced dose", "C": "Unfractionated heparin",
        "D": "A filter in the inferior vena cava", "E": "Compression stockings alone",
    }  # fmt: skip
    return [Sample(Problem(f"q{k}", question(k), options), "C", {"task": "panel"}, f"p{k}") for k in range(n)]


def said(model: str) -> Mapping[str, str]:
    """A reply of each kind, the long ones about as long as the panel allows; see ``numbered``."""
    reading = f"Reading {_NUMBER.decode()}:"
    return {
        "experts": f"Medical Field: {' | '.join(_FIELDS)}",
        "pair": "Medical Field: Angiology | Geriatrics",
        "analysis": f"{reading} {_ARGUED * 5}",
        "report": f"Key Knowledge: {reading} {_ARGUED * 3}\n\nTotal Analysis: {reading} {_ARGUED * 8}",
        "vote": "NO" if model == DISPUTED else "YES",
        "advice": f"Revisions: {reading} {_ARGUED * 3}",
        "revision": f"Total Analysis: {reading} {_ARGUED * 8}",
        "decision": "Option: C",
    }


def asked(body: bytes) -> str:
    """The kind of reply that a request asks for, read from the end of its last message."""
    end = body.rfind(b'"}]')
    tail = body[max(0, end - _TAIL) : end]
    return next((kind for mark, kind in _KINDS.items() if mark in tail), "analysis")


def numbered(reply: bytes, n: int) -> bytes:
    """A reply that differs from all others, so that no cache and no compression is flattered."""
    return reply.replace(_NUMBER, b"%08d" % n)
