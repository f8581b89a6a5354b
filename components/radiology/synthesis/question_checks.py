"""Checks of a record's eleven questions and answers: they name the task, give nothing away, and answer it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from components.radiology.study import Record
from components.radiology.synthesis.record_checks import TABLES, is_line, name_words, odd_piece, plural_aware
from components.radiology.tasks import TASKS

Questions = Mapping[str, Mapping[str, str]]
ADULT_AGE = 18
_ORGAN_MASKS, _ANOMALY_MASKS = ("012", "0123", "01235"), ("013", "0123", "01235")


def nouns_of(sex: str, age: int) -> str:
    """Boy, girl, man or woman."""
    return {"Male": ("boy", "man"), "Female": ("girl", "woman")}[sex][age >= ADULT_AGE]


def guessed_chain(question: str) -> str:
    """The task that the words of a question mean, as a reader would take them."""

    def say(pattern: str) -> bool:
        return re.search(pattern, question, re.IGNORECASE) is not None

    score, measure = say(r"\b(scor\w+|grad(e|ing)\b)"), say(r"\b(measur\w+|quanti\w+|biomarkers?)\b")
    organ, abnormal = say(r"\borgan\b"), say(r"\b(abnormal\w*|patholog\w+)\b")
    if say(r"\b(treat\w*|therapy|management)\b"):
        return "012356789"
    if say(r"\breport\b"):
        return "01235678" if score else "0123568" if measure else "01348"
    if say(r"\b(diagnos\w+|disease|condition|illness)\b"):
        return "01235" if organ or abnormal else "014"
    if measure:
        return "0136" if abnormal else "0126"
    return "0123" if organ and abnormal else "013" if abnormal else "012"


def needed_in_answer(record: Record) -> dict[str, list[str]]:
    """What the answer of each task must contain, ignoring case."""
    return {chain: [one.format(**record) for one in pieces] for chain, pieces in TABLES["answers"].items()}


def eleven(record: Record, questions: Questions) -> Iterator[str]:
    """A question and an answer for each of the eleven tasks, in their order."""
    if list(questions) != list(TASKS):
        yield f"the questions are those of {list(questions)}; {list(TASKS)} are expected, in this order"
        return
    for chain, pair in questions.items():
        whole = isinstance(pair, Mapping) and list(pair) == ["Q", "A"]
        if not whole or not all(map(is_line, pair.values())):
            yield f"{chain}: an object with Q and A, texts of one line, is expected"


def nothing_away(record: Record, questions: Questions) -> Iterator[str]:
    """No question says what has to be found out."""
    secret = name_words(record) | {*TABLES["revealing"].split()}
    names = (record["Disease"], record["Anatomy"], record["Modality"], record["Anomaly"]["Symptom"])
    quantities = (record["OrganBiomarker"]["OrganQuant"], record["AnomalyBiomarker"]["AnomalyQuant"])
    for chain, pair in questions.items():
        said = sorted(plural_aware(pair["Q"]) & secret)
        said += [name for name in names if re.search(rf"\b{re.escape(name)}\b", pair["Q"], re.IGNORECASE)]
        bare = pair["Q"].replace(record["Information"]["Age"], "")
        said += [one for one in quantities if re.search(rf"\b{re.escape(one)}(?!\w)", bare)]
        if said:
            yield f"{chain}: the question gives away {said[0]!r}"


def tells_its_task(record: Record, questions: Questions) -> Iterator[str]:
    """A reader can recognise the task from the question."""
    for chain, pair in questions.items():
        if (guessed := guessed_chain(pair["Q"])) != chain:
            yield f"{chain}: the question reads like one of {guessed}, {TASKS[guessed].name}: {pair['Q']!r}"


def patient(record: Record, questions: Questions) -> Iterator[str]:
    """A patient that a question names is the record's."""
    info = record["Information"]
    own = (nouns_of(info["Sex"], int(info["Age"])), info["Age"])
    for chain, pair in questions.items():
        for found in re.findall(r"\b(boy|girl|man|woman) aged (\d+)", pair["Q"]):
            if found != own:
                yield f"{chain}: the patient is a {found[0]} aged {found[1]}; the record's is a {own[0]} aged {own[1]}"


def answers(record: Record, questions: Questions) -> Iterator[str]:
    """An answer contains what its task asks for."""
    for chain, texts in needed_in_answer(record).items():
        answer = questions[chain]["A"].lower()
        for text in texts:
            if text.lower() not in answer:
                yield f"{chain}: the answer lacks {text!r}"


def masks(record: Record, questions: Questions) -> Iterator[str]:
    """Masks occur only where they are asked for."""
    for mask, chains in (("[Organ Mask]", _ORGAN_MASKS), ("[Anomaly Mask]", _ANOMALY_MASKS)):
        for chain, pair in questions.items():
            if mask in pair["A"] and chain not in chains:
                yield f"{chain}: the answer shows {mask}, which this task does not ask for"


def clean(record: Record, questions: Questions) -> Iterator[str]:
    """Texts are clean: no markup, doubled points, spaces or words, and a capital at the beginning."""
    for chain, pair in questions.items():
        for text in pair.values():
            if (odd := odd_piece(text)) is not None:
                yield f"{chain}: {odd!r} stands in {text!r}; plain English text is expected"
            if found := re.search(r"\.\.|  |\bNone\b|TODO", text):
                yield f"{chain}: {found[0]!r} stands in {text!r}"
            if not (text[0].isupper() or text[0] == "["):
                yield f"{chain}: {text!r} begins with a small letter"
            if found := re.search(r"\b(\w+) \1\b|\ba (X-ray|MRI|Ultrasound)\b", text, re.IGNORECASE):
                yield f"{chain}: {found[0]!r} stands in {text!r}"


CHECKS: Sequence[Callable[[Record, Questions], Iterator[str]]] = (
    nothing_away, tells_its_task, patient, answers, masks, clean,
)  # fmt: skip


def question_flaws(record: Record, questions: Questions) -> list[str]:
    """All that is wrong with the questions of a sound record; only their form where that is wrong."""
    wrong = list(eleven(record, questions))
    return wrong or [flaw for check in CHECKS for flaw in check(record, questions)]
