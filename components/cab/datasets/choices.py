"""Multiple choice: MMLU-Med, the yes/no questions of BioASQ, and what tempts a model to make something up: Med-HALT and
HALT-MedVQA."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from annotated_types import Ge, MinLen

from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.attachments import attach, path_below
from components.files.file_dataset import (
    HOW,
    FileDataset,
    ImageDataset,
    ImageQuestion,
    Part,
    add_request,
    draw_split,
    task_sample,
)
from components.files.rows import Row, content_key, csv_records, json_object, json_records
from components.text.answers import letter_of, letter_options

Subject = Literal[
    "anatomy", "clinical_knowledge", "college_biology", "college_medicine", "medical_genetics", "professional_medicine"
]  # fmt: skip


@dataclass(frozen=True)
class MmluMed(FileDataset[tuple[int, Row]]):
    """MMLU-Med: the six medical subjects of MMLU, with four lettered options; the target is the right letter.

    Source: Hendrycks et al. 2021, ICLR (MIT; ``hendrycks/test``), read in its original files. 1,089 test questions
    (anatomy 135, clinical_knowledge 265, college_biology 144, college_medicine 173, medical_genetics 100,
    professional_medicine 272); ClinicalAgent Bench calls it mmlu.
    ``path`` holds the folder ``data`` with ``{split}/{subject}_{split}.csv``. ``dev`` are the official five
    demonstrations of each subject, ``val`` serves to build memory. Raises ConfigError with file, line and key.
    """

    path: str
    subjects: Annotated[tuple[Subject, ...], MinLen(1)] = get_args(Subject)
    title = "MMLU"
    split_names = ("test", "val", "dev")
    how = HOW.format("mmlu_med", "unpack the archive linked in the README of github.com/hendrycks/test", "...")

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per subject."""
        return {name: Path(self.path) / "data" / split / f"{name}_{split}.csv" for name in self.subjects}

    def read(self, part: Part) -> Iterable[tuple[int, Row]]:
        """Read numbered rows of a file without a header."""
        return enumerate(csv_records(part.file, ("question", "A", "B", "C", "D", "answer")), 1)

    def sample(self, item: tuple[int, Row], part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        number, row = item
        choices = {key: row.text(key) for key in "ABCD"}
        name, letter = f"mmlu-{part.split}-{part.name}-{number}", row.one_of("answer", choices)
        question, strata = row.text("question").strip(), {"subject": part.name}
        return task_sample("mmlu", "knowledge", name, question, letter, choices=choices, strata=strata)


_DECISIONS = ("yes", "no")
_BATCH = re.compile(r"(\d+)B(\d+)_golden\.json")


@dataclass(frozen=True)
class BioAsq(FileDataset[Row]):
    """BioASQ task B, yes/no questions: written by biomedical experts, here without documents and snippets.

    Source: Tsatsaronis et al. 2015, BMC Bioinformatics 16:138; Krithara et al. 2023, Scientific Data 10:170 (CC BY
    2.5), read in the golden files of the challenges. ClinicalAgent Bench takes the 618 yes/no questions of tasks 7B
    to 11B, with the options A yes, B no as in MIRAGE (Xiong et al. 2024, arXiv 2402.13178).
    ``path`` holds the folders ``Task{n}BGoldenEnriched``. ``form``: ``choice`` (A yes, B no; the target is a
    letter) or ``decision`` (``ask`` is added to the question; the target is yes or no). The split train is every
    task before 7B that is there (the slice has none). Raises ConfigError with file, record and key.
    """

    path: str
    form: Literal["choice", "decision"] = "choice"
    ask: str = "Answer with yes or no."
    title = "BioASQ"
    settings = "{0.form}"
    how = HOW.format("bioasq", "register at bioasq.org, unpack the golden files of tasks 7B to 11B", "...")

    @property
    def split_names(self) -> Sequence[str]:
        """Test, and train where there are files of earlier tasks."""
        return tuple(split for split in ("test", "train") if self.paths(split))

    def paths(self, split: str) -> Mapping[str, Path]:
        """The files of a split by task and batch."""
        batches = [(match, file) for file in Path(self.path).glob("*/*.json") if (match := _BATCH.fullmatch(file.name))]
        numbered = sorted((int(match[1]), int(match[2]), file) for match, file in batches)
        return {f"{task}B{n}": file for task, n, file in numbered if (task >= 7) == (split == "test")}

    def locate(self, split: str) -> list[Part]:
        """Return the files of a split. Raises ConfigError."""
        if not self.paths("test"):
            raise ConfigError(f"no data file {self.path}/Task*BGoldenEnriched/*_golden.json; {self.how}")
        return super().locate(split)

    def read(self, part: Part) -> Iterable[Row]:
        """Read the yes/no questions of a batch."""
        return (row for row in json_records(part.file, "questions") if row.text("type") == "yesno")

    def sample(self, item: Row, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        answer = item.text("exact_answer").strip().lower()
        if answer not in _DECISIONS:
            raise item.error("exact_answer", f"must be yes or no, found {answer!r}")
        name, question = f"bioasq-{item.text('id')}", item.text("body").strip()
        strata = {"year": f"task {part.name.partition('B')[0]}B"}
        if self.form == "choice":
            letters = dict(zip(_DECISIONS, "AB", strict=True))
            choices = {letter: decision for decision, letter in letters.items()}
            return task_sample("bioasq", "knowledge", name, question, letters[answer], choices=choices, strata=strata)
        question, facts = add_request(question, self.ask), {"decisions": _DECISIONS}
        return task_sample("bioasq", "knowledge", name, question, answer, metadata=facts, strata=strata)


Test = Literal["fake", "fct", "nota"]
_Part = Literal["fake", "nota", "swap"]
_TEST_FILES = {"fake": "reasoning_fake.csv", "fct": "reasoning_FCT.csv", "nota": "reasoning_nota.csv"}
_UNKNOWN = re.compile(r"\bdo not know\b", re.IGNORECASE)
# What the published scorer takes for an admission where no option has it.
_ACCEPTED = ("do not know", "don't know", "none of the above", "fiction", "irrelevant")


@dataclass(frozen=True)
class MedHalt(FileDataset[Row]):
    """Med-HALT, reasoning tests, with lettered options; the target is the right letter, or ``{"accepted": [...]}``.

    Source: Umapathi et al. 2023, CoNLL, arXiv 2307.15343 (Apache-2.0 by its data card; ``medhalt/medhalt``), read in
    its original CSV. Made-up questions 1,858, false confidence 18,866; ClinicalAgent Bench (medhalt_rht) has 900.
    ``tests``: ``fake`` (nonsense; right is the option that one does not know, and where there is none any such
    words are accepted), ``fct`` (a proposed answer that may be wrong; right is the correct option), ``nota`` (right
    is "none of the above"). ``per_test`` chooses so many of each, with ``seed``; ``train`` is chosen from the rest.
    ``path`` holds ``medhalt/datasets``. Raises ConfigError with file, line and key.
    """

    path: str
    tests: Annotated[tuple[Test, ...], MinLen(1)] = ("fake",)
    per_test: Annotated[int, Ge(1)] | None = None
    seed: int = 0
    title = "Med-HALT"
    how = HOW.format("medhalt", "take medhalt/datasets/ from github.com/medhalt/medhalt", "...; the slice has")
    how += " dataset.tests=[fake] only"

    @property
    def split_names(self) -> Sequence[str]:
        """The split test, and one with the rest of the data if ``per_test`` is set."""
        return ("test",) if self.per_test is None else ("test", "train")

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per test."""
        return {test: Path(self.path) / "medhalt" / "datasets" / _TEST_FILES[test] for test in self.tests}

    def identify(self, digest: str) -> str:
        """Add the tests and the choice of their records."""
        return content_key(*self.tests, f"{self.per_test}/{self.seed}", digest)

    def read(self, part: Part) -> Iterable[Row]:
        """Read the chosen questions of a test."""
        return draw_split(list(csv_records(part.file)), self.per_test, f"{self.seed}/{part.name}", part.split)

    def sample(self, item: Row, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        choices = letter_options(_options(item))
        question = item.text("question").strip()
        if part.name == "fct":
            question += f"\nProposed answer, which may be wrong: {item.text('student_answer').strip()}"
        target: str | dict[str, Any] = {"accepted": list(_ACCEPTED)}
        if part.name != "fake":
            text, index = item.text("correct_answer"), item.text("correct_index").strip()
            named = list(choices)[int(index)] if index.isdecimal() and int(index) < len(choices) else None
            if named is None or letter_of({named: choices[named]}, text) is None:
                place = f"{text!r:.60} (option {letter_of(choices, text)})"
                raise item.error("correct_index", f"must be the number of the option {place}, found {index!r}")
            target = named
        elif admitting := [letter for letter, option in choices.items() if _UNKNOWN.search(option)]:
            target = min(reversed(admitting), key=lambda letter: len(choices[letter]))  # of those as short the last one
        name, strata = f"medhalt-{part.name}-{item.text('id')}", {"test": part.name, "source": item.text("dataset")}
        return task_sample("medhalt_rht", "trust", name, question, target, choices=choices, strata=strata)


def _options(row: Row) -> list[str]:
    """The options, written as a Python dict with the keys "0", "1", ... Raises ConfigError."""
    text = row.text("options")
    try:
        options: Any = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        options = None
    if not isinstance(options, dict) or list(options) != [str(n) for n in range(len(options))]:
        raise row.error("options", f"must be a dict with the keys '0', '1', ..., found {text!r:.80}")
    texts = list(options.values())
    if not 2 <= len(texts) <= 26 or not all(isinstance(option, str) and option.strip() for option in texts):
        raise row.error("options", f"must be 2 to 26 texts, found {text!r:.80}")
    return [option.strip() for option in texts]


_PART_FILES = {"fake": "fake_qa_shuffle.json", "nota": "pmc_vqa_nota1K.json", "swap": "swap_img_shuffle.json"}
_HOW_IMAGES = (
    "get the images of VQA-RAD, PathVQA or PMC-VQA and name their folder in dataset.images, "
    "such as dataset.images.fake=..."
)


@dataclass(frozen=True)
class HaltMedVqa(ImageDataset):
    """HALT-MedVQA: questions with an image and lettered options; the target is the right letter.

    Source: Wu, Kim, Wu 2024, arXiv 2401.05827 (``knowlab/halt-medvqa``, which states no licence, so nothing of it is
    shipped). Made-up questions 543, swapped images 818, none of the above 1,000; images of VQA-RAD, PathVQA and
    PMC-VQA. ClinicalAgent Bench (medvqa_halt) has 900; how many of each is not published, here 300.
    ``path`` holds ``data``; ``images`` names the folder of images of each part. ``per_part`` chooses so many of each,
    with ``seed``; ``train`` is chosen from the rest. Raises ConfigError with file, line or record, and key.
    """

    path: str
    images: Mapping[str, str] = field(default_factory=dict)
    parts: Annotated[tuple[_Part, ...], MinLen(1)] = ("fake", "nota", "swap")
    per_part: Annotated[int, Ge(1)] | None = 300
    seed: int = 0
    title = "HALT-MedVQA"
    how = "take data/*.json from github.com/knowlab/halt-medvqa and give dataset.path=... the folder that holds data"

    @property
    def split_names(self) -> Sequence[str]:
        """The split test, and one with the rest of the data if ``per_part`` is set."""
        return ("test",) if self.per_part is None else ("test", "train")

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per part."""
        return {part: Path(self.path) / "data" / _PART_FILES[part] for part in self.parts}

    def identify(self, digest: str) -> str:
        """Add the parts and the choice of their records."""
        return content_key(*self.parts, f"{self.per_part}/{self.seed}", digest)

    def read(self, part: Part) -> Iterable[ImageQuestion]:
        """Read the chosen questions of a part. Raises ConfigError."""
        nota = part.name == "nota"
        rows = [(str(n), row) for n, row in enumerate(json_records(part.file))] if nota else [*json_object(part.file)]
        folder = self.images.get(part.name)
        if folder is None or not Path(folder).is_dir():
            raise ConfigError(f"dataset.images.{part.name}: no folder of images, found {folder!r}; {_HOW_IMAGES}")
        return [
            ImageQuestion(name, row, path_below(Path(folder), row, "img", row.text("img"), _HOW_IMAGES))
            for name, row in draw_split(rows, self.per_part, f"{self.seed}/{part.name}", part.split)
        ]

    def sample(self, item: ImageQuestion, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        row = item.row
        if part.name == "nota":
            texts = {letter: row.text(f"choice_{letter}").strip() for letter in "ABCD"}
            choices = {letter: text.removeprefix(f"{letter}:").strip() for letter, text in texts.items()}
            letter = row.text("answer").strip()
        else:
            choices = {key: text.strip() for key, text in row.named_texts("option").items()}
            letter = row.text("answer_id").strip()
            if letter in choices and letter_of({letter: choices[letter]}, row.text("answer")) is None:
                raise row.error("answer", f"{row.text('answer')!r:.60} is not option {letter}: {choices[letter]!r:.60}")
        if letter not in choices:
            raise row.error("answer", f"the right letter must be one of {', '.join(choices)}, found {letter!r}")
        name, question = f"halt_medvqa-{part.name}-{item.name}", row.text("question").strip()
        files, strata, image = attach([item.image]), {"part": part.name}, f"{part.name}/{row.text('img')}"
        return task_sample(
            "medvqa_halt", "trust", name, question, letter, choices=choices, files=files, strata=strata, cluster=image
        )
