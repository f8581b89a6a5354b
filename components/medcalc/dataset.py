"""MedCalc-Bench: a patient note and a question that needs one of 55 medical calculators.

Source: Khandekar et al. 2024, NeurIPS Datasets and Benchmarks, arXiv 2406.12036 (CC BY-SA 4.0;
``ncbi-nlp/MedCalc-Bench``), read in its original CSV. 1,047 test rows, those that ClinicalAgent Bench takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path

from components.core.types import Privacy, Sample
from components.files.rows import Row, existing, files_digest
from components.files.tables import csv_records
from components.files.task_samples import cab_sample, check_split

_FILES: Mapping[str, str] = {
    "test": "dataset/test_data.csv",
    "train": "dataset/train_data.csv",
    "one_shot": "verified/datasets/one_shot_data.csv",
}
_TYPES = ("decimal", "integer", "date")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds medcalc_bench/, or take dataset/test_data.csv (and unpack "
    "train_data.csv.zip) from github.com/ncbi-nlp/MedCalc-Bench and give dataset.path=..."
)


@dataclass(frozen=True)
class MedCalcBench:
    """Questions on a note, which is the context; the target holds the answer, its type and its limits as texts.

    ``one_shot`` has one row per calculator, from the corrected release, and serves to build memory. Raises
    ConfigError with file, line and key.
    """

    path: str
    split: str = "test"
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there."""
        return tuple(split for split, file in _FILES.items() if (Path(self.path) / file).is_file())

    @cached_property
    def fingerprint(self) -> str:
        """Content of the evaluated split."""
        return files_digest(self._file(self.split))

    def load(self, split: str) -> Iterator[Sample]:
        """The rows of a split in the file's order. Raises ConfigError."""
        return (_sample(row, split) for row in csv_records(self._file(split)))

    def _file(self, split: str) -> Path:
        check_split("MedCalc-Bench", split, tuple(_FILES))
        return existing(Path(self.path) / _FILES[split], _HOW)


def _sample(row: Row, split: str) -> Sample:
    """A question. Raises ConfigError."""
    kind, note = row.text("Output Type"), row.text("Note ID")
    if kind not in _TYPES:
        raise row.error("Output Type", f"must be one of {', '.join(_TYPES)}, found {kind!r}")
    target = {
        "answer": row.text("Ground Truth Answer"),
        "Output Type": kind,
        "Low Limit": row.text("Lower Limit"),
        "Upper Limit": row.text("Upper Limit"),
    }
    if kind == "decimal":
        for key in ("Lower Limit", "Ground Truth Answer", "Upper Limit"):
            _check_number(row, key)
    return cab_sample(
        "medcalc",
        f"medcalc-{split}-{row.text('Row Number')}",
        row.text("Question").strip(),
        target,
        context=row.text("Patient Note"),
        metadata={"calculator_id": row.text("Calculator ID"), "calculator": row.text("Calculator Name")},
        strata={"category": row.text("Category"), "output_type": kind, "note_type": row.text("Note Type")},
        cluster=note,
    )


def _check_number(row: Row, key: str) -> None:
    """Raise ConfigError when a cell does not hold a finite number."""
    text = row.text(key)
    try:
        finite = isfinite(float(text))
    except ValueError:
        finite = False
    if not finite:
        raise row.error(key, f"must be a number, found {text!r}")
