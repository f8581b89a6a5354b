"""MedQA (US): multiple-choice questions of the medical licensing examinations, in two editions.

Source: Jin et al. 2021, Applied Sciences, arXiv 2009.13081 (MIT; ``jind11/MedQA``), read in its original
layout. Test set of 1,273 questions; the 4-option and the 5-option edition hold the same questions with
other letters, so the edition is part of the fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.choice_rows import explanation_of, row_letter, row_options
from components.files.rows import Row, existing, files_digest, json_lines

_FILES: Mapping[int, Mapping[str, str]] = {
    4: {
        "test": "US/4_options/phrases_no_exclude_test.jsonl",
        "train": "US/4_options/phrases_no_exclude_train.jsonl",
        "dev": "US/4_options/phrases_no_exclude_dev.jsonl",
        "pool": "US/4_options/fewshot_pool_from_test.jsonl",
    },
    5: {
        "test": "US/test.jsonl",
        "train": "US/train.jsonl",
        "dev": "US/dev.jsonl",
        "pool": "US/fewshot_pool_from_test.jsonl",
        "train5": "US/fewshot_train5.jsonl",
    },
}
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds medqa/, or unpack the archive linked in the README of "
    "github.com/jind11/MedQA and give dataset.path=.../data_clean/questions"
)


@dataclass(frozen=True)
class MedQA:
    """Questions with 4 or 5 lettered options; the target is the right letter.

    ``path`` holds the folder ``US``. ``pool`` are test items set apart for demonstrations in the small
    slice; ``train5`` (5 options) the five training questions of MedAgents' prompt. Sample ids are row
    numbers. ``metadata["explanation"]`` is the row's ``evidence_only``, where there is one, for
    demonstrations. Raises ConfigError with file, line and key.
    """

    path: str
    split: str = "test"
    options: int = 4
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if self.options not in _FILES:
            raise ConfigError(f"dataset.options: there are editions with 4 and with 5 options, found {self.options!r}")

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there."""
        return tuple(split for split, file in _FILES[self.options].items() if (Path(self.path) / file).is_file())

    @cached_property
    def fingerprint(self) -> str:
        """Edition and content of the evaluated split."""
        return f"{self.options}-options-{files_digest(self._file(self.split))}"

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split in the file's order. Raises ConfigError."""
        file = self._file(split)
        return (self._sample(row, f"medqa-{split}-{n}") for n, row in enumerate(json_lines(file), 1))

    def _file(self, split: str) -> Path:
        """The file of a split. Raises ConfigError when there is no such split or file."""
        files = _FILES[self.options]
        if split not in files:
            raise ConfigError(
                f"dataset.split: MedQA with {self.options} options has {', '.join(files)}; found {split!r}"
            )
        return existing(Path(self.path) / files[split], _HOW)

    def _sample(self, row: Row, name: str) -> Sample:
        """A question. Raises ConfigError when the row is not one of this edition."""
        choices = row_options(row, least=self.options, most=self.options)
        letter = row_letter(row, "answer_idx", choices)
        step = {"step": row.text("meta_info")} if "meta_info" in row.values else {}
        return Sample(
            Problem(name, row.text("question"), choices),
            target=letter,
            metadata={
                "task": "medqa",
                "answer": choices[letter],
                "options": self.options,
                **explanation_of(row, "evidence_only"),
            },
            strata={"task": "medqa", "dimension": "knowledge", **step},
        )
