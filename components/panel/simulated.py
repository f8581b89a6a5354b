"""How the simulated model takes part in a panel, from the messages alone.

An expert's opinion is right as often as a direct answer. What makes a panel better: its report follows the majority of
the analyses, and experts who know better object more often than those who err.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import shorten

from components.core.messages import Message
from components.prompts.recognition import rendered_from
from components.simulation.asked import Asked, Knowledge, Responder, Voice
from components.simulation.draws import Draws
from components.simulation.grammar import said
from components.text.values import most_frequent

INSISTS_RIGHT = 0.2  # votes no on a report that it sees to be wrong
INSISTS_WRONG = 0.02  # votes no on a report because its own opinion, another one, is wrong
FIELDS = (
    "Internal Medicine", "Cardiology", "Pulmonology", "Gastroenterology", "Nephrology", "Endocrinology", "Haematology",
    "Oncology", "Neurology", "Psychiatry", "Infectious Diseases", "Immunology", "Rheumatology", "Dermatology",
    "Surgery", "Gynaecology and Obstetrics", "Paediatrics", "Radiology", "Pathology", "Pharmacology",
    "Medical Genetics", "Public Health",
)  # fmt: skip
_MARK, _ADVICE = "Most plausible: ", "Revisions:"
_FAVOURED = re.compile(r"most plausible(?: option| answer)?(?: is\b:?|:)[ \t]*(\S.*)", re.IGNORECASE)
_FIELD = re.compile(r"point of view of ([^:,\n]+)[:,]")
_ANALYSIS = re.compile(r"^Analysis \d+, .*:$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_QUOTED = 160  # longest piece of a question that an analysis quotes, in characters


@dataclass(frozen=True)
class Expert(Voice):
    """An expert. On the question it is ``neutral`` and quotes a sentence of it; on the answers it names one."""

    field: str
    neutral: bool
    knowledge: Knowledge | None = None
    opines = True

    def worded(self, answer: str, draws: Draws) -> str:
        """An analysis; one without an answer says so."""
        if self.neutral:  # it quotes a sentence of the question that states something, where there is one
            question = "" if self.knowledge is None else self.knowledge.sample.problem.question
            sentences = [one for one in _SENTENCE.split(" ".join(question.split())) if one]
            stating = [one for one in sentences if not one.endswith("?")] or sentences
            quoted = shorten(draws.pick("finding", stating), _QUOTED, placeholder=" ...") if stating else ""
            found = f'The finding that counts is "{quoted}"' if stating else "The question tells nothing that is known."
            return f"{found}\nAn answer has to account for this, as {self.field} sees it."
        if not answer:
            return f"From what {self.field} knows, nothing sets the answers apart."
        choices = {} if self.knowledge is None else self.knowledge.choices
        own = "" if self.knowledge is None else self.knowledge.option_in(answer)
        others = [f"{letter}. {text}" for letter, text in choices.items() if letter != own]
        out = f"Ruled out: {'; '.join(others)}.\n" if others else ""
        return f"From what {self.field} knows, one answer fits what is described best.\n{out}{_marked(answer)}"

    def serves(self, knowledge: Knowledge, text: str) -> bool:
        """An analysis of the question always; one of the answers where it names the right one."""
        return self.neutral or any(knowledge.is_right(one) for one in favoured_answers(text))


class Panel(Responder):
    """The members of ``agent=medagents``; analyses are worded in their voice by whoever knows the sample."""

    def voice(self, asked: Asked) -> Voice | None:
        """An expert's, where the messages before the first reply ask for an analysis."""
        for message in asked.opening:
            neutral = rendered_from(message.text, "medagents/analyse_question")
            if message.role == "user" and (neutral or rendered_from(message.text, "medagents/analyse_option")):
                found = _FIELD.search(message.text)
                return Expert(found[1] if found else "this field", neutral, asked.knowledge)
        return None

    def reply(self, asked: Asked) -> Message | None:
        """What a new chat asks of a member, in the form that it asks for."""
        if asked.style is not None or len(asked.opening) < len(asked.messages):
            return None
        for template, (form, reply) in _REPLIES.items():
            if form in asked.last and asked.rendered_from(f"medagents/{template}"):
                return asked.garbled() or said(reply(asked))
        return None


def favoured_answers(text: str) -> list[str]:
    """The answers that a text finds most plausible, in its order."""
    return [" ".join(found.split()) for found in _FAVOURED.findall(text)]


