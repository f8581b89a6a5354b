"""MedMCQA: questions of Indian medical entrance examinations in 21 subjects, four options, one of them right.

Source: Pal et al. 2022, CHIL, PMLR 174:248-260 (MIT; ``medmcqa/medmcqa``), read in its original layout: JSON Lines
despite the files' names. The answers of the test set are not public, so papers evaluate the 4,183 questions of dev.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.choice_rows import explanation_of
from components.files.rows import Row, existing, files_digest, json_lines
from components.text.answers import lettered

_FILES: Mapping[str, str] = {"dev": "dev.json", "train": "train.json", "pool": "fewshot_pool_from_dev.json"}
_OPTIONS = ("opa", "opb", "opc", "opd")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds medmcqa/, or unpack the archive linked in the README of "
    "github.com/medmcqa/medmcqa and give dataset.path=..."
)


@dataclass(frozen=True)
class MedMcqa:
    """Questions with four lettered options; the target is the right letter.

    ``path`` holds ``dev.json`` and ``train.json``. ``pool`` are dev items set apart for demonstrations in the small
    slice. ``metadata["explanation"]``, where there is one, is for demonstrations. Raises ConfigError with file, line
    and key.
    """

    path: str
    split: str = "dev"
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if self.split == "test":
            raise _unknown(self.split)

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there."""
        return tuple(split for split, file in _FILES.items() if (Path(self.path) / file).is_file())

    @cached_property
    def fingerprint(self) -> str:
        """Content of the evaluated split."""
        return files_digest(self._file(self.split))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split in the file's order. Raises ConfigError."""
        return (_sample(row) for row in json_lines(self._file(split)))

    def _file(self, split: str) -> Path:
        """The file of a split. Raises ConfigError when there is no such split or file."""
        if split not in _FILES:
            raise _unknown(split)
        return existing(Path(self.path) / _FILES[split], _HOW)


def _unknown(split: str) -> ConfigError:
    """A complaint about a split that there is not."""
    why = "; the official test set comes without answers: papers evaluate dev" if split == "test" else ""
    return ConfigError(f"dataset.split: MedMCQA has {', '.join(_FILES)}; found {split!r}{why}")


def _sample(row: Row) -> Sample:
    """A question. Raises ConfigError."""
    right = row.values.get("cop")
    if type(right) is not int or not 1 <= right <= len(_OPTIONS):
        raise row.error("cop", f"must be 1 to 4, where 1 is opa (some copies count from 0), found {right!r:.80}")
    choices = lettered(row.text(key) for key in _OPTIONS)
    letter, subject = "ABCD"[right - 1], row.text("subject_name").strip()
    return Sample(
        Problem(f"medmcqa-{row.text('id')}", row.text("question").strip(), choices),
        target=letter,
        metadata={"task": "medmcqa", "answer": choices[letter], **explanation_of(row, "exp")},
        strata={"task": "medmcqa", "subject": subject},
    )
