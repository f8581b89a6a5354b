"""Med-HALT, reasoning tests: made-up questions, false confidence, and none of the above.

Source: Umapathi et al. 2023, CoNLL, arXiv 2307.15343 (Apache-2.0 by its data card; ``medhalt/medhalt``), read in
its original CSV. Made-up questions 1,858, false confidence 18,866; ClinicalAgent Bench (medhalt_rht) has 900.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.kept_files import content_key
from components.files.rows import Row, existing, files_digest
from components.files.seeded_draw import drawn
from components.files.tables import csv_records
from components.files.task_samples import cab_sample, check_split
from components.text.answers import letter_of, lettered

Test = Literal["fake", "fct", "nota"]
_FILES: Mapping[str, str] = {"fake": "reasoning_fake.csv", "fct": "reasoning_FCT.csv", "nota": "reasoning_nota.csv"}
_UNKNOWN = re.compile(r"\bdo not know\b", re.IGNORECASE)
# What the published scorer takes for an admission where no option says it.
_ACCEPTED = ("do not know", "don't know", "none of the above", "fiction", "irrelevant")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds medhalt/, or take medhalt/datasets/ from "
    "github.com/medhalt/medhalt and give dataset.path=...; the slice has dataset.tests=[fake] only"
)


@dataclass(frozen=True)
class MedHalt:
    """Questions with lettered options; the target is the right letter, or ``{"accepted": [...]}``.

    ``tests``: ``fake`` (nonsense; right is the option that says one does not know, and where none does any such
    words are accepted), ``fct`` (a proposed answer that may be wrong; right is the correct option), ``nota`` (right
    is "none of the above"). ``per_test`` draws so many of each, with ``seed``; ``train`` is drawn from the rest.
    ``path`` holds ``medhalt/datasets``. Raises ConfigError with file, line and key.
    """

    path: str
    split: str = "test"
    tests: tuple[Test, ...] = ("fake",)
    per_test: Annotated[int, Ge(1)] | None = None
    seed: int = 0
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if not self.tests:
            raise ConfigError("dataset.tests: at least one of fake, fct, nota is needed, found none")

    @property
    def splits(self) -> Sequence[str]:
        """Test, and what is left of the data where ``per_test`` is set."""
        return ("test",) if self.per_test is None else ("test", "train")

    @cached_property
    def fingerprint(self) -> str:
        """The tests, what is drawn of them, and the files' content."""
        files = [self._file(test) for test in self.tests]
        return content_key(*self.tests, f"{self.per_test}/{self.seed}", files_digest(*files))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, test by test. Raises ConfigError."""
        check_split("Med-HALT", split, self.splits)
        files = {test: self._file(test) for test in self.tests}
        return (_sample(row, test) for test, file in files.items() for row in self._rows(file, test, split))

    def _rows(self, file: Path, test: str, split: str) -> list[Row]:
        rows = list(csv_records(file))
        chosen = drawn(rows, self.per_test, f"{self.seed}/{test}")
        if split == "test":
            return chosen
        taken = {row.place for row in chosen}
        rest = [row for row in rows if row.place not in taken]
        return drawn(rest, self.per_test, f"{self.seed}/{test}/train")

    def _file(self, test: str) -> Path:
        return existing(Path(self.path) / "medhalt" / "datasets" / _FILES[test], _HOW)


def _sample(row: Row, test: str) -> Sample:
    """A question. Raises ConfigError."""
    choices = lettered(_options(row).values())
    question = row.text("question").strip()
    target = _admission(choices) if test == "fake" else _correct(row, choices)
    if test == "fct":
        question = f"{question}\nProposed answer, which may be wrong: {row.text('student_answer').strip()}"
    return cab_sample(
        "medhalt_rht",
        f"medhalt-{test}-{row.text('id')}",
        question,
        target,
        choices=choices,
        strata={"test": test, "source": row.text("dataset")},
    )


def _options(row: Row) -> dict[str, str]:
    """The options, written as a Python dict with the keys "0", "1", ... Raises ConfigError."""
    text = row.text("options")
    try:
        options: Any = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        options = None
    if not isinstance(options, dict) or list(options) != [str(n) for n in range(len(options))]:
        raise row.error("options", f"must be a dict with the keys '0', '1', ..., found {text!r:.80}")
    if not 2 <= len(options) <= 26 or not all(
        isinstance(option, str) and option.strip() for option in options.values()
    ):
        raise row.error("options", f"must be 2 to 26 texts, found {text!r:.80}")
    return {key: option.strip() for key, option in options.items()}


def _admission(choices: Mapping[str, str]) -> str | dict[str, Any]:
    """The letter of the option that says one does not know: the shortest, the last of those as short."""
    admitting = [letter for letter, option in choices.items() if _UNKNOWN.search(option)]
    if not admitting:
        return {"accepted": list(_ACCEPTED)}
    return min(reversed(admitting), key=lambda letter: len(choices[letter]))


def _correct(row: Row, choices: Mapping[str, str]) -> str:
    """The letter of the correct option, which the row names by text and by index. Raises ConfigError."""
    text, index = row.text("correct_answer"), row.text("correct_index").strip()
    letter = letter_of(choices, text)
    named = list(choices)[int(index)] if index.isdecimal() and int(index) < len(choices) else None
    if named is None or letter_of({named: choices[named]}, text) is None:
        raise row.error(
            "correct_index", f"must be the number of the option {text!r:.60} (option {letter}), found {index!r}"
        )
    return named
