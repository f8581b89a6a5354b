"""Med-HALT, reasoning tests: made-up questions, false confidence, and none of the above.

Source: Umapathi et al. 2023, CoNLL, arXiv 2307.15343 (Apache-2.0 by its data card; ``medhalt/medhalt``), read in
its original CSV. Made-up questions 1,858, false confidence 18,866; ClinicalAgent Bench (medhalt_rht) has 900.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.file_dataset import FileDataset, Part
from components.files.folders import content_key
from components.files.rows import Row, csv_records
from components.files.samples import draw_split, task_sample
from components.text.answers import letter_of, lettered

Test = Literal["fake", "fct", "nota"]
_FILES: Mapping[Test, str] = {"fake": "reasoning_fake.csv", "fct": "reasoning_FCT.csv", "nota": "reasoning_nota.csv"}
_UNKNOWN = re.compile(r"\bdo not know\b", re.IGNORECASE)
# What the published scorer takes for an admission where no option has it.
_ACCEPTED = ("do not know", "don't know", "none of the above", "fiction", "irrelevant")


@dataclass(frozen=True)
class MedHalt(FileDataset[Row]):
    """Questions with lettered options; the target is the right letter, or ``{"accepted": [...]}``.

    ``tests``: ``fake`` (nonsense; right is the option that one does not know, and where there is none any such
    words are accepted), ``fct`` (a proposed answer that may be wrong; right is the correct option), ``nota`` (right
    is "none of the above"). ``per_test`` chooses so many of each, with ``seed``; ``train`` is chosen from the rest.
    ``path`` holds ``medhalt/datasets``. Raises ConfigError with file, line and key.
    """

    path: str
    tests: tuple[Test, ...] = ("fake",)
    per_test: Annotated[int, Ge(1)] | None = None
    seed: int = 0
    title = "Med-HALT"
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds medhalt/, or take medhalt/datasets/ from "
        "github.com/medhalt/medhalt and give dataset.path=...; the slice has dataset.tests=[fake] only"
    )

    def __post_init__(self) -> None:
        if not self.tests:
            raise ConfigError("dataset.tests: at least one of fake, fct, nota is needed, found none")

    @property
    def split_names(self) -> Sequence[str]:
        """Test, and what is left of the data where ``per_test`` is set."""
        return ("test",) if self.per_test is None else ("test", "train")

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per test."""
        return {test: Path(self.path) / "medhalt" / "datasets" / _FILES[test] for test in self.tests}

    def identify(self, digest: str) -> str:
        """Add the tests and what is chosen of them."""
        return content_key(*self.tests, f"{self.per_test}/{self.seed}", digest)

    def read(self, part: Part) -> Iterable[Row]:
        """Read the chosen questions of a test."""
        return draw_split(list(csv_records(part.file)), self.per_test, f"{self.seed}/{part.name}", part.split)

    def sample(self, item: Row, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        choices = lettered(_options(item))
        question = item.text("question").strip()
        if part.name == "fct":
            question += f"\nProposed answer, which may be wrong: {item.text('student_answer').strip()}"
        return task_sample(
            "medhalt_rht",
            "trust",
            f"medhalt-{part.name}-{item.text('id')}",
            question,
            _admission(choices) if part.name == "fake" else _correct(item, choices),
            choices=choices,
            strata={"test": part.name, "source": item.text("dataset")},
        )


def _options(row: Row) -> list[str]:
    """The options, written as a Python dict with the keys "0", "1", ... Raises ConfigError."""
    text = row.text("options")
    try:
        options: Any = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        options = None
    if not isinstance(options, dict) or list(options) != [str(n) for n in range(len(options))]:
        raise row.error("options", f"must be a dict with the keys '0', '1', ..., found {text!r:.80}")
    texts = list(options.values())
    if not 2 <= len(texts) <= 26 or not all(isinstance(option, str) and option.strip() for option in texts):
        raise row.error("options", f"must be 2 to 26 texts, found {text!r:.80}")
    return [option.strip() for option in texts]


def _admission(choices: Mapping[str, str]) -> str | dict[str, Any]:
    """The letter of the option that one does not know: the shortest, the last of those as short."""
    admitting = [letter for letter, option in choices.items() if _UNKNOWN.search(option)]
    if not admitting:
        return {"accepted": list(_ACCEPTED)}
    return min(reversed(admitting), key=lambda letter: len(choices[letter]))


def _correct(row: Row, choices: Mapping[str, str]) -> str:
    """The letter of the correct option, which the row names by text and by index. Raises ConfigError."""
    text, index = row.text("correct_answer"), row.text("correct_index").strip()
    named = list(choices)[int(index)] if index.isdecimal() and int(index) < len(choices) else None
    if named is None or letter_of({named: choices[named]}, text) is None:
        place = f"{text!r:.60} (option {letter_of(choices, text)})"
        raise row.error("correct_index", f"must be the number of the option {place}, found {index!r}")
    return named
