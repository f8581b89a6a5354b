"""Questions on images: VQA-RAD and SLAKE with short answers, OmniMedVQA with options."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.attachments import attach, path_below
from components.files.file_dataset import (
    HOW,
    ImageDataset,
    ImageQuestion,
    OneFile,
    Part,
    draw_in_proportion,
    task_sample,
)
from components.files.rows import Row, content_key, json_records
from components.text.answers import letter_of, letter_options

_PHRASE_TYPES = {"test": ("test_freeform", "test_para"), "train": ("freeform", "para")}


@dataclass(frozen=True)
class ShortAnswers(OneFile[ImageQuestion], ImageDataset):
    """Questions with an image; the target's answer is a short text. Raises ConfigError with file, record and key."""

    task: ClassVar[str]
    folder: ClassVar[str]
    image_key: ClassVar[str]

    def selects(self, row: Row, split: str) -> bool:
        """Whether a row is a question of the split. Raises ConfigError."""
        return True

    def read(self, part: Part) -> Iterable[ImageQuestion]:
        """Read the questions of a split. Raises ConfigError."""
        folder, key = part.file.parent / self.folder, self.image_key
        if not folder.is_dir():
            raise ConfigError(f"no images: there is no folder {folder}; {self.how}")
        return [
            ImageQuestion(str(row.identifier("qid")), row, path_below(folder, row, key, row.text(key), self.how))
            for row in json_records(part.file)
            if self.selects(row, part.split)
        ]

    def question(self, item: ImageQuestion, part: Part, strata: Mapping[str, str]) -> Sample:
        """Make a question. Raises ConfigError."""
        row, answer = item.row, item.row.values.get("answer")
        if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not str(answer).strip():
            raise row.error("answer", f"must be a text or a number, found {answer!r:.80}")
        name, question = f"{part.name}-{part.split}-{item.name}", row.text("question").strip()
        target, files, image = {"answer": str(answer).strip()}, attach([item.image]), row.text(self.image_key)
        strata = {**strata, "answer_type": row.text("answer_type").strip().lower()}
        return task_sample(self.task, "multimodal", name, question, target, files=files, strata=strata, cluster=image)


