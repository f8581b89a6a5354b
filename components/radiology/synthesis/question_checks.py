"""Checks of the questions of a synthetic record."""

import re
from collections.abc import Iterator, Mapping

from components.radiology.study import Record
from components.radiology.synthesis.checks import TABLES, Questions, is_line, nouns_of, odd_piece, plural_aware, words
from components.radiology.tasks import TASKS

_UNREVEALING = {*TABLES["ordinary"].split(), *TABLES["score_nouns"].split()}
_MASKED = {"[Organ Mask]": ("012", "0123", "01235"), "[Anomaly Mask]": ("013", "0123", "01235")}


def guessed_chain(question: str) -> str:
    """The task that the words of a question mean, as a reader would take them."""
    found = {name: re.search(rf"\b({words})\b", question, re.IGNORECASE) for name, words in TABLES["asks"].items()}
    if found["treatment"]:
        return "012356789"
    if found["report"]:
        return "01235678" if found["score"] else "0123568" if found["measure"] else "01348"
    if found["diagnosis"]:
        return "01235" if found["organ"] or found["abnormal"] else "014"
    if found["measure"]:
        return "0136" if found["abnormal"] else "0126"
    return "0123" if found["organ"] and found["abnormal"] else "013" if found["abnormal"] else "012"


def needed_in_answer(record: Record) -> dict[str, list[str]]:
    """What the answer of each task must contain, ignoring case."""
    return {chain: [one.format(**record) for one in pieces] for chain, pieces in TABLES["answers"].items()}


def question_flaws(record: Record, questions: Questions) -> list[str]:
    """All that is wrong with the questions of a sound record; only their form where that is wrong."""
    if list(questions) != list(TASKS):
        return [f"the questions are those of {list(questions)}; {list(TASKS)} are expected, in this order"]
    wrong = [
        f"{chain}: an object with Q and A, texts of one line, is expected"
        for chain, pair in questions.items()
        if not (isinstance(pair, Mapping) and list(pair) == ["Q", "A"] and all(map(is_line, pair.values())))
    ]
    checks = (_nothing_away, _task_and_patient, _answers, _clean)
    return wrong or [flaw for check in checks for flaw in check(record, questions)]


def _nothing_away(record: Record, questions: Questions) -> Iterator[str]:
    """No question says what has to be found out."""
    organ, anomaly = record["OrganBiomarker"], record["Anomaly"]
    hidden = (organ["OrganObject"], anomaly["Part"], anomaly["Symptom"], record["Disease"], record["Indicator"]["Name"])
    parts = {piece for word in words(" ".join(hidden)) for piece in (word, *word.split("-"))}
    secret = ({word for word in parts if len(word) >= 4} - _UNREVEALING) | {*TABLES["revealing"].split()}
    names = (record["Disease"], record["Anatomy"], record["Modality"], anomaly["Symptom"])
    quantities = (organ["OrganQuant"], record["AnomalyBiomarker"]["AnomalyQuant"])
    for chain, pair in questions.items():
        revealed = sorted(plural_aware(pair["Q"]) & secret)
        revealed += [name for name in names if re.search(rf"\b{re.escape(name)}\b", pair["Q"], re.IGNORECASE)]
        bare = pair["Q"].replace(record["Information"]["Age"], "")
        revealed += [one for one in quantities if re.search(rf"\b{re.escape(one)}(?!\w)", bare)]
        if revealed:
            yield f"{chain}: the question gives away {revealed[0]!r}"


def _task_and_patient(record: Record, questions: Questions) -> Iterator[str]:
    """A reader can recognise the task from the question; a patient that a question names is the record's."""
    for chain, pair in questions.items():
        if (guessed := guessed_chain(pair["Q"])) != chain:
            yield f"{chain}: the question reads like one of {guessed}, {TASKS[guessed].name}: {pair['Q']!r}"
    info = record["Information"]
    own = (nouns_of(info["Sex"], int(info["Age"])), info["Age"])
    for chain, pair in questions.items():
        for found in re.findall(r"\b(boy|girl|man|woman) aged (\d+)", pair["Q"]):
            if found != own:
                yield f"{chain}: the patient is a {found[0]} aged {found[1]}; the record's is a {own[0]} aged {own[1]}"


def _answers(record: Record, questions: Questions) -> Iterator[str]:
    """An answer contains what its task asks for, and masks only there."""
    for chain, texts in needed_in_answer(record).items():
        answer = questions[chain]["A"].lower()
        yield from (f"{chain}: the answer lacks {text!r}" for text in texts if text.lower() not in answer)
    for mask, chains in _MASKED.items():
        for chain, pair in questions.items():
            if mask in pair["A"] and chain not in chains:
                yield f"{chain}: the answer shows {mask}, which this task does not ask for"


def _clean(record: Record, questions: Questions) -> Iterator[str]:
    """Texts are clean: no markup, doubled points, spaces or words, and a capital at the beginning."""
    for chain, text in ((chain, text) for chain, pair in questions.items() for text in pair.values()):
        if (odd := odd_piece(text)) is not None:
            yield f"{chain}: {odd!r} stands in {text!r}; plain English text is expected"
        if found := re.search(r"\.\.|  |\bNone\b|TODO", text):
            yield f"{chain}: {found[0]!r} stands in {text!r}"
        if not (text[0].isupper() or text[0] == "["):
            yield f"{chain}: {text!r} begins with a small letter"
        if found := re.search(r"\b(\w+) \1\b|\ba (X-ray|MRI|Ultrasound)\b", text, re.IGNORECASE):
            yield f"{chain}: {found[0]!r} stands in {text!r}"
