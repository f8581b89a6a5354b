"""BioASQ task B, yes/no questions: written by biomedical experts, here without documents and snippets.

Source: Tsatsaronis et al. 2015, BMC Bioinformatics 16:138; Krithara et al. 2023, Scientific Data 10:170 (CC BY
2.5), read in the golden files of the challenges. ClinicalAgent Bench takes the 618 yes/no questions of tasks 7B
to 11B, with the options A yes, B no as in MIRAGE (Xiong et al. 2024, arXiv 2402.13178).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.rows import Row, files_digest
from components.files.tables import json_records
from components.files.task_samples import asked, cab_sample, check_split

_DECISIONS = ("yes", "no")
_CHOICES = {"A": "yes", "B": "no"}
_BATCH = re.compile(r"(\d+)B(\d+)_golden\.json")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds bioasq/, or register at bioasq.org, unpack the golden files of "
    "tasks 7B to 11B and give dataset.path=..."
)


@dataclass(frozen=True)
class BioAsq:
    """Yes/no questions; questions of other types in the same files are left out.

    ``path`` holds the folders ``Task{n}BGoldenEnriched``. ``form``: ``choice`` (A yes, B no; the target is a
    letter) or ``decision`` (``ask`` is added to the question; the target is yes or no). The split train is every
    task before 7B that is there (the slice has none). Raises ConfigError with file, record and key.
    """

    path: str
    split: str = "test"
    form: Literal["choice", "decision"] = "choice"
    ask: str = "Answer with yes or no."
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """Test, and train where there are files of earlier tasks."""
        return tuple(split for split in ("test", "train") if self._batches(split))

    @cached_property
    def fingerprint(self) -> str:
        """Form and content of the evaluated split's files."""
        return f"{self.form}-{files_digest(*self._files(self.split))}"

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, batch by batch. Raises ConfigError."""
        return (
            self._sample(row, file.name.partition("B")[0])
            for file in self._files(split)
            for row in json_records(file, "questions")
            if row.text("type") == "yesno"
        )

    def _batches(self, split: str) -> list[Path]:
        """The files of a split by task and batch."""
        found = [(match, file) for file in Path(self.path).glob("*/*.json") if (match := _BATCH.fullmatch(file.name))]
        numbered = sorted((int(match[1]), int(match[2]), file) for match, file in found)
        return [file for task, _, file in numbered if (task >= 7) == (split == "test")]

    def _files(self, split: str) -> list[Path]:
        if not self._batches("test"):
            raise ConfigError(f"no data file {self.path}/Task*BGoldenEnriched/*_golden.json; {_HOW}")
        check_split("BioASQ", split, self.splits)
        return self._batches(split)

    def _sample(self, row: Row, task: str) -> Sample:
        """A question. Raises ConfigError."""
        answer = row.text("exact_answer").strip().lower()
        if answer not in _DECISIONS:
            raise row.error("exact_answer", f"must be yes or no, found {answer!r}")
        name, question, strata = f"bioasq-{row.text('id')}", row.text("body").strip(), {"year": f"task {task}B"}
        if self.form == "decision":
            question = asked(question, self.ask)
            return cab_sample("bioasq", name, question, answer, metadata={"decisions": _DECISIONS}, strata=strata)
        letter = "AB"[_DECISIONS.index(answer)]
        return cab_sample("bioasq", name, question, letter, choices=_CHOICES, strata=strata)
