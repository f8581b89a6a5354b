"""EHR-Halt: questions that a hospital's database cannot answer; the right answer is that there is no result.

Source: the unanswerable questions of EHRSQL 2024 on MIMIC-IV (Lee et al. 2024, arXiv 2405.06673) and of EHRSQL
2022 on MIMIC-III and eICU (Lee et al. 2022, NeurIPS; both CC BY 4.0), as in ClinicalAgent Bench (Liao et al. 2024,
arXiv 2410.17657): 1,032 test questions, of which 233 are on MIMIC-IV.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql2024_files import files_2024, folder_2024, questions_2024, sqlite_2024
from components.ehr.datasets.ehrsql_questions import database_file, ehr_questions
from components.files.rows import existing, files_digest
from components.files.task_samples import NO_RESULT, asked, attached, cab_sample, check_split
from components.sql.reading import readable

Source = Literal["mimic_iv", "mimic_iii", "eicu"]
_SPLITS = ("test", "valid", "train")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds ehrsql/ and ehrsql2024/, or take them from "
    "github.com/glee4810/EHRSQL and glee4810/ehrsql-2024 and give dataset.path=..."
)
_HOW_DATABASE = "name a SQLite file of the same tables in dataset.sqlite, or leave the source out of dataset.sources"


@dataclass(frozen=True)
class EhrHalt:
    """Unanswerable questions with the database they are asked on; the target is an empty eval block.

    ``path`` holds the folders ``ehrsql`` and ``ehrsql2024``, ``sqlite`` names the databases on MIMIC-III and eICU:
    any of the same tables will do, since no row can hold an answer. ``ask`` is added to each question. Raises
    ConfigError with file, record and key.
    """

    path: str
    sqlite: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[Source, ...] = ("mimic_iv", "mimic_iii", "eicu")
    split: str = "test"
    ask: str = NO_RESULT
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if not self.sources:
            raise ConfigError("dataset.sources: at least one of mimic_iv, mimic_iii, eicu is needed, found none")

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there for every source."""
        return tuple(split for split in _SPLITS if all(file.is_file() for file in self._candidates(split)))

    @cached_property
    def fingerprint(self) -> str:
        """Content of the evaluated split and the databases."""
        databases = [self._sqlite(source) for source in self.sources]
        return files_digest(*self._files(self.split), *databases)

    def load(self, split: str) -> Iterator[Sample]:
        """The unanswerable questions of a split, source by source. Raises ConfigError."""
        self._files(split)
        databases = {source: attached(database=self._sqlite(source)) for source in self.sources}
        return (
            cab_sample(
                "ehr_halt",
                f"ehr_halt-{split}-{source}-{name}",
                asked(question, self.ask),
                {},
                files=databases[source],
                metadata={"sql_dialect": source},
                strata={"database": source},
            )
            for source in self.sources
            for name, question in self._questions(source, split)
        )

    def _questions(self, source: str, split: str) -> Iterator[tuple[str, str]]:
        """Id and text of a source's unanswerable questions."""
        found: Any = (
            questions_2024(self._newer, split)
            if source == "mimic_iv"
            else ehr_questions(self._file(source, split), source)
        )
        return ((one.id, one.question) for one in found if one.sql is None)

    def _candidates(self, split: str) -> list[Path]:
        """The files of a split, whether or not they are there."""
        names = [self._file(source, split) for source in self.sources if source != "mimic_iv"]
        own = folder_2024(self._newer) / split / "data.json"
        return [*names, own] if "mimic_iv" in self.sources else names

    def _files(self, split: str) -> list[Path]:
        check_split("EHR-Halt", split, _SPLITS)
        newer = files_2024(self._newer, split) if "mimic_iv" in self.sources else ()
        return [*newer, *(existing(file, _HOW) for file in self._candidates(split))]

    def _file(self, source: str, split: str) -> Path:
        return Path(self.path) / "ehrsql" / "dataset" / "ehrsql" / source / f"{split}.json"

    @property
    def _newer(self) -> str:
        return str(Path(self.path) / "ehrsql2024")

    def _sqlite(self, source: str) -> Path:
        if source == "mimic_iv":
            return sqlite_2024(self._newer)
        if source not in self.sqlite:
            raise ConfigError(f"dataset.sqlite: names no database for {source}; {_HOW_DATABASE}")
        return readable(database_file(self.sqlite[source], _HOW_DATABASE))
