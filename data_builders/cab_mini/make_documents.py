"""Write the invented letters of cab_mini and ask about them: longhealthqa and longhalt.

Every patient has a folder with all letters, and one in which the letters that longhalt asks about are left
out. A fact stands in one letter only, so that without it the right option is F, as in LongHealth
(Adams et al., arXiv 2401.14490).
"""

import random
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from data_builders.cab_mini.cab_records import SIZES, Built, Record, choice, shuffled, table_of

LINE_WIDTH = 96
N_OPTIONS = 5
# What longhalt asks about by turns: these kinds of letters are missing in a patient's incomplete folder.
MISSING = (("imaging", "operation", "outpatient"), ("investigation", "discharge", "rehabilitation"))


@dataclass(frozen=True)
class Letter:
    """One letter: its file name, its kind, its text and the facts that it holds."""

    file: str
    kind: str
    text: str
    facts: Sequence[str]


def letters_of(case: Mapping[str, Any], table: Mapping[str, Any]) -> list[Letter]:
    """The letters about one patient in the order of time."""
    made = []
    for number, form in enumerate(table["letters"], start=1):
        rng = random.Random(f"{case['key']}-{form['kind']}")
        values = {**case["facts"], **case, "told": case["told"][form["kind"]]}
        chosen = [rng.choice(wordings) for wordings in form["paragraphs"]]
        facts = [fact for fact in case["facts"] if any(f"{{{fact}}}" in paragraph for paragraph in chosen)]
        head = [
            table["hospital"],
            form["department"],
            written(case["start"] + timedelta(days=form["day"])),
            "",
            form["title"],
        ]
        head.append(f"Concerning: {case['name']}, born {written(case['born'])}")
        body = [textwrap.fill(sentence_case(text.format(**values)), LINE_WIDTH) for text in chosen]
        close = f"{rng.choice(table['closings'])},\n{form['department']}"
        text = "\n".join(head) + "\n\n" + "\n\n".join([*body, close]) + "\n"
        made.append(Letter(f"letter_{number:02d}.txt", form["kind"], text, facts))
    return made


def written(day: date) -> str:
    """A day as the letters write it, such as 5 May 2032."""
    return f"{day.day} {day:%B %Y}"


def sentence_case(text: str) -> str:
    """The text with a capital at the beginning."""
    return text[:1].upper() + text[1:]


def options(fact: str, case: Mapping[str, Any], cases: Sequence[Mapping[str, Any]]) -> list[str]:
    """The right text among those of other patients, in a fixed order."""
    gold, seed = case["facts"][fact], f"{case['key']}-{fact}"
    others = shuffled([other["facts"][fact] for other in cases if other is not case], seed)
    return shuffled([gold, *others[: N_OPTIONS - 1]], f"order-{seed}")


def turns(cases: Sequence[Mapping[str, Any]], facts: Mapping[str, Sequence[str]], size: int) -> list[tuple[Any, str]]:
    """Patients by turns, each with the next of the facts that may be asked about."""
    rounds = max(len(names) for names in facts.values())
    pairs = [
        (case, facts[case["key"]][turn]) for turn in range(rounds) for case in cases if turn < len(facts[case["key"]])
    ]
    return pairs[:size]


def answerable(table: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], phase: str) -> list[Record]:
    """The records of longhealthqa in one phase."""
    made, chosen = [], [case for case in cases if case["phase"] == phase]
    facts = {case["key"]: shuffled(list(table["questions"]), case["key"]) for case in chosen}
    for case, fact in turns(chosen, facts, SIZES[phase]):
        question = f"Patient {case['name']}, born {written(case['born'])}: {table['questions'][fact]}"
        source = next(letter.file for letter in letters_of(case, table) if fact in letter.facts)
        note, path = {"document": source}, folder(case, cases, whole=True)
        made.append(choice(question, options(fact, case, cases), case["facts"][fact], note, upload_files=path))
    return made


def impossible(table: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], phase: str) -> list[Record]:
    """The records of longhalt in one phase; the sixth option is the right one."""
    made, chosen = [], [case for case in cases if case["phase"] == phase]
    facts = {}
    for case in chosen:
        lost = [
            fact for letter in letters_of(case, table) if letter.kind in missing(case, cases) for fact in letter.facts
        ]
        facts[case["key"]] = shuffled(lost, f"lost-{case['key']}")
    for case, fact in turns(chosen, facts, SIZES[phase]):
        question = (
            f"According to the letters about {case['name']} (born {written(case['born'])}), {table['questions'][fact]}"
        )
        texts, path = [*options(fact, case, cases), table["impossible"]], folder(case, cases, whole=False)
        made.append(choice(question, texts, table["impossible"], {"fact": case["facts"][fact]}, upload_files=path))
    return made


def place(case: Mapping[str, Any], cases: Sequence[Mapping[str, Any]]) -> int:
    """The number of a case in the table."""
    return [other["key"] for other in cases].index(case["key"])


def missing(case: Mapping[str, Any], cases: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """The kinds of letters that a patient's incomplete folder lacks."""
    return MISSING[place(case, cases) % len(MISSING)]


def folder(case: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], whole: bool) -> str:
    """The complete or the incomplete folder of a patient; the name does not tell which it is."""
    first = place(case, cases) // len(MISSING) % 2 == 0
    return f"documents/{case['key']}_{1 if whole == first else 2}"


def build() -> Built:
    """All letters, and the records of the two tasks."""
    table, cases, made = table_of("letters.yaml"), table_of("cases.yaml"), Built()
    for case in cases:
        for letter in letters_of(case, table):
            made.files[f"{folder(case, cases, whole=True)}/{letter.file}"] = letter.text.encode()
            if letter.kind not in missing(case, cases):
                made.files[f"{folder(case, cases, whole=False)}/{letter.file}"] = letter.text.encode()
    for task, write in (("longhealthqa", answerable), ("longhalt", impossible)):
        made.tasks[task] = {phase: write(table, cases, phase) for phase in SIZES}
    return made
