"""The simulated model in a consultation: the patient and the measurements, from their prompts alone, and the doctor."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from components.clinic.toolset import CLOSING, SPENT
from components.core.cached import cached_property
from components.core.messages import Message
from components.core.types import Sample
from components.prompts.recognition import rendered_from
from components.simulation.asked import Asked, Knowledge, Responder
from components.simulation.draws import Draws, Rates
from components.simulation.grammar import called, finished, said
from components.simulation.history import Done, call_in, review

FACTS = 1, 3, 4  # that a diagnosis takes at least; more without what a patient says, without findings
ENOUGH = 3  # informative answers, and as many findings
SUSPECTS, INFECTED = 0.3, 0.15  # names cancer because the own bias says so; because the patient does
WITHHOLDS = 0.5  # a patient who does not trust the doctor says nothing
UNKNOWN, SILENT = "I have not noticed anything like that.", "I would rather not go into that."
_ASK, _ORDER = "question", "test"  # parameters of the tools
_NORMAL, _FEAR = "normal", "cancer"
_WRONG = (
    "Viral infection", "Irritable bowel syndrome", "Fibromyalgia", "Anxiety disorder", "Muscle strain",
    "Community-acquired pneumonia", "Hypothyroidism", "Migraine", "Cystitis", "Type 2 diabetes mellitus",
)  # fmt: skip
_QUESTIONS = (
    "What brings you here today, and how did it start?",
    "Have you noticed anything else, any other symptoms?",
    "What illnesses and operations did you have in the past, and what medicines do you take?",
    "Do you smoke or drink, and what is your work?",
    "Any fever, night sweats, loss of weight or appetite, changes of stools or urine?",
)
_CUES = {  # part of a patient's notes -> words of questions about it
    "history": "brings start started begin began since when long happened today",
    "symptoms": "noticed else other symptoms also complaints",
    "past": "past before illnesses operations medicines medication tablets allergies family surgery conditions",
    "social": "smoke drink alcohol work live home job travel abroad drugs",
    "review": "fever sweats weight appetite stools urine cough bowel",
}
_IDLE = ("Vitamin D level", "Allergy panel", "Abdominal X-ray")  # orders that find nothing
_SEARCH = "CT of chest, abdomen and pelvis"  # for a tumour
_LINE = re.compile(r"^(\s*)(?:- (?P<item>.+)|(?P<name>[^:]{1,60}):(?P<text>.*))$")
_WORD = re.compile(r"[a-z0-9]+")
_EMPTY = frozenset("a an and any did do have how in is it of or other the to was what with you your".split())  # noqa: SIM905


class Note(NamedTuple):
    """A line of a role's notes: the names above it and its own, and what it says."""

    names: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class ClinicKnowledge(Knowledge):
    """Knowledge of a case: the disease, and what can be found out."""

    def by_heart(self, rates: Rates) -> float:
        """As often as all facts are known that it takes without asking."""
        return float(rates.competence ** sum(FACTS))

    def opinion(self, known: bool, draws: Draws, besides: str = "") -> str:
        """The disease, or another one."""
        right = str(self.sample.target)
        return right if known else draws.pick("wrong disease", [one for one in _WRONG if one not in (right, besides)])

    @property
    def tests(self) -> list[str]:
        """The examinations and tests that would find something."""
        return [*dict.fromkeys(one.names[1] for one in notes_in(self.sample.metadata["findings"]) if one.names[1:])]


class Consultations(Responder):
    """The three roles of a consultation."""

    def knowledge(self, sample: Sample) -> ClinicKnowledge | None:
        """What is known of a case."""
        return ClinicKnowledge(sample) if {"patient", "findings"} <= sample.metadata.keys() else None

    def reply(self, asked: Asked) -> Message | None:
        """What a role says, or the doctor's next step."""
        if rendered_from(asked.messages[0].text, "clinic/patient"):
            return said(_as_patient(asked))
        if rendered_from(asked.messages[0].text, "clinic/measurement"):
            return said(_as_measurement(asked))
        if not isinstance(asked.knowledge, ClinicKnowledge):
            return None
        return asked.garbled() or Doctor(asked, asked.knowledge).reply()


def notes_in(text: str) -> list[Note]:
    """The lines of notes as ``as_text`` writes them, after the last line in square brackets."""
    found, above = list[Note](), list[tuple[int, str]]()
    lines = text.split("\n")
    start = max((n for n, line in enumerate(lines) if line[:1] + line[-1:] == "[]"), default=-1)
    for line in filter(None, map(_LINE.match, lines[start + 1 :])):
        names, depth = tuple(name for _, name in above), len(line[1])
        if line["item"] is None:
            above = [one for one in above if one[0] < depth]
            names = (*(name for _, name in above), line["name"])
            above.append((depth, line["name"]))
        if names and (text := (line["item"] or line["text"]).strip()):
            found.append(Note(names, text))
    return found


def words_of(text: str) -> set[str]:
    """The words of a text that carry meaning."""
    return set(_WORD.findall(text.casefold())) - _EMPTY


def _request(asked: Asked) -> set[str]:
    """The words of what the doctor says, in the last paragraph of the prompt."""
    return words_of(asked.last.rpartition("\n\n")[2].partition(": ")[2].rpartition("\n")[0])


def _as_patient(asked: Asked) -> str:
    """The part of the notes that the question is about; a worry, or a silence, where the prompt gives a reason."""
    head, request = asked.messages[0].text.partition("\n[")[0], _request(asked)
    worried, biased = _FEAR in head.casefold(), head.count("\n\n") > 0
    if biased and not worried and asked.draws.happens("withholds", WITHHOLDS):
        return SILENT

    def fit(note: Note) -> int:
        cues = next((words for cue, words in _CUES.items() if note.names[0].casefold().startswith(cue)), "")
        return 2 * len(request & set(cues.split())) + len(request & words_of(note.text))

    fits = [(fit(note), note.text) for note in notes_in(asked.messages[0].text)]
    best = max((one for one, _ in fits), default=0)
    text = " ".join(text.rstrip(".") + "." for one, text in fits if best and one == best) or UNKNOWN
    return f"{text} I am afraid that it is {_FEAR}." if worried else text


