"""EHR-Halt: questions that a hospital's database cannot answer; the right answer is that there is no result.

Source: the unanswerable questions of EHRSQL 2024 on MIMIC-IV (Lee et al. 2024, arXiv 2405.06673) and of EHRSQL
2022 on MIMIC-III and eICU (Lee et al. 2022, NeurIPS; both CC BY 4.0), as in ClinicalAgent Bench (Liao et al. 2024,
arXiv 2410.17657): 1,032 test questions, of which 233 are on MIMIC-IV.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Sample
from components.ehr.datasets.ehrsql import ehrsql_file
from components.ehr.datasets.ehrsql2024 import database_2024, questions_2024, split_files
from components.ehr.datasets.samples import RecordDataset, database_file, ehr_questions, require_some
from components.files.attachments import attach
from components.files.file_dataset import NO_RESULT, Part, add_request, task_sample
from components.sql.reading import require_readable

_Source = Literal["mimic_iv", "mimic_iii", "eicu"]
_HOW_DATABASE = "name a SQLite file of the same tables in dataset.sqlite, or leave the source out of dataset.sources"


@dataclass(frozen=True)
class EhrHalt(RecordDataset):
    """Unanswerable questions with the database they are asked on; the target is an empty eval block. ``path`` holds the
    folders ``ehrsql`` and ``ehrsql2024``, ``sqlite`` names the databases on MIMIC-III and eICU: any of the same tables
    will do, since no row can hold an answer. ``ask`` is added to each question. Raises ConfigError with file, record
    and key."""

    path: str
    sqlite: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[_Source, ...] = ("mimic_iv", "mimic_iii", "eicu")
    ask: str = NO_RESULT
    title = "EHR-Halt"
    split_names = ("test", "valid", "train")
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds ehrsql/ and ehrsql2024/, or take them from "
        "github.com/glee4810/EHRSQL and glee4810/ehrsql-2024 and give dataset.path=..."
    )

    def __post_init__(self) -> None:
        require_some("sources", self.sources, _Source)

    @property
    def _newer(self) -> Path:
        return Path(self.path) / "ehrsql2024"

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per source."""
        newer = self._newer / "data" / "mimic_iv" / split / "data.json"
        older = str(Path(self.path) / "ehrsql")
        return {name: newer if name == "mimic_iv" else ehrsql_file(older, name, split) for name in self.sources}

    def contents(self, split: str) -> Sequence[Path]:
        """Name all files and the databases, the newer questions twice: fingerprints of earlier runs have them so."""
        files = {part.name: part.file for part in self.locate(split)}
        newer = split_files(self._newer, split) if "mimic_iv" in files else []
        older = [file for name, file in files.items() if name != "mimic_iv"]
        return [*newer, *older, *newer[:1], *(self.sqlite_of(name) for name in self.sources)]

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the unanswerable questions of a source. Raises ConfigError."""
        database = attach(database=self.sqlite_of(part.name))
        questions = questions_2024(part.file) if part.name == "mimic_iv" else ehr_questions(part.file, part.name)
        return (
            task_sample(
                "ehr_halt",
                "trust",
                f"ehr_halt-{part.split}-{part.name}-{one.id}",
                add_request(one.question, self.ask),
                {},
                files=database,
                metadata={"sql_dialect": part.name},
                strata={"database": part.name},
            )
            for one in questions
            if one.sql is None
        )

    def sqlite_of(self, name: str) -> Path:
        """Return a source's database, which must be readable. Raises ConfigError."""
        if name == "mimic_iv":
            return database_2024(self._newer)
        if name not in self.sqlite:
            raise ConfigError(f"dataset.sqlite: names no database for {name}; {_HOW_DATABASE}")
        return require_readable(database_file(self.sqlite[name], _HOW_DATABASE))
