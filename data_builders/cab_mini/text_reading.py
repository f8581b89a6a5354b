"""The tasks that read a text: medmentions (entities of an abstract) and emrqa (an extract of a note)."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.cab_mini.cab_records import SIZES, Record, record, table_of
from data_builders.facts import Facts, inline

BANKS = ("opening", "finding", "examination", "treatment", "closing")
Phases = dict[str, list[Record]]


def medmentions(facts: Facts) -> Phases:
    """Abstracts put together from frames; the mentions are what the frames name."""
    table = table_of("text_abstracts.yaml")
    offsets = {"test": 0, "train": SIZES["test"]}
    return {
        phase: [_abstract(name, offsets[phase] + number, table, facts) for number, name in enumerate(table[phase])]
        for phase in SIZES
    }


def _abstract(name: str, position: int, table: Mapping[str, Any], facts: Facts) -> Record:
    """One record. ``position`` counts over both phases and chooses the frames."""
    disease = facts.diseases[name]
    frames = [table[bank][(position + shift * (position // 3)) % len(table[bank])] for shift, bank in enumerate(BANKS)]
    names = {
        "disease": name, "test": disease.test, "site": disease.site, "drug": disease.drugs[0],
        "finding1": disease.findings[0], "finding2": disease.findings[1],
    }  # fmt: skip
    words = {key: inline(value) for key, value in names.items()}
    words |= {key.capitalize(): value for key, value in names.items()}
    title = table["title"][position % len(table["title"])]
    title_text = _first_up(title.format(**words))
    template = " ".join([f"{title}.", *frames])
    text = f"{title_text}. " + " ".join(_first_up(frame.format(**words, **_numbers(name))) for frame in frames)
    mentions: dict[str, str] = {}
    for key in re.findall(r"\{(\w+)\}", template):
        if key in words:
            mentions.setdefault(words[key].lower(), words[key])
    lines = [
        f'Which medical entities does the abstract "{title_text}" mention?',
        "Answer with a list of entity names in square brackets, as they are written in the text.",
    ]
    return record(lines, {"answer": [{"entity_name": one} for one in mentions.values()]}) | {"inputs": text}


def _numbers(seed: str) -> dict[str, int]:
    rng = random.Random(seed)
    n = rng.randrange(60, 400)
    return {
        "n": n, "years": rng.randrange(2, 9), "p": rng.randrange(48, 83), "q": rng.randrange(12, 45),
        "r": rng.randrange(n // 3, n - 5), "few": rng.randrange(3, 12),
    }  # fmt: skip


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]


def emrqa(facts: Facts) -> Phases:
    """Questions about invented notes; ``facts`` is not needed, the extract stands in the note."""
    table = table_of("text_notes.yaml")
    return {phase: [_extract(row, table["background"]) for row in table[phase]] for phase in SIZES}


def _extract(row: Mapping[str, Any], background: Mapping[str, Sequence[str]]) -> Record:
    lines = [row["question"], "Answer with the words of the note."]
    return record(lines, {"answer": row["answer"]}) | {"inputs": _note(row, background)}


def _note(row: Mapping[str, Any], background: Mapping[str, Sequence[str]]) -> str:
    """The discharge note; background and vital signs (normal ones) are drawn with the name as seed."""
    rng = random.Random(row["name"])
    vital = (
        f"blood pressure {rng.randrange(112, 139)}/{rng.randrange(64, 85)} mmHg, pulse {rng.randrange(62, 89)} beats a "
        f"minute, temperature {rng.randrange(364, 372) / 10} degrees Celsius"
    )
    return "\n".join(
        [
            "DISCHARGE NOTE",
            f"Patient: {row['name']}, {row['sex']}, {row['age']} years",
            f"Reason for admission: {_first_up(row['reason'])}.",
            f"Medication on admission: {_first_up(row['meds'])}.",
            f"Allergies: {_first_up(row['allergy'])}.",
            *(f"{_first_up(kind)}: {rng.choice(texts)}" for kind, texts in background.items()),
            f"Results: {row['results']}",
            f"Course: {row['course']}",
            f"Vital signs at discharge: {_first_up(vital)}.",
            f"Plan: {row['plan']}",
        ]
    )
