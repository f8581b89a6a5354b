"""Multiple choice without a text: MMLU-Med and the yes/no questions of BioASQ."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from annotated_types import MinLen

from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.file_dataset import FileDataset, Part, add_request, task_sample
from components.files.rows import Row, csv_records, json_records

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
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds mmlu_med/, or unpack the archive linked in the README of "
        "github.com/hendrycks/test and give dataset.path=..."
    )

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
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds bioasq/, or register at bioasq.org, unpack the golden files of "
        "tasks 7B to 11B and give dataset.path=..."
    )

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

    def identify(self, digest: str) -> str:
        """Add the form."""
        return f"{self.form}-{digest}"

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