@dataclass(frozen=True)
class VqaRad(ShortAnswers):
    """VQA-RAD: questions of clinicians on radiology images of head, chest and abdomen. Source: Lau et al. 2018,
    Scientific Data 5:180251 (CC0 1.0; OSF project 89kps), read in its original files. 2,248 questions on 315 images;
    the 451 test questions are those of ClinicalAgent Bench (vqarad). ``path`` holds ``VQA_RAD Dataset Public.json`` and
    ``VQA_RAD Image Folder``; the split is the phrase type."""

    title = "VQA-RAD"
    task = "vqarad"
    folder = "VQA_RAD Image Folder"
    image_key = "image_name"
    part = "vqa_rad"
    file = "VQA_RAD Dataset Public.json"
    split_names = tuple(_PHRASE_TYPES)
    how = HOW.format("vqa_rad", "take the JSON file and the image folder of OSF project 89kps", "...")

    def selects(self, row: Row, split: str) -> bool:
        """Whether a row has a phrase type of the split. Raises ConfigError."""
        return row.text("phrase_type").strip() in _PHRASE_TYPES[split]

    def sample(self, item: ImageQuestion, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        return self.question(item, part, {"organ": item.row.text("image_organ").strip().lower()})


@dataclass(frozen=True)
class Slake(ShortAnswers):
    """SLAKE 1.0: questions on radiology images, in English and Chinese. Source: Liu et al. 2021, ISBI (CC BY 4.0; hub
    name ``BoKelvin/SLAKE``), read in its original files. 642 images, 14,028 questions; ClinicalAgent Bench takes the
    1,061 English test questions. ``path`` holds ``Slake1.0`` with ``{split}.json`` and ``imgs``."""

    language: Literal["en", "zh"] = "en"
    title = "SLAKE"
    settings = "{0.language}"
    task = part = "slake"
    folder = "imgs"
    image_key = "img_name"
    file = "Slake1.0/{split}.json"
    split_names = ("test", "validate", "train")
    how = (
        "take Slake1.0 with its folder imgs/ (212 MB) from the authors' project page or the data set BoKelvin/SLAKE "
        "and give dataset.path=... the folder that holds Slake1.0"
    )

    def selects(self, row: Row, split: str) -> bool:
        """Whether a row is in the language. Raises ConfigError."""
        return row.text("q_lang") == self.language

    def sample(self, item: ImageQuestion, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        row = item.row
        return self.question(item, part, {"modality": row.text("modality"), "content": row.text("content_type")})


@dataclass(frozen=True)
class OmniMedVqa(ImageDataset):
    """OmniMedVQA, open part: questions with an image and lettered options; the target is the right letter.

    Source: Hu et al. 2024, CVPR (hub name ``foreverbeliever/OmniMedVQA``; every source has its own licence): 73 data
    sets, 88,996 open questions with two to four options; ClinicalAgent Bench (omnimedqa) takes 1,000 in proportion.
    ``path`` holds ``OmniMedVQA`` with ``QA_information/Open-access/{source}.json`` and ``Images``. ``images`` is
    the number of questions in the test split, chosen with ``seed``, each source its share (null: all); ``train`` is
    as many again of the others. Raises ConfigError with file, record and key.
    """

    path: str
    images: Annotated[int, Ge(1)] | None = 1000
    seed: int = 0
    title = "OmniMedVQA"
    how = (
        "take the open-access part of the data set foreverbeliever/OmniMedVQA from its hub and give "
        "dataset.path=... the folder that holds OmniMedVQA"
    )

    @property
    def split_names(self) -> Sequence[str]:
        """The chosen questions, and others to learn from."""
        return ("test",) if self.images is None else ("test", "train")

    @property
    def _folder(self) -> Path:
        return Path(self.path) / "OmniMedVQA"

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per source."""
        return {file.stem: file for file in sorted((self._folder / "QA_information" / "Open-access").glob("*.json"))}

    def locate(self, split: str) -> list[Part]:
        """Return the files of all sources. Raises ConfigError."""
        if parts := super().locate(split):
            return parts
        raise ConfigError(f"no data file {self._folder}/QA_information/Open-access/*.json; {self.how}")

    def identify(self, digest: str) -> str:
        """Add the number of questions and the seed."""
        return content_key("all" if self.images is None else f"{self.images}/{self.seed}", digest)

    def items(self, split: str) -> Iterable[tuple[Part, Iterable[ImageQuestion]]]:
        """Read all questions and choose from each source its share. Raises ConfigError."""
        parts = self.locate(split)
        rows: Mapping[str, Sequence[Row]] = {part.name: list(json_records(part.file)) for part in parts}
        chosen = draw_in_proportion(rows, self.images, f"{self.seed}/test")
        if split == "train":
            taken = {row.place for group in chosen.values() for row in group}
            rest = {name: [row for row in group if row.place not in taken] for name, group in rows.items()}
            chosen = draw_in_proportion(rest, self.images, f"{self.seed}/train")
        return [(part, [self._question(row) for row in chosen[part.name]]) for part in parts]

    def read(self, part: Part) -> Iterable[ImageQuestion]:
        """Read all questions of a source. Raises ConfigError."""
        return [self._question(row) for row in json_records(part.file)]

    def _question(self, row: Row) -> ImageQuestion:
        name = f"{row.text('dataset')}-{row.text('question_id')}"
        return ImageQuestion(name, row, path_below(self._folder, row, "image_path", row.text("image_path"), self.how))

    def sample(self, item: ImageQuestion, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        row = item.row
        options = [row.text(key) for letter in "ABCD" if row.values.get(key := f"option_{letter}") is not None]
        choices = letter_options(option.strip() for option in options)
        letter = letter_of(choices, row.text("gt_answer"))
        if letter is None or len(choices) < 2:
            raise row.error("gt_answer", f"must be one of {list(choices.values())}, found {row.text('gt_answer')!r}")
        name, text = f"omnimedvqa-{item.name}", row.text("question").strip()
        modality = row.text("modality_type" if "modality_type" in row.values else "modality")
        strata = {"modality": modality, "question_type": row.text("question_type"), "source": row.text("dataset")}
        files, image = attach([item.image]), row.text("image_path")
        return task_sample(
            "omnimedqa", "multimodal", name, text, letter, choices=choices, files=files, strata=strata, cluster=image
        )
