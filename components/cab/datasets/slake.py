"""SLAKE 1.0: questions on radiology images with short answers, in English and Chinese.

Source: Liu et al. 2021, ISBI (CC BY 4.0; hub name ``BoKelvin/SLAKE``), read in its original files. 642 images,
14,028 questions; ClinicalAgent Bench takes the 1,061 English test questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.data_paths import inside
from components.files.rows import Row, existing, files_digest
from components.files.tables import json_records
from components.files.task_samples import attached, cab_sample, check_split

_FILES: Mapping[str, str] = {"test": "test.json", "validate": "validate.json", "train": "train.json"}
_HOW = (
    "take Slake1.0 with its folder imgs/ (212 MB) from the authors' project page or the data set BoKelvin/SLAKE and "
    "give dataset.path=... the folder that holds Slake1.0"
)


@dataclass(frozen=True)
class Slake:
    """Questions with an image in one language; the target's answer is a short text.

    ``path`` holds ``Slake1.0`` with ``{split}.json`` and ``imgs``. Raises ConfigError with file, record and key,
    and before the first sample when there are no images.
    """

    path: str
    split: str = "test"
    language: Literal["en", "zh"] = "en"
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there."""
        return tuple(split for split, file in _FILES.items() if (self._folder / file).is_file())

    @cached_property
    def fingerprint(self) -> str:
        """Language and content of the evaluated split and its images."""
        images = sorted({path for _, path in self._rows(self.split)})
        return f"{self.language}-{files_digest(self._file(self.split), *images)}"

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split in the file's order. Raises ConfigError."""
        return (_sample(row, path, split) for row, path in self._rows(split))

    def _rows(self, split: str) -> list[tuple[Row, Path]]:
        """Questions and images of a split."""
        rows = [row for row in json_records(self._file(split)) if row.text("q_lang") == self.language]
        folder = self._folder / "imgs"
        if not folder.is_dir():
            raise ConfigError(f"no images: there is no folder {folder}; {_HOW}")
        return [(row, inside(folder, row, "img_name", row.text("img_name"), _HOW)) for row in rows]

    @property
    def _folder(self) -> Path:
        return Path(self.path) / "Slake1.0"

    def _file(self, split: str) -> Path:
        check_split("SLAKE", split, tuple(_FILES))
        return existing(self._folder / _FILES[split], _HOW)


def _sample(row: Row, image: Path, split: str) -> Sample:
    """A question. Raises ConfigError."""
    name = row.values.get("qid")
    if not isinstance(name, int | str):
        raise row.error("qid", f"must be a number or a text, found {name!r:.80}")
    return cab_sample(
        "slake",
        f"slake-{split}-{name}",
        row.text("question").strip(),
        {"answer": row.text("answer").strip()},
        files=attached([image]),
        strata={
            "modality": row.text("modality"),
            "answer_type": row.text("answer_type").strip().lower(),
            "content": row.text("content_type"),
        },
        cluster=row.text("img_name"),
    )
