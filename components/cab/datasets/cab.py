"""ClinicalAgent Bench: any of its 18 tasks, in its own file layout ``{split}/{task}.json``.

Source: Liao et al. 2024, arXiv 2410.17657; 14,879 test samples; hub name ``BlueZeros/ClinicalAgentBench``.
Licences are those of the sources: mimic_iii, eicu, ehr_halt and emrqa rest on credentialed data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge

from components.cab.datasets.layout import paths_of, record_sample
from components.cab.tasks import TASKS
from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.kept_files import content_key
from components.files.rows import Row, files_digest
from components.files.seeded_draw import drawn
from components.files.tables import json_records
from components.files.task_samples import check_split

_SHIPPED = Path(__file__).parent
_SPLITS = ("test", "train", "ablations")
_HOW = "take the data set BlueZeros/ClinicalAgentBench from its hub and give dataset.path=.../ClinicalAgentBench"


@dataclass(frozen=True)
class Cab:
    """Samples task by task in the tasks' published order, with paths resolved below the data's root.

    ``path`` is the root, ``shipped`` a folder beside this file that has the same layout; the first that is given
    counts. ``tasks`` names tasks or is ``all``: those whose file is there. ``per_task`` draws so many of each,
    with ``seed``. Options at the end of an instruction become choices; where they cannot be read the question
    stays whole and the target is {answer, answer_idx}. Raises ConfigError with file, record and key.
    """

    path: str | None = None
    shipped: str | None = None
    tasks: Literal["all"] | tuple[str, ...] = "all"
    split: str = "test"
    per_task: Annotated[int, Ge(1)] | None = None
    seed: int = 0
    privacy: Privacy = "credentialed"

    def __post_init__(self) -> None:
        unknown = [task for task in self.tasks if task not in TASKS] if self.tasks != "all" else []
        if unknown or not self.tasks:
            raise ConfigError(f"dataset.tasks: must be all or some of {', '.join(TASKS)}; found {self.tasks!r}")
        if self.path is None and self.shipped is None:
            raise ConfigError(f"dataset.path: no data; {_HOW}")

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose folders are there."""
        return tuple(split for split in _SPLITS if (self._root / split).is_dir())

    @cached_property
    def fingerprint(self) -> str:
        """Content of the evaluated records and of all that they name, and what is drawn of them."""
        drawing = "" if self.per_task is None else f"{self.per_task}/{self.seed}"
        records = [row for file in self._files(self.split).values() for row in json_records(file)]
        named = sorted({file for row in records for path in paths_of(row, self._root) for file in _within(path)})
        files = [*self._files(self.split).values(), *named]
        return content_key(drawing, files_digest(*files))

    def load(self, split: str) -> Iterator[Sample]:
        """The samples of a split. Raises ConfigError."""
        return (
            record_sample(row, task, split, self._root)
            for task, file in self._files(split).items()
            for row in self._drawn(json_records(file), f"{split}/{task}")
        )

    def _drawn(self, rows: Iterable[Row], name: str) -> Sequence[Row]:
        return drawn(list(rows), self.per_task, f"{self.seed}/{name}")

    @property
    def _root(self) -> Path:
        return Path(self.path).expanduser() if self.path is not None else _SHIPPED / str(self.shipped)

    def _files(self, split: str) -> Mapping[str, Path]:
        """Task -> file. Raises ConfigError when one that was asked for is missing."""
        if not self._root.is_dir():
            raise ConfigError(f"dataset.path: there is no folder {self._root}; {_HOW}")
        check_split("this folder", split, self.splits)
        folder = self._root / split
        files = {task: folder / f"{task}.json" for task in TASKS if self.tasks == "all" or task in self.tasks}
        there = {task: file for task, file in files.items() if file.is_file()}
        if not there or (self.tasks != "all" and len(there) < len(files)):
            have = ", ".join(task for task in TASKS if (folder / f"{task}.json").is_file()) or "none"
            missing = ", ".join(task for task in files if task not in there)
            raise ConfigError(f"dataset.tasks: {folder} has no file of {missing}; it has {have}")
        return there


def _within(path: Path) -> Iterable[Path]:
    """A file, or the files of a folder."""
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
