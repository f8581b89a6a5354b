"""LongHealth: choice questions on a fictional patient's record, hidden among the documents of other patients.

Source: Adams et al. 2024, arXiv 2401.14490 (Apache-2.0 as third parties state; ``kbressem/LongHealth``): 20 patients
with 20 questions each, in the form of ClinicalAgent Bench (Liao et al. 2024, arXiv 2410.17657): contexts above 22,000
tokens. LongHealthQA has 200 test questions and 200 others. LongHalt (task 2 of the source) has 400 questions whose
right answer is that they cannot be answered: every document is another patient's, as in the source, and what else
the patient's own notes hold is not marked question by question.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated, ClassVar, NamedTuple

from annotated_types import Ge

from components.cab.tasks import TASKS
from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.attachments import attach
from components.files.file_dataset import OneFile, Part, SampleDataset, draw, task_sample
from components.files.folders import keep_documents
from components.files.rows import Row, json_object
from components.text.answers import letter_of

CANNOT = "Question cannot be answered with provided documents"
_CHARACTERS_PER_TOKEN = 4  # of English text; clinical text has fewer, so a context is never shorter than asked


class Case(NamedTuple):
    """A patient: ``about`` is name and birthday, ``texts`` are the documents by their names. A question has its text,
    options A to E and the right letter."""

    id: str
    about: str
    texts: Mapping[str, str]
    questions: Sequence[tuple[str, Mapping[str, str], str]]


@dataclass(frozen=True)
class LongHealth(OneFile[Sample], SampleDataset):
    """Questions with lettered options and a folder of documents, which all questions on a patient share. ``path`` holds
    ``data/benchmark_v5.json``. The folder has documents of other patients, chosen with ``seed``, until they make
    ``min_tokens``; it is written below ``cache``, named by its content. Raises ConfigError with file, line and key."""

    min_tokens: Annotated[int, Ge(0)] = 22_000
    seed: int = 0
    cache: str = "outputs/.cache/longhealthqa"
    own_documents: ClassVar[bool]
    file = "data/benchmark_v5.json"
    settings = ("{0.min_tokens}/{0.seed}",)
    how = (
        "take data/benchmark_v5.json from github.com/kbressem/LongHealth and give dataset.path=... "
        "the repository's folder"
    )

    def read(self, part: Part) -> Iterable[Sample]:
        """Mix the documents of each patient of the split and ask about them. Raises ConfigError."""
        cases = read_cases(part.file)
        test = {case.id for case in cases}
        if "train" in self.split_names:
            test = {case.id for case in draw(cases, (len(cases) + 1) // 2, f"{self.seed}/test")}
        for case in (one for one in cases if (one.id in test) == (part.split == "test")):
            texts = mix_documents(case, cases, self.own_documents, self.min_tokens, f"{self.seed}/{part.name}")
            folder = keep_documents(Path(self.cache), {f"document_{n:02}.txt": text for n, text in enumerate(texts, 1)})
            files = attach(documents=folder, folder=case.id)
            for number, (question, choices, letter) in enumerate(case.questions):
                metadata: dict[str, object] = {"documents": len(texts)}
                if not self.own_documents:
                    metadata["unanswerable"] = letter
                    choices, letter = {**choices, "F": CANNOT}, "F"
                yield task_sample(
                    self.part,
                    TASKS[self.part].dimension,
                    f"{self.part}-{case.id}-{number}",
                    question,
                    letter,
                    choices=choices,
                    context=case.about,
                    files=files,
                    metadata=metadata,
                    cluster=case.id,
                )


@dataclass(frozen=True)
class LongHealthQa(LongHealth):
    """Questions with options A to E; the target is the right letter. The folder also has all documents of the patient.
    Which half of the patients is ``test`` is chosen with ``seed`` too, so the splits share none."""

    own_documents = True
    title = "LongHealthQA"
    part = "longhealthqa"
    split_names = ("test", "train")


@dataclass(frozen=True)
class LongHalt(LongHealth):
    """Questions with options A to F on a patient of whom the documents hold nothing; the target is F."""

    min_tokens: Annotated[int, Ge(1)] = 22_000
    cache: str = "outputs/.cache/longhalt"
    own_documents = False
    title = "LongHalt"
    part = "longhalt"
    split_names = ("test",)


def read_cases(file: Path) -> list[Case]:
    """Read all patients in the file's order. Raises ConfigError with file, line and key."""
    cases = []
    for name, row in json_object(file):
        texts = row.named_texts("texts")
        if not texts:
            raise row.error("texts", "must not be empty")
        about = f"Patient: {row.text('name').strip()}, born {row.text('birthday').strip()}"
        rows = Row(f"{row.place}: {name}", row.values).rows("questions")
        cases.append(Case(name, about, texts, [_question(one, texts) for one in rows]))
    if len(cases) < 2:
        raise ConfigError(f"{file}: at least two patients are needed to mix their documents, found {len(cases)}")
    return cases


def _question(row: Row, texts: Mapping[str, str]) -> tuple[str, Mapping[str, str], str]:
    choices = {letter: row.text(f"answer_{letter.lower()}").strip() for letter in "ABCDE"}
    correct, sources = row.text("correct"), row.values.get("answer_location")
    letter = letter_of(choices, correct)
    if letter is None:
        raise row.error("correct", f"must be the text of one of answer_a to answer_e, found {correct!r:.80}")
    if not isinstance(sources, dict) or not set(sources) <= set(texts):
        names = ", ".join(texts)
        raise row.error("answer_location", f"its keys must be names of texts ({names}), found {sources!r:.80}")
    return row.text("question").strip(), choices, letter


def mix_documents(case: Case, cases: Sequence[Case], own: bool, min_tokens: int, seed: str) -> list[str]:
    """Choose documents of other patients in random order until they make ``min_tokens``, add all of the patient's
    ``own`` ones if true, and shuffle them. A token is four characters. Raises ConfigError when all are too few."""
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
