"""MedCalc-Bench: a patient note and a question that needs one of 55 medical calculators.

Source: Khandekar et al. 2024, NeurIPS Datasets and Benchmarks, arXiv 2406.12036 (CC BY-SA 4.0;
``ncbi-nlp/MedCalc-Bench``), read in its original CSV. 1,047 test rows, those that ClinicalAgent Bench takes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

from components.core.types import Sample
from components.files.file_dataset import HOW, OneFile, Part, task_sample
from components.files.rows import Row, csv_records

_FILES = {
    "test": "dataset/test_data.csv",
    "train": "dataset/train_data.csv",
    "one_shot": "verified/datasets/one_shot_data.csv",
}
_VALUES = ("Lower Limit", "Ground Truth Answer", "Upper Limit")


@dataclass(frozen=True)
class MedCalcBench(OneFile[Row]):
    """Questions on a note, which is the context; the target holds the answer, its type and its limits as texts.
    ``one_shot`` has one row per calculator, from the corrected release, and serves to build memory."""

    title = "MedCalc-Bench"
    part = "medcalc"
    file = _FILES
    split_names = tuple(_FILES)
    how = HOW.format(
        "medcalc_bench",
        "take dataset/test_data.csv (and unpack train_data.csv.zip) from github.com/ncbi-nlp/MedCalc-Bench",
        "...",
    )

    def read(self, part: Part) -> Iterable[Row]:
        """Read CSV."""
        return csv_records(part.file)

    def sample(self, item: Row, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        kind = item.one_of("Output Type", ("decimal", "integer", "date"))
        low, answer, high = map(item.text, _VALUES)
        for key, value in zip(_VALUES, (low, answer, high), strict=True) if kind == "decimal" else ():
            try:
                finite = isfinite(float(value))
            except ValueError:
                finite = False
            if not finite:
                raise item.error(key, f"must be a number, found {value!r}")
        target = {"answer": answer, "Output Type": kind, "Low Limit": low, "Upper Limit": high}
        name, question = f"medcalc-{part.split}-{item.text('Row Number')}", item.text("Question").strip()
        facts = {"calculator_id": item.text("Calculator ID"), "calculator": item.text("Calculator Name")}
        strata = {"category": item.text("Category"), "output_type": kind, "note_type": item.text("Note Type")}
        text, note = item.text("Patient Note"), item.text("Note ID")
        return task_sample(
            "medcalc", "numerical", name, question, target, context=text, metadata=facts, strata=strata, cluster=note
        )
