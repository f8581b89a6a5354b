"""MMLU-Med: the six medical subjects of MMLU, multiple choice with four options.

Source: Hendrycks et al. 2021, ICLR (MIT; ``hendrycks/test``), read in its original files. 1,089 test questions
(anatomy 135, clinical_knowledge 265, college_biology 144, college_medicine 173, medical_genetics 100,
professional_medicine 272); ClinicalAgent Bench calls it mmlu.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.rows import Row, existing, files_digest
from components.files.tables import csv_records
from components.files.task_samples import cab_sample, check_split

Subject = Literal[
    "anatomy", "clinical_knowledge", "college_biology", "college_medicine", "medical_genetics", "professional_medicine"
]  # fmt: skip
_COLUMNS = ("question", "A", "B", "C", "D", "answer")
_SPLITS = ("test", "val", "dev")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds mmlu_med/, or unpack the archive linked in the README of "
    "github.com/hendrycks/test and give dataset.path=..."
)


@dataclass(frozen=True)
class MmluMed:
    """Questions with four lettered options; the target is the right letter.

    ``path`` holds the folder ``data`` with ``{split}/{subject}_{split}.csv``. ``dev`` are the official five
    demonstrations of each subject, ``val`` serves to build memory. Raises ConfigError with file, line and key.
    """

    path: str
    split: str = "test"
    subjects: tuple[Subject, ...] = (
        "anatomy", "clinical_knowledge", "college_biology", "college_medicine", "medical_genetics",
        "professional_medicine",
    )  # fmt: skip
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if not self.subjects:
            raise ConfigError("dataset.subjects: at least one subject is needed, found none")

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose folders are there."""
        return tuple(split for split in _SPLITS if (Path(self.path) / "data" / split).is_dir())

    @cached_property
    def fingerprint(self) -> str:
        """Content of the evaluated split's files."""
        return files_digest(*self._files(self.split).values())

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, subject by subject. Raises ConfigError."""
        return (
            _sample(row, subject, f"mmlu-{split}-{subject}-{number}")
            for subject, file in self._files(split).items()
            for number, row in enumerate(csv_records(file, _COLUMNS), 1)
        )

    def _files(self, split: str) -> Mapping[str, Path]:
        check_split("MMLU", split, _SPLITS)
        folder = Path(self.path) / "data" / split
        return {subject: existing(folder / f"{subject}_{split}.csv", _HOW) for subject in self.subjects}


def _sample(row: Row, subject: str, name: str) -> Sample:
    """A question. Raises ConfigError."""
    choices, letter = {key: row.text(key) for key in "ABCD"}, row.text("answer").strip()
    if letter not in choices:
        raise row.error("answer", f"must be one of A, B, C, D, found {letter!r}")
    question = row.text("question").strip()
    return cab_sample("mmlu", name, question, letter, choices=choices, strata={"subject": subject})
