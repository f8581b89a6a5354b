"""The simulated model on tasks over a FHIR server: it looks up what the task needs, creates what is right, and answers.

With ``competence`` it does so without a mistake; otherwise it reads and writes another value, forgets to write, or
takes the first patient that a search finds for the one who is meant. Without a result it knows no value.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from components.core.messages import Message
from components.core.types import Sample
from components.simulation.asked import Asked, Knowledge, Responder
from components.simulation.draws import Draws, Rates
from components.simulation.grammar import Style, called, finished, said
from components.simulation.history import Done, call_in, review

_CODE, _DATE = re.compile(r'code for .{1,40}? is "(\w+)"'), re.compile(r"\d{4}-\d\d-\d\d")
_VALUE = re.compile(r'"value(String)?":"?(?=\d)')
_PATIENT = re.compile(r'"resourceType":"Patient","id":"([\w.-]+)"')
_MISTAKES = ("other value", "no write", "other patient")


@dataclass(frozen=True)
class ChartKnowledge(Knowledge):
    """What is right of a task, and what is to be looked up for it."""

    def by_heart(self, rates: Rates) -> float:
        """Nobody knows a chart by heart."""
        return 0.0

    def opinion(self, known: bool, draws: Draws, besides: str = "") -> str:
        """The answer as a list; a wrong one has another value."""
        answer = list(self.sample.target.get("answer") or [])
        if not known and answer:
            first = answer[0]
            answer[0] = round(first + 1, 4) if isinstance(first, int | float) else "Patient not found"
        return f"Answer: {orjson.dumps(answer).decode()}"

    def is_right(self, opinion: str) -> bool:
        """Whether it is the right list, as it is written here."""
        return opinion.rpartition("\n")[2] == self.opinion(True, Draws(0, ()))

    def lookup(self) -> list[Done]:
        """The search that the task needs; none where it names all that is to be written."""
        problem, facts = self.sample.problem, self.sample.metadata
        if facts["fhir_category"] in ("find_patient", "age"):
            dates = _DATE.findall(problem.question)
            return [Done("Patient_Search", {"birthdate": dates[-1]} if dates else {"identifier": facts["mrn"]})]
        patient, newest = {"patient": facts["patient"]}, {"_sort": "-date", "_count": 50}
        codes = _CODE.findall(problem.context)[:1]
        return [Done("Observation_Search_Labs", {**patient, "code": code, **newest}) for code in codes]

    def writes(self) -> list[Done]:
        """The creations that are right."""
        return [Done(f"{one['resourceType']}_Create", one) for one in self.sample.target.get("requests", ())]


class Charts(Responder):
    """Tasks over a FHIR server, by functions that are named as the toolset ``fhir`` names them."""

    def knowledge(self, sample: Sample) -> ChartKnowledge | None:
        """What is known of a task over a FHIR server."""
        return ChartKnowledge(sample) if "fhir_category" in sample.metadata else None

    def reply(self, asked: Asked) -> Message | None:
        """The next step, or the answer; a verifier's choice."""
        knowledge, style = asked.knowledge, asked.style
        if not isinstance(knowledge, ChartKnowledge):
            return None
        if (garbled := asked.garbled()) is not None:
            return garbled
        if asked.reviewed:
            step = _step(asked, knowledge)
            return review(
                asked.history, lambda text: call_in(text) == step, lambda: _said(step, style or "native", asked),
                style or "native", asked.draws,
            )  # fmt: skip
        if style is None or asked.concludes:
            return said(_answer(asked, knowledge) if asked.history.done else knowledge.opinion(False, asked.draws))
        return _said(_step(asked, knowledge), style, asked)


def _mistake(asked: Asked) -> str:
    """What goes wrong in this episode; "" where nothing does."""
    if asked.draws.happens("competence", asked.rates.competence, whole=True):
        return ""
    return _MISTAKES[int(asked.draws.share("mistake", whole=True) * len(_MISTAKES))]


def _answer(asked: Asked, knowledge: ChartKnowledge) -> str:
    """The answer; a wrong one where nothing was found, too."""
    looked = [one.name for one in knowledge.lookup()]
    seen = [one.saw or "" for one in asked.history.done if one.name in looked]
    found = not looked or any('"resourceType":"Bundle"' in text for text in seen)
    return knowledge.opinion(found and _mistake(asked) in ("", "other patient"), asked.draws)


def _step(asked: Asked, knowledge: ChartKnowledge) -> Done:
    """The first call of the plan that was not made yet; then the answer."""
    offered, done = asked.history.offered, asked.history.done
    if asked.draws.happens("wrong tool", asked.rates.wrong_tool) and "Condition_Search" in offered:
        return Done("Condition_Search", {"patient": knowledge.sample.metadata["patient"]})
    plan, position = _plan(asked, knowledge), 0
    for call in done:
        position += position < len(plan) and call.name == plan[position].name
    left = [one for one in plan[position:] if one.name in offered]
    return left[0] if left else Done("Finish", {"response": _answer(asked, knowledge)})


def _plan(asked: Asked, knowledge: ChartKnowledge) -> Sequence[Done]:
    """The calls of the task with the mistake of this episode."""
    lookup, writes, mistake = knowledge.lookup(), knowledge.writes(), _mistake(asked)
    if mistake == "no write":
        return lookup
    if mistake == "other value":  # each begins with one digit more
        bodies = [_VALUE.sub(r"\g<0>9", orjson.dumps(one.arguments).decode()) for one in writes]
        writes = [Done(one.name, orjson.loads(body)) for one, body in zip(writes, bodies, strict=True)]
    elif mistake == "other patient" and writes:
        seen = "".join(one.saw or "" for one in asked.history.done if one.name == "Patient_Search")
        if found := _PATIENT.search(seen):
            subject = {"reference": f"Patient/{found[1]}"}
            writes = [Done(one.name, {**one.arguments, "subject": subject}) for one in writes]
        lookup = [Done("Patient_Search", {"gender": "female", "_count": 1}), *lookup]
    return [*lookup, *writes]


def _said(step: Done, style: Style, asked: Asked) -> Message:
    """A step in the grammar that the prompt asks for; in tags, which know no answer, the last call ends the work."""
    if step.name == "Finish":
        return finished(style, asked.voice.worded(str(step.arguments["response"]), asked.draws))
    is_last = isinstance(asked.knowledge, ChartKnowledge) and [step] == [*_plan(asked, asked.knowledge)][-1:]
    return called(style, step.name, step.arguments, last=is_last)
