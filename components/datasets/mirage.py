"""MIRAGE: five medical question sets in one multiple-choice form, all without context.

Source: Xiong et al. 2024, Findings of ACL, arXiv 2402.13178 (public-domain notice of the US National Center for
Biotechnology Information; questions MIT, those of BioASQ CC BY 2.5; ``Teddy-XiongGZ/MIRAGE``), read in its
``benchmark.json``: medqa 1,273, medmcqa 4,183, pubmedqa 500, bioasq 618 and mmlu 1,089 questions with 4, 4, 3, 2 and
4 options. Its metric is the mean of the five accuracies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.choice_rows import row_letter, row_options
from components.files.rows import Row, existing, files_digest, json_groups
from components.files.task_samples import check_split

MirageSet = Literal["medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu"]
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds mirage/, or take benchmark.json from "
    "github.com/Teddy-XiongGZ/MIRAGE and give dataset.path=FOLDER"
)


@dataclass(frozen=True)
class Mirage:
    """Questions with 2 to 4 lettered options; the target is the right letter, the stratum ``task`` the set.

    ``path`` holds ``benchmark.json``, ``sets`` chooses among its sets. There is only a test split. Sample ids hold
    those of the file. Raises ConfigError with file, line and key.
    """

    path: str
    split: str = "test"
    sets: tuple[MirageSet, ...] = ("medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu")
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if not self.sets or len(set(self.sets)) < len(self.sets):
            raise ConfigError(f"dataset.sets: each set once, at least one; found {list(self.sets)}")

    @property
    def splits(self) -> Sequence[str]:
        """The one there is."""
        return ("test",)

    @cached_property
    def fingerprint(self) -> str:
        """The sets that are taken and the file's content."""
        return f"{'+'.join(sorted(self.sets))}-{files_digest(self._file)}"

    @property
    def _file(self) -> Path:
        return existing(Path(self.path) / "benchmark.json", _HOW)

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of the sets in the file's order. Raises ConfigError."""
        check_split("MIRAGE", split, self.splits)
        return self._samples(self._file)

    def _samples(self, file: Path) -> Iterator[Sample]:
        """Questions, and at the end a complaint about a set that the file does not hold. Raises ConfigError."""
        missing = set[str](self.sets)
        for name, item, row in json_groups(file):
            missing.discard(name)
            if name in self.sets:
                yield _sample(name, item, row)
        if missing:
            raise ConfigError(f"{file}: {min(missing)}: there is no such set, or it is empty")


def _sample(name: str, item: str, row: Row) -> Sample:
    """A question. Raises ConfigError."""
    choices = row_options(row, most=4)
    letter = row_letter(row, "answer", choices)
    return Sample(
        Problem(f"mirage-{name}-{item}", row.text("question").strip(), choices),
        target=letter,
        metadata={"task": name, "answer": choices[letter]},
        strata={"task": name},
    )
