"""VQA-RAD: questions of clinicians on radiology images of head, chest and abdomen, with short answers.

Source: Lau et al. 2018, Scientific Data 5:180251 (CC0 1.0; OSF project 89kps), read in its original files. 2,248
questions on 315 images; the 451 test questions are those of ClinicalAgent Bench (vqarad).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from components.core.types import Sample
from components.files.attachments import attach, path_below
from components.files.file_dataset import ImageDataset, ImageQuestion, Part
from components.files.rows import json_records
from components.files.samples import task_sample

_PHRASE_TYPES = {"test": ("test_freeform", "test_para"), "train": ("freeform", "para")}


@dataclass(frozen=True)
class VqaRad(ImageDataset):
    """Questions with an image; the target's answer is a short text.

    ``path`` holds ``VQA_RAD Dataset Public.json`` and ``VQA_RAD Image Folder``; the split is the phrase type.
    Raises ConfigError with file, record and key, before the first sample when an image is missing.
    """

    path: str
    title = "VQA-RAD"
    split_names = tuple(_PHRASE_TYPES)
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds vqa_rad/, or take the JSON file and the image folder of OSF "
        "project 89kps and give dataset.path=..."
    )

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file for both splits."""
        return {"vqa_rad": Path(self.path) / "VQA_RAD Dataset Public.json"}

    def read(self, part: Part) -> Iterable[ImageQuestion]:
        """Read the questions of a split. Raises ConfigError."""
        folder, types = part.file.parent / "VQA_RAD Image Folder", _PHRASE_TYPES[part.split]
        rows = [row for row in json_records(part.file) if row.text("phrase_type").strip() in types]
        return [
            ImageQuestion(
                str(row.identifier("qid")), row, path_below(folder, row, "image_name", row.text("image_name"), self.how)
            )
            for row in rows
        ]

    def sample(self, item: ImageQuestion, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        row, answer = item.row, item.row.values.get("answer")
        if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not str(answer).strip():
            raise row.error("answer", f"must be a text or a number, found {answer!r:.80}")
        return task_sample(
            "vqarad",
            "multimodal",
            f"vqa_rad-{part.split}-{item.name}",
            row.text("question").strip(),
            {"answer": str(answer).strip()},
            files=attach([item.image]),
            strata={
                "organ": row.text("image_organ").strip().lower(),
                "answer_type": row.text("answer_type").strip().lower(),
            },
            cluster=item.image.name,
        )
