"""LongHealth: fictional patients with long records, and choice questions on them; mixing their documents.

Source: Adams et al. 2024, arXiv 2401.14490 (Apache-2.0 as third parties state; ``kbressem/LongHealth``): 20
patients with 20 questions each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from components.core.errors import ConfigError
from components.files.kept_files import kept_documents
from components.files.rows import Row, existing, json_object
from components.files.tables import records_of
from components.text.answers import letter_of

CANNOT = "Question cannot be answered with provided documents"
_HOW = (
    "take data/benchmark_v5.json from github.com/kbressem/LongHealth and give dataset.path=... the repository's folder"
)
_CHARACTERS_PER_TOKEN = 4  # of English text; clinical text has fewer, so a context is never shorter than asked


@dataclass(frozen=True)
class CaseQuestion:
    """A question with options A to E; ``letter`` is the right one, ``sources`` the documents that hold the answer."""

    number: int
    text: str
    choices: Mapping[str, str]
    letter: str
    sources: Sequence[str]


@dataclass(frozen=True)
class Case:
    """A patient: ``about`` says who it is, ``texts`` are the documents by their names."""

    id: str
    about: str
    texts: Mapping[str, str]
    questions: Sequence[CaseQuestion]


def longhealth_file(path: str) -> Path:
    """The data file. Raises ConfigError."""
    return existing(Path(path) / "data" / "benchmark_v5.json", _HOW)


def cases_of(file: Path) -> list[Case]:
    """All patients in the file's order. Raises ConfigError with file, line and key."""
    cases = [_case(name, row) for name, row in json_object(file)]
    if len(cases) < 2:
        raise ConfigError(f"{file}: at least two patients are needed to mix their documents, found {len(cases)}")
    return cases


def _case(name: str, row: Row) -> Case:
    texts = row.named_texts("texts")
    if not texts:
        raise row.error("texts", "must not be empty")
    about = f"Patient: {row.text('name').strip()}, born {row.text('birthday').strip()}"
    rows = records_of(dict(row.values), f"{row.place}: {name}", "questions")
    return Case(name, about, texts, [_question(one, texts, number) for number, one in enumerate(rows)])


def _question(row: Row, texts: Mapping[str, str], number: int) -> CaseQuestion:
    choices = {letter: row.text(f"answer_{letter.lower()}").strip() for letter in "ABCDE"}
    correct, sources = row.text("correct"), row.values.get("answer_location")
    letter = letter_of(choices, correct)
    if letter is None:
        raise row.error("correct", f"must be the text of one of answer_a to answer_e, found {correct!r:.80}")
    if not isinstance(sources, dict) or not set(sources) <= set(texts):
        raise row.error(
            "answer_location", f"its keys must be names of texts ({', '.join(texts)}), found {sources!r:.80}"
        )
    return CaseQuestion(number, row.text("question").strip(), choices, letter, tuple(sources))


def mixed(case: Case, cases: Sequence[Case], own: bool, min_tokens: int, seed: str) -> list[str]:
    """Documents of other patients in a drawn order until they make ``min_tokens``, with all of the patient's ``own``
    ones where wanted, shuffled.

    Tokens are counted as a quarter of the characters. Raises ConfigError when all documents together are too few.
    """
    rng = Random(f"{seed}/{case.id}")
    chosen = list(case.texts.values()) if own else []
    others = [text for other in cases if other.id != case.id for text in other.texts.values()]
    rng.shuffle(others)
    while sum(map(len, chosen)) < min_tokens * _CHARACTERS_PER_TOKEN:
        if not others:
            raise ConfigError(f"dataset.min_tokens: all documents for {case.id} together are fewer than {min_tokens:,}")
        chosen.append(others.pop())
    rng.shuffle(chosen)
    return chosen


def document_folder(cache: str, texts: Sequence[str]) -> Path:
    """A folder with the documents, numbered in this order. Raises ConfigError."""
    return kept_documents(Path(cache), {f"document_{n:02}.txt": text for n, text in enumerate(texts, 1)})
