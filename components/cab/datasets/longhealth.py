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
from components.files.attachments import Attached, attach
from components.files.file_dataset import FileDataset, Part
from components.files.folders import content_key, keep_documents
from components.files.rows import Row, json_object
from components.files.samples import draw, task_sample
from components.text.answers import letter_of

CANNOT = "Question cannot be answered with provided documents"
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
    """A patient: ``about`` is name and birthday, ``texts`` are the documents by their names."""

    id: str
    about: str
    texts: Mapping[str, str]
    questions: Sequence[CaseQuestion]


class Asked(NamedTuple):
    """A question on a patient, with the folder of documents that all questions on the patient share."""

    case: Case
    question: CaseQuestion
    files: Attached
    n_documents: int


@dataclass(frozen=True)
class LongHealth(FileDataset[Asked]):
    """Questions with lettered options and a folder of documents.

    ``path`` holds ``data/benchmark_v5.json``. The folder has documents of other patients, chosen with ``seed``, until
    they make ``min_tokens``; it is written below ``cache``, named by its content. Raises ConfigError with file, line
    and key.
    """

    path: str
    min_tokens: Annotated[int, Ge(0)] = 22_000
    seed: int = 0
    cache: str = "outputs/.cache/longhealthqa"
    task: ClassVar[str]
    own_documents: ClassVar[bool] = False
    how = (
        "take data/benchmark_v5.json from github.com/kbressem/LongHealth and give dataset.path=... "
        "the repository's folder"
    )

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file for all splits."""
        return {self.task: Path(self.path) / "data" / "benchmark_v5.json"}

    def identify(self, digest: str) -> str:
        """Add how documents are mixed."""
        return content_key(f"{self.min_tokens}/{self.seed}", digest)

    def chosen(self, cases: Sequence[Case], split: str) -> Sequence[Case]:
        """Choose the patients of a split: all."""
        return cases

    def read(self, part: Part) -> Iterable[Asked]:
        """Mix the documents of each chosen patient and pair them with the questions. Raises ConfigError."""
        cases = read_cases(part.file)
        for case in self.chosen(cases, part.split):
            texts = mix_documents(case, cases, self.own_documents, self.min_tokens, f"{self.seed}/{part.name}")
            folder = keep_documents(Path(self.cache), {f"document_{n:02}.txt": text for n, text in enumerate(texts, 1)})
            files = attach(documents=folder, folder=case.id)
            yield from (Asked(case, question, files, len(texts)) for question in case.questions)

    def answerable(self, question: CaseQuestion) -> tuple[Mapping[str, str], str, Mapping[str, str]]:
        """Options, right letter and further metadata of a question."""
        return question.choices, question.letter, {}

    def sample(self, item: Asked, part: Part) -> Sample:
        """Make a question."""
        choices, letter, metadata = self.answerable(item.question)
        return task_sample(
            self.task,
            TASKS[self.task].dimension,
            f"{self.task}-{item.case.id}-{item.question.number}",
            item.question.text,
            letter,
            choices=choices,
            context=item.case.about,
            files=item.files,
            metadata={"documents": item.n_documents, **metadata},
            cluster=item.case.id,
        )


@dataclass(frozen=True)
class LongHealthQa(LongHealth):
    """Questions with options A to E; the target is the right letter.

    The folder also has all documents of the patient. Which half of the patients is ``test`` is chosen with ``seed``
    too, so the splits share none.
    """

    own_documents: ClassVar[bool] = True
    title = "LongHealthQA"
    task = "longhealthqa"
    split_names = ("test", "train")

    def chosen(self, cases: Sequence[Case], split: str) -> Sequence[Case]:
        """Choose half of the patients."""
        test = {case.id for case in draw(cases, (len(cases) + 1) // 2, f"{self.seed}/test")}
        return [case for case in cases if (case.id in test) == (split == "test")]


@dataclass(frozen=True)
class LongHalt(LongHealth):
    """Questions with options A to F on a patient of whom the documents hold nothing; the target is F."""

    min_tokens: Annotated[int, Ge(1)] = 22_000
    cache: str = "outputs/.cache/longhalt"
    title = "LongHalt"
    task = "longhalt"
    split_names = ("test",)

    def answerable(self, question: CaseQuestion) -> tuple[Mapping[str, str], str, Mapping[str, str]]:
        """Add the option that is right here."""
        return {**question.choices, "F": CANNOT}, "F", {"unanswerable": question.letter}


def read_cases(file: Path) -> list[Case]:
    """Read all patients in the file's order. Raises ConfigError with file, line and key."""
    cases = [_case(name, row) for name, row in json_object(file)]
    if len(cases) < 2:
        raise ConfigError(f"{file}: at least two patients are needed to mix their documents, found {len(cases)}")
    return cases


def _case(name: str, row: Row) -> Case:
    texts = row.named_texts("texts")
    if not texts:
        raise row.error("texts", "must not be empty")
    about = f"Patient: {row.text('name').strip()}, born {row.text('birthday').strip()}"
    rows = Row(f"{row.place}: {name}", row.values).rows("questions")
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


def mix_documents(case: Case, cases: Sequence[Case], own: bool, min_tokens: int, seed: str) -> list[str]:
    """Choose documents of other patients in random order until they make ``min_tokens``, add all of the patient's
    ``own`` ones if true, and shuffle them.

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