def _as_measurement(asked: Asked) -> str:
    """What was found of what is ordered by its name, or of the whole examination."""
    request, notes = _request(asked), notes_in(asked.messages[0].text)
    found = [
        note for note in notes if any(2 * len(request & words_of(one)) > len(words_of(one)) for one in note.names[1:])
    ]
    if not found and "examination" in request:
        found = [note for note in notes if note.names[0] == "Examination"]
    return f"RESULTS: {'; '.join(f'{note.names[-1]}: {note.text}' for note in found) or _NORMAL}"


@dataclass(frozen=True)
class Doctor:
    """The doctor's next action. Tools are known by their parameter, whatever they are called."""

    asked: Asked
    knowledge: ClinicKnowledge

    def reply(self) -> Message:
        """A verifier's choice, the next question or order, or the diagnosis."""
        asked = self.asked
        if asked.reviewed:
            return review(asked.history, self._is_good, self._step, asked.style or "native", asked.draws)
        if asked.style is not None and not asked.concludes:
            return self._step()
        answer = self._diagnosis()
        return said(asked.voice.worded(answer, asked.draws) if asked.voice.opines else f"Answer: {answer}")

    def _is_good(self, text: str) -> bool:
        """Whether an action serves: a question or an order, or the right diagnosis."""
        if (call := call_in(text)) and call.name == "Finish":
            return self.asked.voice.serves(self.knowledge, str(call.arguments.get("response", "")))
        return call is not None and call.name in self.asked.history.offered

    def _step(self) -> Message:
        asked, style, wanted = self.asked, self.asked.style or "native", self._wanted
        done = self._next_call()
        if done is None and style == "xml" and _ASK in self._tools and SPENT not in asked.last:
            done = Done(self._tools[_ASK], {_ASK: "Thank you."})  # in tags a call ends the work
        if done is None:
            return finished(style, asked.voice.worded(self._diagnosis(), asked.draws))
        return called(style, done.name, done.arguments, last=len(asked.history.done) + 1 >= sum(wanted))

    @cached_property
    def _tools(self) -> dict[str, str]:
        """The parameter of a tool -> its name."""
        return {names[0]: tool for tool, names in self.asked.history.offered.items() if len(names) == 1}

    def _saw(self, parameter: str) -> list[str]:
        """What came of the calls of a tool."""
        return [one.saw or "" for one in self.asked.history.done if one.name == self._tools.get(parameter)]

    @cached_property
    def _bias(self) -> str:
        """The message that gives the doctor a bias; empty where none does."""
        return next((one.text for one in self.asked.opening if rendered_from(one.text, "clinic/doctor")), "").casefold()

    @cached_property
    def _wanted(self) -> tuple[int, int]:
        """How many questions and orders: fewer questions with reservations about the patient, none by a tool that is
        not offered, or when no turn is left."""
        if any(text in (one.saw or "") for one in self.asked.history.done for text in (CLOSING, SPENT)):
            return 0, 0
        share = self.asked.draws.share
        n_questions, n_orders = (3 + int(share(what, whole=True) * 3) for what in ("questions", "orders"))
        n_questions //= 2 if self._bias and _FEAR not in self._bias else 1
        return n_questions * (_ASK in self._tools), n_orders * (_ORDER in self._tools)

    def _next_call(self) -> Done | None:
        """Questions, then the examination and tests; None when there are enough."""
        draws, rates, (n_questions, n_orders) = self.asked.draws, self.asked.rates, self._wanted
        n_asked, n_ordered = len(self._saw(_ASK)), len(self._saw(_ORDER))
        if n_asked < n_questions:
            return Done(self._tools[_ASK], {_ASK: _QUESTIONS[n_asked]})
        if n_ordered >= n_orders:
            return None
        if not n_ordered:
            return Done(self._tools[_ORDER], {_ORDER: _SEARCH if _FEAR in self._bias else "Physical examination"})
        ordered = {str(one.arguments.get(_ORDER)) for one in self.asked.history.done}
        left = [name for name in self.knowledge.tests if name not in ordered]
        useless = draws.happens("wrong test", 1 - rates.competence * (1 - rates.wrong_tool)) or not left
        return Done(self._tools[_ORDER], {_ORDER: draws.pick("test", _IDLE if useless else left)})

    def _diagnosis(self) -> str:
        """The disease as often as what was learnt allows, or what a bias suggests."""
        replies, found, rates = self._saw(_ASK), self._saw(_ORDER), self.asked.rates
        suspicion = SUSPECTS if _FEAR in self._bias else INFECTED if any(_FEAR in one for one in replies) else 0.0
        if self.asked.draws.happens("suspects", suspicion):
            return _FEAR.capitalize()
        failed = (UNKNOWN, SILENT, SPENT, self._tools.get(_ASK, _ASK))  # an error names the tool
        n_informative = sum(not any(text in one for text in failed) for one in replies)
        n_found = sum(one.startswith("RESULTS:") and not one.startswith(f"RESULTS: {_NORMAL}") for one in found)
        least, asking, testing = FACTS
        facts = least + asking * (1 - min(n_informative / ENOUGH, 1)) + testing * (1 - min(n_found / ENOUGH, 1))
        known = self.asked.draws.happens("competence", rates.competence**facts)
        return self.knowledge.opinion(known, self.asked.draws)
