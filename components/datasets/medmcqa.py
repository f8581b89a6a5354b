"""MedMCQA: questions of Indian medical entrance examinations in 21 subjects, four options, one of them right.

Source: Pal et al. 2022, CHIL, PMLR 174:248-260 (MIT; ``medmcqa/medmcqa``), read in its original layout: JSON Lines
despite the files' names. The answers of the test set are not public, so papers evaluate the 4,183 questions of dev.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.files.file_dataset import FileDataset, Part
from components.files.rows import Row, json_lines
from components.files.samples import explanation
from components.text.answers import lettered

_FILES = {"dev": "dev.json", "train": "train.json", "pool": "fewshot_pool_from_dev.json"}
_OPTIONS = ("opa", "opb", "opc", "opd")


@dataclass(frozen=True)
class MedMcqa(FileDataset[Row]):
    """Questions with four lettered options; the target is the right letter.

    ``path`` holds ``dev.json`` and ``train.json``. ``pool`` are dev items set apart for demonstrations in the small
    slice. ``metadata["explanation"]``, where there is one, is for demonstrations. Raises ConfigError with file, line
    and key.
    """

    path: str
    split: str = field(default="dev", kw_only=True)
    title = "MedMCQA"
    split_names = tuple(_FILES)
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds medmcqa/, or unpack the archive linked in the README of "
        "github.com/medmcqa/medmcqa and give dataset.path=..."
    )

    def __post_init__(self) -> None:
        _check_answers(self.split)

    def locate(self, split: str) -> list[Part]:
        """Return the file of a split. Raises ConfigError."""
        _check_answers(split)
        return super().locate(split)

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        return {"medmcqa": Path(self.path) / _FILES[split]}

    def read(self, part: Part) -> Iterable[Row]:
        """Read JSON Lines."""
        return json_lines(part.file)

    def sample(self, item: Row, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        right = item.values.get("cop")
        if type(right) is not int or not 1 <= right <= len(_OPTIONS):
            raise item.error("cop", f"must be 1 to 4, where 1 is opa (some copies count from 0), found {right!r:.80}")
        choices = lettered(item.text(key) for key in _OPTIONS)
        letter = "ABCD"[right - 1]
        return Sample(
            Problem(f"medmcqa-{item.text('id')}", item.text("question").strip(), choices),
            target=letter,
            metadata={"task": "medmcqa", "answer": choices[letter], **explanation(item, "exp")},
            strata={"task": "medmcqa", "subject": item.text("subject_name").strip()},
        )


def _check_answers(split: str) -> None:
    """Raise ConfigError for the split that has no answers."""
    if split == "test":
        raise ConfigError(
            f"dataset.split: MedMCQA has {', '.join(_FILES)}; found 'test'; "
            "the official test set comes without answers: papers evaluate dev"
        )
