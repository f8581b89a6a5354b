"""Published question sets with lettered options, read in their original layouts; the target is the right letter.

Where there is an explanation, ``metadata["explanation"]`` is for demonstrations. All raise ConfigError with file, line
and key.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.files.file_dataset import HOW, FileDataset, OneFile, Part, explanation, row_letter, row_options
from components.files.rows import Row, json_lines
from components.text.answers import letter_options

_UNPACK = "unpack the archive linked in the README of github.com/"
_EDITIONS: Mapping[int, Mapping[str, str]] = {
    4: {split: f"US/4_options/phrases_no_exclude_{split}.jsonl" for split in ("test", "train", "dev")}
    | {"pool": "US/4_options/fewshot_pool_from_test.jsonl"},
    5: {split: f"US/{split}.jsonl" for split in ("test", "train", "dev")}
    | {"pool": "US/fewshot_pool_from_test.jsonl", "train5": "US/fewshot_train5.jsonl"},
}


@dataclass(frozen=True)
class MedQA(FileDataset[tuple[int, Row]]):
    """Questions of the medical licensing examinations (MedQA, US), with 4 or 5 lettered options.

    Source: Jin et al. 2021, Applied Sciences, arXiv 2009.13081 (MIT; ``jind11/MedQA``). Test set of 1,273 questions;
    both editions hold the same questions with other letters, so the edition is part of the fingerprint. ``path`` holds
    the folder ``US``. ``pool`` are test items set apart for demonstrations in the small slice; ``train5`` (5 options)
    the five training questions of MedAgents' prompt. Sample ids are row numbers; the explanation is ``evidence_only``.
    """

    path: str
    options: int = 4
    settings = "{0.options}-options"
    how = HOW.format("medqa", f"{_UNPACK}jind11/MedQA", ".../data_clean/questions")

    def __post_init__(self) -> None:
        if self.options not in _EDITIONS:
            raise ConfigError(f"dataset.options: there are editions with 4 and with 5 options, found {self.options!r}")

    @property
    def title(self) -> str:
        """Name and edition."""
        return f"MedQA with {self.options} options"

    @property
    def split_names(self) -> Sequence[str]:
        """The splits of the edition."""
        return tuple(_EDITIONS[self.options])

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        return {"medqa": Path(self.path) / _EDITIONS[self.options][split]}

    def read(self, part: Part) -> Iterable[tuple[int, Row]]:
        """Read numbered rows."""
        return enumerate(json_lines(part.file), 1)

    def sample(self, item: tuple[int, Row], part: Part) -> Sample:
        """Make a question. Raises ConfigError when the row is not one of this edition."""
        number, row = item
        choices = row_options(row, least=self.options, most=self.options)
        letter = row_letter(row, "answer_idx", choices)
        problem = Problem(f"medqa-{part.split}-{number}", row.text("question"), choices)
        facts = {"task": "medqa", "answer": choices[letter], "options": self.options}
        step = {"step": row.text("meta_info")} if "meta_info" in row.values else {}
        strata = {"task": "medqa", "dimension": "knowledge", **step}
        return Sample(problem, letter, metadata={**facts, **explanation(row, "evidence_only")}, strata=strata)


_MEDMCQA = {"dev": "dev.json", "train": "train.json", "pool": "fewshot_pool_from_dev.json"}


@dataclass(frozen=True)
class MedMcqa(OneFile[Row]):
    """Questions of Indian medical entrance examinations in 21 subjects (MedMCQA), four options, one of them right.
    Source: Pal et al. 2022, CHIL, PMLR 174:248-260 (MIT; ``medmcqa/medmcqa``): JSON Lines despite the files' names. The
    answers of the test set are not public, so papers evaluate the 4,183 questions of dev. ``path`` holds ``dev.json``
    and ``train.json``. ``pool`` are dev items set apart for demonstrations in the small slice."""

    split: str = field(default="dev", kw_only=True)
    title = "MedMCQA"
    part = "medmcqa"
    file = _MEDMCQA
    split_names = tuple(_MEDMCQA)
    how = HOW.format("medmcqa", f"{_UNPACK}medmcqa/medmcqa", "...")

    def __post_init__(self) -> None:
        self._check(self.split)

    def _check(self, split: str) -> None:
        if split == "test":
            raise ConfigError(
                f"dataset.split: MedMCQA has {', '.join(_MEDMCQA)}; found 'test'; "
                "the official test set comes without answers: papers evaluate dev"
            )

    def locate(self, split: str) -> list[Part]:
        """Return the file of a split. Raises ConfigError, also for the split that has no answers."""
        self._check(split)
        return super().locate(split)

    def read(self, part: Part) -> Iterable[Row]:
        """Read JSON Lines."""
        return json_lines(part.file)

    def sample(self, item: Row, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        right = item.values.get("cop")
        if type(right) is not int or not 1 <= right <= 4:
            raise item.error("cop", f"must be 1 to 4, where 1 is opa (some copies count from 0), found {right!r:.80}")
        choices = letter_options(item.text(key) for key in ("opa", "opb", "opc", "opd"))
        letter = "ABCD"[right - 1]
        problem = Problem(f"medmcqa-{item.text('id')}", item.text("question").strip(), choices)
        facts = {"task": "medmcqa", "answer": choices[letter], **explanation(item, "exp")}
        strata = {"task": "medmcqa", "subject": item.text("subject_name").strip()}
        return Sample(problem, letter, metadata=facts, strata=strata)
