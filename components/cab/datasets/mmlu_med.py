"""MMLU-Med: the six medical subjects of MMLU, multiple choice with four options.

Source: Hendrycks et al. 2021, ICLR (MIT; ``hendrycks/test``), read in its original files. 1,089 test questions
(anatomy 135, clinical_knowledge 265, college_biology 144, college_medicine 173, medical_genetics 100,
professional_medicine 272); ClinicalAgent Bench calls it mmlu.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.file_dataset import FileDataset, Part
from components.files.rows import Row, csv_records
from components.files.samples import task_sample

Subject = Literal[
    "anatomy", "clinical_knowledge", "college_biology", "college_medicine", "medical_genetics", "professional_medicine"
]  # fmt: skip


@dataclass(frozen=True)
class MmluMed(FileDataset[tuple[int, Row]]):
    """Questions with four lettered options; the target is the right letter.

    ``path`` holds the folder ``data`` with ``{split}/{subject}_{split}.csv``. ``dev`` are the official five
    demonstrations of each subject, ``val`` serves to build memory. Raises ConfigError with file, line and key.
    """

    path: str
    subjects: tuple[Subject, ...] = (
        "anatomy", "clinical_knowledge", "college_biology", "college_medicine", "medical_genetics",
        "professional_medicine",
    )  # fmt: skip
    title = "MMLU"
    split_names = ("test", "val", "dev")
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds mmlu_med/, or unpack the archive linked in the README of "
        "github.com/hendrycks/test and give dataset.path=..."
    )

    def __post_init__(self) -> None:
        if not self.subjects:
            raise ConfigError("dataset.subjects: at least one subject is needed, found none")

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