def _marked(answer: str) -> str:
    return _MARK + " ".join(answer.split())


def _experts(asked: Asked) -> str:
    """As many fields as are asked for, in an order of this draw."""
    wanted = asked.last.rstrip().rpartition("\n")[2].count("|") + 1
    fields = sorted(FIELDS, key=lambda field: asked.draws.share(f"field {FIELDS.index(field)}"))
    return f"Medical Field: {' | '.join(fields[:wanted])}"


def _report(asked: Asked) -> str:
    """What the analyses say of the question, and the answer that most of them favour; of equals the first."""
    analyses = [part.strip() for part in _ANALYSIS.split(asked.last)[1:]]
    found = dict.fromkeys(one.split("\n")[0] for one in analyses if one and not favoured_answers(one))
    votes = [named[-1] for one in analyses if (named := favoured_answers(one))]
    winner = most_frequent(votes)
    knowledge = f"Key Knowledge: {' '.join(found) or 'The analyses tell none.'}"
    if winner is None:
        return f"{knowledge}\nTotal Analysis: The analyses name no answer."
    agree = f"{votes.count(winner)} of {len(votes)} analyses that name an answer favour this one."
    return f"{knowledge}\nTotal Analysis: {agree}\n{_marked(winner)}"


def _vote(asked: Asked) -> str:
    """NO on a report that names no answer, or another than the expert's own opinion where it insists."""
    knowledge, favourite = asked.knowledge, most_frequent(favoured_answers(asked.last))
    if knowledge is None or favourite is None:
        return "YES" if knowledge is None else "NO"
    known, own = _opinion(asked, knowledge)
    agrees = known if knowledge.is_right(favourite) else knowledge.option_in(own) == knowledge.option_in(favourite)
    insists = INSISTS_RIGHT if known else INSISTS_WRONG
    return "NO" if not agrees and asked.draws.happens("insists", insists) else "YES"


def _advice(asked: Asked) -> str:
    knowledge, favourite = asked.knowledge, most_frequent(favoured_answers(asked.last))
    if knowledge is None:
        return f"{_ADVICE} It should say what it rests on."
    doubts = favourite is not None and knowledge.is_right(favourite)
    known = not doubts and asked.draws.happens("competence", knowledge.by_heart(asked.rates))
    other = knowledge.opinion(known, asked.draws, favourite or "")
    return f"{_ADVICE} What the report finds does not fit best.\n{_marked(other)}"


def _revision(asked: Asked) -> str:
    """The answer of more than half of the advice; else the report's own."""
    report, *advice = asked.last.split(_ADVICE)
    votes = [named[-1] for one in advice if (named := favoured_answers(one))]
    winner = most_frequent(votes)
    answer = most_frequent(favoured_answers(report)) or winner
    if winner is not None and 2 * votes.count(winner) > len(advice):
        return f"Total Analysis: Most of the advice is taken up.\n{_marked(winner)}"
    if answer is None:
        return "Total Analysis: The panel names no answer."
    return f"Total Analysis: The advice does not agree, so the analysis stands.\n{_marked(answer)}"


def _decision(asked: Asked) -> str:
    """The answer that the material favours; by heart where it names none."""
    favourite = most_frequent(favoured_answers(asked.last))
    if asked.knowledge is not None:
        favourite = favourite if favourite is not None else _opinion(asked, asked.knowledge)[1]
        favourite = favourite and (asked.knowledge.option_in(favourite) or favourite)
    mark = "Option" if asked.last.rstrip().rpartition("\n")[2].startswith("Option:") else "Answer"
    return f"{mark}: {favourite or 'not known'}"


def _opinion(asked: Asked, knowledge: Knowledge) -> tuple[bool, str]:
    known = asked.draws.happens("competence", knowledge.by_heart(asked.rates))
    return known, knowledge.opinion(known, asked.draws)


# Template -> what its reply has to hold, which the prompt must ask for, and the reply.
_REPLIES: Mapping[str, tuple[str, Callable[[Asked], str]]] = {
    "convene_question": ("Medical Field:", _experts),
    "convene_option": ("Medical Field:", _experts),
    "report": ("Key Knowledge:", _report),
    "vote": ("YES or NO", _vote),
    "advise": (_ADVICE, _advice),
    "revise": ("Total Analysis:", _revision),
    "decide": (":", _decision),
}
