"""SLAKE 1.0: questions on radiology images with short answers, in English and Chinese.

Source: Liu et al. 2021, ISBI (CC BY 4.0; hub name ``BoKelvin/SLAKE``), read in its original files. 642 images,
14,028 questions; ClinicalAgent Bench takes the 1,061 English test questions.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.attachments import attach, path_below
from components.files.file_dataset import ImageDataset, ImageQuestion, Part
from components.files.rows import json_records
from components.files.samples import task_sample


@dataclass(frozen=True)
class Slake(ImageDataset):
    """Questions with an image in one language; the target's answer is a short text.

    ``path`` holds ``Slake1.0`` with ``{split}.json`` and ``imgs``. Raises ConfigError with file, record and key,
    and before the first sample when there are no images.
    """

    path: str
    language: Literal["en", "zh"] = "en"
    title = "SLAKE"
    split_names = ("test", "validate", "train")
    how = (
        "take Slake1.0 with its folder imgs/ (212 MB) from the authors' project page or the data set BoKelvin/SLAKE "
        "and give dataset.path=... the folder that holds Slake1.0"
    )

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        return {"slake": Path(self.path) / "Slake1.0" / f"{split}.json"}

    def identify(self, digest: str) -> str:
        """Add the language."""
        return f"{self.language}-{digest}"

    def read(self, part: Part) -> Iterable[ImageQuestion]:
        """Read the questions in the language. Raises ConfigError."""
        folder = part.file.parent / "imgs"
        if not folder.is_dir():
            raise ConfigError(f"no images: there is no folder {folder}; {self.how}")
        rows = [row for row in json_records(part.file) if row.text("q_lang") == self.language]
        return [
            ImageQuestion(
                str(row.identifier("qid")), row, path_below(folder, row, "img_name", row.text("img_name"), self.how)
            )
            for row in rows
        ]

    def sample(self, item: ImageQuestion, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        row = item.row
        return task_sample(
            "slake",
            "multimodal",
            f"slake-{part.split}-{item.name}",
            row.text("question").strip(),
            {"answer": row.text("answer").strip()},
            files=attach([item.image]),
            strata={
                "modality": row.text("modality"),
                "answer_type": row.text("answer_type").strip().lower(),
                "content": row.text("content_type"),
            },
            cluster=row.text("img_name"),
        )
