"""VQA-RAD: questions of clinicians on radiology images of head, chest and abdomen, with short answers.

Source: Lau et al. 2018, Scientific Data 5:180251 (CC0 1.0; OSF project 89kps), read in its original files. 2,248
questions on 315 images; the 451 test questions are those of ClinicalAgent Bench (vqarad).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from components.core.types import Privacy, Sample
from components.files.data_paths import inside
from components.files.rows import Row, existing, files_digest
from components.files.tables import json_records
from components.files.task_samples import attached, cab_sample, check_split

_SPLITS: Mapping[str, Sequence[str]] = {"test": ("test_freeform", "test_para"), "train": ("freeform", "para")}
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds vqa_rad/, or take the JSON file and the image folder of OSF "
    "project 89kps and give dataset.path=..."
)


@dataclass(frozen=True)
class VqaRad:
    """Questions with an image; the target's answer is a short text.

    ``path`` holds ``VQA_RAD Dataset Public.json`` and ``VQA_RAD Image Folder``; the split is the phrase type.
    Raises ConfigError with file, record and key, before the first sample when an image is missing.
    """

    path: str
    split: str = "test"
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The questions held out, and those to learn from."""
        return tuple(_SPLITS)

    @cached_property
    def fingerprint(self) -> str:
        """Content of the questions and of the evaluated split's images."""
        return files_digest(self._file, *sorted({path for _, path in self._rows(self.split)}))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split in the file's order. Raises ConfigError."""
        return (_sample(row, path, split) for row, path in self._rows(split))

    def _rows(self, split: str) -> list[tuple[Row, Path]]:
        """Questions and images of a split."""
        check_split("VQA-RAD", split, tuple(_SPLITS))
        folder = Path(self.path) / "VQA_RAD Image Folder"
        rows = [row for row in json_records(self._file) if row.text("phrase_type").strip() in _SPLITS[split]]
        return [(row, inside(folder, row, "image_name", row.text("image_name"), _HOW)) for row in rows]

    @property
    def _file(self) -> Path:
        return existing(Path(self.path) / "VQA_RAD Dataset Public.json", _HOW)


def _sample(row: Row, image: Path, split: str) -> Sample:
    """A question. Raises ConfigError."""
    answer = row.values.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not str(answer).strip():
        raise row.error("answer", f"must be a text or a number, found {answer!r:.80}")
    name = row.values.get("qid")
    if not isinstance(name, str | int):
        raise row.error("qid", f"must be a number or a text, found {name!r:.80}")
    return cab_sample(
        "vqarad",
        f"vqa_rad-{split}-{name}",
        row.text("question").strip(),
        {"answer": str(answer).strip()},
        files=attached([image]),
        strata={
            "organ": row.text("image_organ").strip().lower(),
            "answer_type": row.text("answer_type").strip().lower(),
        },
        cluster=image.name,
    )
