"""MedQA (US): multiple-choice questions of the medical licensing examinations, in two editions.

Source: Jin et al. 2021, Applied Sciences, arXiv 2009.13081 (MIT; ``jind11/MedQA``), read in its original
layout. Test set of 1,273 questions; the 4-option and the 5-option edition hold the same questions with
other letters, so the edition is part of the fingerprint.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.files.file_dataset import FileDataset, Part
from components.files.rows import Row, json_lines
from components.files.samples import explanation, row_letter, row_options

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


@dataclass(frozen=True)
class MedQA(FileDataset[tuple[int, Row]]):
    """Questions with 4 or 5 lettered options; the target is the right letter.

    ``path`` holds the folder ``US``. ``pool`` are test items set apart for demonstrations in the small
    slice; ``train5`` (5 options) the five training questions of MedAgents' prompt. Sample ids are row
    numbers. ``metadata["explanation"]`` is the row's ``evidence_only``, where there is one, for
    demonstrations. Raises ConfigError with file, line and key.
    """

    path: str
    options: int = 4
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds medqa/, or unpack the archive linked in the README of "
        "github.com/jind11/MedQA and give dataset.path=.../data_clean/questions"
    )

    def __post_init__(self) -> None:
        if self.options not in _FILES:
            raise ConfigError(f"dataset.options: there are editions with 4 and with 5 options, found {self.options!r}")

    @property
    def title(self) -> str:
        """Name and edition."""
        return f"MedQA with {self.options} options"

    @property
    def split_names(self) -> Sequence[str]:
        """The splits of the edition."""
        return tuple(_FILES[self.options])

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        return {"medqa": Path(self.path) / _FILES[self.options][split]}

    def read(self, part: Part) -> Iterable[tuple[int, Row]]:
        """Read numbered rows."""
        return enumerate(json_lines(part.file), 1)

    def identify(self, digest: str) -> str:
        """Add the edition."""
        return f"{self.options}-options-{digest}"

    def sample(self, item: tuple[int, Row], part: Part) -> Sample:
        """Make a question. Raises ConfigError when the row is not one of this edition."""
        number, row = item
        choices = row_options(row, least=self.options, most=self.options)
        letter = row_letter(row, "answer_idx", choices)
        step = {"step": row.text("meta_info")} if "meta_info" in row.values else {}
        facts = {"task": "medqa", "answer": choices[letter], "options": self.options}
        return Sample(
            Problem(f"medqa-{part.split}-{number}", row.text("question"), choices),
            target=letter,
            metadata={**facts, **explanation(row, "evidence_only")},
            strata={"task": "medqa", "dimension": "knowledge", **step},
        )
