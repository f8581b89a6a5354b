"""OmniMedVQA, open part: multiple choice on images of many modalities, from 73 classification data sets.

Source: Hu et al. 2024, CVPR (hub name ``foreverbeliever/OmniMedVQA``; every source has its own licence). 88,996
open questions with two to four options; ClinicalAgent Bench (omnimedqa) takes 1,000 with the proportions kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.data_paths import inside
from components.files.kept_files import content_key
from components.files.rows import Row, files_digest
from components.files.seeded_draw import drawn_in_proportion
from components.files.tables import json_records
from components.files.task_samples import attached, cab_sample, check_split
from components.text.answers import letter_of, lettered

_QUESTIONS = "QA_information/Open-access"
_HOW = (
    "take the open-access part of the data set foreverbeliever/OmniMedVQA from its hub and give "
    "dataset.path=... the folder that holds OmniMedVQA"
)


@dataclass(frozen=True)
class OmniMedVqa:
    """Questions with an image and lettered options; the target is the right letter.

    ``path`` holds ``OmniMedVQA`` with ``QA_information/Open-access/{source}.json`` and ``Images``. ``images`` is
    the number of questions in the test split, drawn with ``seed``, each source its share (null: all); ``train`` is
    as many again of the others. Raises ConfigError with file, record and key, before the first sample when an
    image is missing.
    """

    path: str
    split: str = "test"
    images: Annotated[int, Ge(1)] | None = 1000
    seed: int = 0
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The drawn questions, and others to learn from."""
        return ("test",) if self.images is None else ("test", "train")

    @cached_property
    def fingerprint(self) -> str:
        """What is drawn, and the content of its questions and images."""
        drawing = "all" if self.images is None else f"{self.images}/{self.seed}"
        images = sorted({path for _, path in self._rows(self.split)})
        return content_key(drawing, files_digest(*self._files(), *images))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, source by source. Raises ConfigError."""
        return (_sample(row, path) for row, path in self._rows(split))

    def _rows(self, split: str) -> list[tuple[Row, Path]]:
        """Questions and images of a split."""
        check_split("OmniMedVQA", split, self.splits)
        sources = {file.stem: list(json_records(file)) for file in self._files()}
        rows = drawn_in_proportion(sources, self.images, f"{self.seed}/test")
        if split == "train":
            taken = {row.place for row in rows}
            rest = {name: [row for row in group if row.place not in taken] for name, group in sources.items()}
            rows = drawn_in_proportion(rest, self.images, f"{self.seed}/train")
        return [(row, inside(self._folder, row, "image_path", row.text("image_path"), _HOW)) for row in rows]

    @property
    def _folder(self) -> Path:
        return Path(self.path) / "OmniMedVQA"

    def _files(self) -> list[Path]:
        files = sorted((self._folder / _QUESTIONS).glob("*.json"))
        if not files:
            raise ConfigError(f"no data file {self._folder / _QUESTIONS}/*.json; {_HOW}")
        return files


def _sample(row: Row, image: Path) -> Sample:
    """A question. Raises ConfigError."""
    options = [row.text(f"option_{letter}") for letter in "ABCD" if row.values.get(f"option_{letter}") is not None]
    choices = lettered(option.strip() for option in options)
    letter = letter_of(choices, row.text("gt_answer"))
    if letter is None or len(choices) < 2:
        raise row.error("gt_answer", f"must be one of {list(choices.values())}, found {row.text('gt_answer')!r}")
    kind = "modality_type" if "modality_type" in row.values else "modality"
    return cab_sample(
        "omnimedqa",
        f"omnimedvqa-{row.text('dataset')}-{row.text('question_id')}",
        row.text("question").strip(),
        letter,
        choices=choices,
        files=attached([image]),
        strata={"modality": row.text(kind), "question_type": row.text("question_type"), "source": row.text("dataset")},
        cluster=row.text("image_path"),
    )
