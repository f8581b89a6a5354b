"""AgentClinic: a doctor learns of a patient by questions, examinations and tests, and names the disease.

Source: Schmidgall et al. 2024, arXiv 2405.07960; ``SamuelSchmidgall/AgentClinic`` (MIT), the cases that were made from
MedQA. ``clinic_mini`` ships with the project and has the same layout, with an ``id`` and a ``specialty`` for each case.
Departure: cases with images (NEJM) are not read.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.types import Problem, Sample
from components.files.file_dataset import HOW, FolderDataset, Part, add_request
from components.files.rows import Row, json_lines
from components.rubrics.rubric import as_text
from components.text.structured import is_deeper

REQUEST = "Name the one diagnosis that explains the case: your final answer is the name of the disease alone."
_DEEPEST, _LONGEST = 12, 50_000  # levels of an object in a case; characters of a part of it
_AGE = re.compile(r"(\d{1,3})[- ](day|week|month|year)s?[- ]old", re.IGNORECASE)
_PER_YEAR = {"day": 365.25, "week": 52.18, "month": 12.0, "year": 1.0}
_SEX = re.compile(r"\b(?:(female|woman|girl)|male|man|boy)\b", re.IGNORECASE)


@dataclass(frozen=True)
class AgentClinic(FolderDataset[tuple[int, Row]]):
    """Cases in the order of the files. ``files``: split -> name of its file. The question is all that the doctor knows
    at first. Metadata: ``patient`` and ``findings``, the notes of the two roles. Raises ConfigError with file, line and
    key."""

    files: Mapping[str, str]
    title = "AgentClinic"
    how = HOW.format("agentclinic", "take its .jsonl files from github.com/SamuelSchmidgall/AgentClinic", "...")

    @property
    def split_names(self) -> Sequence[str]:
        """The splits that ``files`` names."""
        return tuple(self.files)

    splits = split_names  # also those that lack a file, which is an error

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        return {split: self.root / self.files[split]} if split in self.files else {}

    def read(self, part: Part) -> Iterable[tuple[int, Row]]:
        """Read the cases with their numbers."""
        return enumerate(json_lines(part.file), 1)

    def sample(self, item: tuple[int, Row], part: Part) -> Sample:
        """Make the sample of a case. Raises ConfigError."""
        number, row = item
        case = Row(row.place, _object(row, "OSCE_Examination"))
        patient = _object(case, "Patient_Actor")
        found = {"Examination": "Physical_Examination_Findings", "Tests": "Test_Results"}
        findings = {name: _object(case, key) for name, key in found.items()}
        name, specialty = row.optional_text("id") or f"{part.split}-{number}", row.optional_text("specialty")
        notes = {"patient": _notes(case, "Patient_Actor", patient), "findings": _notes(case, "findings", findings)}
        return Sample(
            Problem(name, add_request(case.text("Objective_for_Doctor").strip(), REQUEST)),
            target=case.text("Correct_Diagnosis").strip(),
            metadata=notes,
            strata={"specialty": specialty} if specialty else {},
            card=_card(str(patient.get("Demographics", ""))),
        )


def _object(row: Row, key: str) -> Mapping[str, Any]:
    """An object under a key. Raises ConfigError."""
    if not isinstance(value := row.values.get(key), dict):
        raise row.error(key, f"must be an object, found {value!r:.80}")
    if is_deeper(value, _DEEPEST):
        raise row.error(key, f"has more than {_DEEPEST} levels")
    return value


def _notes(row: Row, key: str, values: Mapping[str, Any]) -> str:
    """An object as lines to read. Raises ConfigError."""
    text = as_text(values).replace("_", " ")
    if len(text) > _LONGEST:
        raise row.error(key, f"has {len(text):,} characters; there may be {_LONGEST:,}")
    return text


def _card(demographics: str) -> dict[str, str | float]:
    """Age in years and sex, where they can be read."""
    card: dict[str, str | float] = {}
    if found := _AGE.search(demographics):
        card["age"] = round(int(found[1]) / _PER_YEAR[found[2].lower()], 2)
    if found := _SEX.search(demographics):
        card["sex"] = "female" if found[1] else "male"
    return card
