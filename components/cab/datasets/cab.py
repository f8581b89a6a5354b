"""ClinicalAgent Bench: any of its 18 tasks, in its own file layout ``{split}/{task}.json``.

Source: Liao et al. 2024, arXiv 2410.17657; 14,879 test samples; hub name ``BlueZeros/ClinicalAgentBench``.
Licences are those of the sources: mimic_iii, eicu, ehr_halt and emrqa rest on credentialed data.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge

from components.cab.datasets.layout import paths_of, record_sample
from components.cab.tasks import TASKS
from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.file_dataset import FileDataset, Part
from components.files.folders import content_key
from components.files.rows import Row, json_records
from components.files.samples import draw

_SHIPPED = Path(__file__).parent


@dataclass(frozen=True)
class Cab(FileDataset[Row]):
    """Samples task by task in the tasks' published order, with paths resolved below the data's root.

    ``path`` is the root, ``shipped`` a folder next to this file that has the same layout; the first that is given
    counts. ``tasks`` names tasks or is ``all``: those whose file is there. ``per_task`` chooses so many of each,
    with ``seed``. Options at the end of an instruction become choices; where they cannot be read the question
    stays whole and the target is {answer, answer_idx}. Raises ConfigError with file, record and key.
    """

    path: str | None = None
    shipped: str | None = None
    tasks: Literal["all"] | tuple[str, ...] = "all"
    per_task: Annotated[int, Ge(1)] | None = None
    seed: int = 0
    privacy: Privacy = field(default="credentialed", kw_only=True)
    title = "this folder"
    how = "take the data set BlueZeros/ClinicalAgentBench from its hub and give dataset.path=.../ClinicalAgentBench"

    def __post_init__(self) -> None:
        unknown = [task for task in self.tasks if task not in TASKS] if self.tasks != "all" else []
        if unknown or not self.tasks:
            raise ConfigError(f"dataset.tasks: must be all or some of {', '.join(TASKS)}; found {self.tasks!r}")
        if self.path is None and self.shipped is None:
            raise ConfigError(f"dataset.path: no data; {self.how}")

    @property
    def split_names(self) -> Sequence[str]:
        """The splits whose folders are there."""
        return tuple(split for split in ("test", "train", "ablations") if (self._root / split).is_dir())

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose folders are there."""
        return self.split_names

    @property
    def _root(self) -> Path:
        return Path(self.path).expanduser() if self.path is not None else _SHIPPED / str(self.shipped)

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per task; without ``tasks`` of those that are there."""
        files = {task: self._root / split / f"{task}.json" for task in TASKS}
        if self.tasks == "all":
            return {task: file for task, file in files.items() if file.is_file()}
        return {task: file for task, file in files.items() if task in self.tasks}

    def locate(self, split: str) -> list[Part]:
        """Return the files of the tasks. Raises ConfigError when one that was asked for is missing."""
        if not self._root.is_dir():
            raise ConfigError(f"dataset.path: there is no folder {self._root}; {self.how}")
        files = self.paths(split)
        missing = [task for task, file in files.items() if not file.is_file()]
        if split in self.split_names and (missing or not files):
            folder = self._root / split
            have = ", ".join(task for task in TASKS if (folder / f"{task}.json").is_file()) or "none"
            raise ConfigError(f"dataset.tasks: {folder} has no file of {', '.join(missing or TASKS)}; it has {have}")
        return super().locate(split)

    def contents(self, split: str) -> Sequence[Path]:
        """Name the files of the records, and all files that these name."""
        parts = self.locate(split)
        records = [row for part in parts for row in json_records(part.file)]
        named = {file for row in records for path in paths_of(row, self._root) for file in _within(path)}
        return [*(part.file for part in parts), *sorted(named)]

    def identify(self, digest: str) -> str:
        """Add what is chosen of the records."""
        return content_key("" if self.per_task is None else f"{self.per_task}/{self.seed}", digest)

    def read(self, part: Part) -> Iterable[Row]:
        """Read the chosen records of a task."""
        return draw(list(json_records(part.file)), self.per_task, f"{self.seed}/{part.split}/{part.name}")

    def sample(self, item: Row, part: Part) -> Sample:
        """Make the sample of a record. Raises ConfigError."""
        return record_sample(item, part.name, part.split, self._root)


def _within(path: Path) -> Iterable[Path]:
    """A file, or the files of a folder."""
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
