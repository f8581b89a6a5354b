"""HALT-MedVQA: made-up questions, swapped images, and none of the above, on medical images.

Source: Wu, Kim, Wu 2024, arXiv 2401.05827 (``knowlab/halt-medvqa``, which states no licence, so nothing of it is
shipped). Made-up questions 543, swapped images 818, none of the above 1,000; images of VQA-RAD, PathVQA and
PMC-VQA. ClinicalAgent Bench (medvqa_halt) has 900; how many of each is not published, here 300.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.attachments import attach, path_below
from components.files.file_dataset import ImageDataset, ImageQuestion, Part
from components.files.folders import content_key
from components.files.rows import Row, json_object, json_records
from components.files.samples import draw_split, task_sample
from components.text.answers import letter_of

_Part = Literal["fake", "nota", "swap"]
_FILES: Mapping[_Part, str] = {
    "fake": "fake_qa_shuffle.json",
    "nota": "pmc_vqa_nota1K.json",
    "swap": "swap_img_shuffle.json",
}
_HOW_IMAGES = (
    "get the images of VQA-RAD, PathVQA or PMC-VQA and name their folder in dataset.images, "
    "such as dataset.images.fake=..."
)


@dataclass(frozen=True)
class HaltMedVqa(ImageDataset):
    """Questions with an image and lettered options; the target is the right letter.

    ``path`` holds ``data``; ``images`` names the folder of images of each part. ``per_part`` chooses so many of each,
    with ``seed``; ``train`` is chosen from the rest. Raises ConfigError with file, line or record, and key, before
    the first sample when an image is missing.
    """

    path: str
    images: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[_Part, ...] = ("fake", "nota", "swap")
    per_part: Annotated[int, Ge(1)] | None = 300
    seed: int = 0
    title = "HALT-MedVQA"
    how = "take data/*.json from github.com/knowlab/halt-medvqa and give dataset.path=... the folder that holds data"

    def __post_init__(self) -> None:
        if not self.parts:
            raise ConfigError("dataset.parts: at least one of fake, nota, swap is needed, found none")

    @property
    def split_names(self) -> Sequence[str]:
        """Test, and what is left of the data where ``per_part`` is set."""
        return ("test",) if self.per_part is None else ("test", "train")

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per part."""
        return {part: Path(self.path) / "data" / _FILES[part] for part in self.parts}

    def identify(self, digest: str) -> str:
        """Add the parts and what is chosen of them."""
        return content_key(*self.parts, f"{self.per_part}/{self.seed}", digest)

    def read(self, part: Part) -> Iterable[ImageQuestion]:
        """Read the chosen questions of a part. Raises ConfigError."""
        rows = (
            [(str(n), row) for n, row in enumerate(json_records(part.file))]
            if part.name == "nota"
            else list(json_object(part.file))
        )
        folder = self.images.get(part.name)
        if folder is None or not Path(folder).is_dir():
            raise ConfigError(f"dataset.images.{part.name}: no folder of images, found {folder!r}; {_HOW_IMAGES}")
        return [
            ImageQuestion(name, row, path_below(Path(folder), row, "img", row.text("img"), _HOW_IMAGES))
            for name, row in draw_split(rows, self.per_part, f"{self.seed}/{part.name}", part.split)
        ]

    def sample(self, item: ImageQuestion, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        row = item.row
        choices, letter = _none_of_the_above(row) if part.name == "nota" else _do_not_know(row)
        if letter not in choices:
            raise row.error("answer", f"the right letter must be one of {', '.join(choices)}, found {letter!r}")
        return task_sample(
            "medvqa_halt",
            "trust",
            f"halt_medvqa-{part.name}-{item.name}",
            row.text("question").strip(),
            letter,
            choices=choices,
            files=attach([item.image]),
            strata={"part": part.name},
            cluster=f"{part.name}/{row.text('img')}",
        )


def _do_not_know(row: Row) -> tuple[dict[str, str], str]:
    """Options and letter where the answer is given by both text and letter. Raises ConfigError."""
    letter = row.text("answer_id").strip()
    choices = {key: text.strip() for key, text in row.named_texts("option").items()}
    if letter in choices and letter_of({letter: choices[letter]}, row.text("answer")) is None:
        raise row.error("answer", f"{row.text('answer')!r:.60} is not option {letter}: {choices[letter]!r:.60}")
    return choices, letter


def _none_of_the_above(row: Row) -> tuple[dict[str, str], str]:
    """Options, each written with its letter in front, and the letter. Raises ConfigError."""
    texts = {letter: row.text(f"choice_{letter}").strip() for letter in "ABCD"}
    choices = {letter: text.removeprefix(f"{letter}:").strip() for letter, text in texts.items()}
    return choices, row.text("answer").strip()
