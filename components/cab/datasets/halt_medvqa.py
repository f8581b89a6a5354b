"""HALT-MedVQA: made-up questions, swapped images, and none of the above, on medical images.

Source: Wu, Kim, Wu 2024, arXiv 2401.05827 (``knowlab/halt-medvqa``, which states no licence, so nothing of it is
shipped). Made-up questions 543, swapped images 818, none of the above 1,000; images of VQA-RAD, PathVQA and
PMC-VQA. ClinicalAgent Bench (medvqa_halt) has 900; how many of each is not said, here 300.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.data_paths import inside
from components.files.kept_files import content_key
from components.files.rows import Row, existing, files_digest, json_object
from components.files.seeded_draw import drawn
from components.files.tables import json_records
from components.files.task_samples import attached, cab_sample, check_split
from components.text.answers import letter_of

Part = Literal["fake", "nota", "swap"]
_FILES: Mapping[str, str] = {
    "fake": "fake_qa_shuffle.json",
    "nota": "pmc_vqa_nota1K.json",
    "swap": "swap_img_shuffle.json",
}
_HOW = "take data/*.json from github.com/knowlab/halt-medvqa and give dataset.path=... the folder that holds data"
_HOW_IMAGES = (
    "get the images of VQA-RAD, PathVQA or PMC-VQA and name their folder in dataset.images, "
    "such as dataset.images.fake=..."
)


@dataclass(frozen=True)
class HaltMedVqa:
    """Questions with an image and lettered options; the target is the right letter.

    ``path`` holds ``data``; ``images`` names the folder of images of each part. ``per_part`` draws so many of each,
    with ``seed``; ``train`` is drawn from the rest. Raises ConfigError with file, line or record, and key, before
    the first sample when an image is missing.
    """

    path: str
    images: Mapping[str, str] = field(default_factory=dict)
    split: str = "test"
    parts: tuple[Part, ...] = ("fake", "nota", "swap")
    per_part: Annotated[int, Ge(1)] | None = 300
    seed: int = 0
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if not self.parts:
            raise ConfigError("dataset.parts: at least one of fake, nota, swap is needed, found none")

    @property
    def splits(self) -> Sequence[str]:
        """Test, and what is left of the data where ``per_part`` is set."""
        return ("test",) if self.per_part is None else ("test", "train")

    @cached_property
    def fingerprint(self) -> str:
        """The parts, what is drawn of them, and the content of questions and images."""
        files = [self._file(part) for part in self.parts]
        images = sorted({image for part in self.parts for _, _, image in self._rows(part, self.split)})
        return content_key(*self.parts, f"{self.per_part}/{self.seed}", files_digest(*files, *images))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, part by part. Raises ConfigError."""
        rows = {part: self._rows(part, split) for part in self.parts}
        return (_sample(row, part, name, image) for part, found in rows.items() for name, row, image in found)

    def _rows(self, part: str, split: str) -> list[tuple[str, Row, Path]]:
        """Names, questions and images of a part."""
        check_split("HALT-MedVQA", split, self.splits)
        file = self._file(part)
        rows = (
            [(str(n), row) for n, row in enumerate(json_records(file))] if part == "nota" else list(json_object(file))
        )
        chosen = drawn(rows, self.per_part, f"{self.seed}/{part}")
        if split == "train":
            taken = {name for name, _ in chosen}
            rest = [(name, row) for name, row in rows if name not in taken]
            chosen = drawn(rest, self.per_part, f"{self.seed}/{part}/train")
        folder = self.images.get(part)
        if folder is None or not Path(folder).is_dir():
            raise ConfigError(f"dataset.images.{part}: no folder of images, found {folder!r}; {_HOW_IMAGES}")
        return [(name, row, inside(Path(folder), row, "img", row.text("img"), _HOW_IMAGES)) for name, row in chosen]

    def _file(self, part: str) -> Path:
        return existing(Path(self.path) / "data" / _FILES[part], _HOW)


def _sample(row: Row, part: str, name: str, image: Path) -> Sample:
    """A question. Raises ConfigError."""
    choices, letter = _none_of_the_above(row) if part == "nota" else _do_not_know(row)
    if letter not in choices:
        raise row.error("answer", f"the right letter must be one of {', '.join(choices)}, found {letter!r}")
    return cab_sample(
        "medvqa_halt",
        f"halt_medvqa-{part}-{name}",
        row.text("question").strip(),
        letter,
        choices=choices,
        files=attached([image]),
        strata={"part": part},
        cluster=f"{part}/{row.text('img')}",
    )


def _do_not_know(row: Row) -> tuple[dict[str, str], str]:
    """Options and letter where the answer is given by both text and letter. Raises ConfigError."""
    choices, letter = row.named_texts("option"), row.text("answer_id").strip()
    choices = {key: text.strip() for key, text in choices.items()}
    if letter in choices and letter_of({letter: choices[letter]}, row.text("answer")) is None:
        raise row.error("answer", f"{row.text('answer')!r:.60} is not option {letter}: {choices[letter]!r:.60}")
    return choices, letter


def _none_of_the_above(row: Row) -> tuple[dict[str, str], str]:
    """Options, each written with its letter in front, and the letter. Raises ConfigError."""
    choices = {}
    for letter in "ABCD":
        text = row.text(f"choice_{letter}").strip()
        choices[letter] = text.removeprefix(f"{letter}:").strip()
    return choices, row.text("answer").strip()
