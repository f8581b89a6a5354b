"""PubMedQA (PQA-L): research questions decided yes, no or maybe from an abstract without its conclusion.

Source: Jin et al. 2019, EMNLP-IJCNLP, arXiv 1909.06146 (MIT; ``pubmedqa/pubmedqa``), read in its original
files. 1,000 labelled questions, 500 of them the test set: those named in ``test_ground_truth.json``. As options
A, B, C the decisions are in the form of MedAgents (Tang et al. 2024, arXiv 2311.10537).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.choice_rows import explanation_of
from components.files.rows import Row, existing, files_digest, json_mapping, json_object
from components.files.task_samples import asked
from components.text.answers import DECISIONS, letter_of, lettered

_CHOICES = lettered(DECISIONS)
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds pubmedqa/, or take data/ori_pqal.json and "
    "data/test_ground_truth.json from github.com/pubmedqa/pubmedqa and give dataset.path=..."
)


@dataclass(frozen=True)
class PubMedQA:
    """Questions with their abstract's sections as context.

    ``path`` holds the folder ``data``. ``form``: ``choice`` (A yes, B no, C maybe; the target is a letter) or
    ``decision`` (``ask`` is added to the question, which does not name the decisions itself; the target is yes, no
    or maybe, and ``metadata["decisions"]`` tells scorers what may be answered). ``metadata["explanation"]``, the
    abstract's conclusion, is for demonstrations. The split train is every labelled question outside the test set.
    Raises ConfigError with file, line and key.
    """

    path: str
    split: str = "test"
    form: Literal["choice", "decision"] = "choice"
    ask: str = "Answer with yes, no or maybe."
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The test set, and the labelled questions outside it."""
        return ("test", "train")

    @cached_property
    def fingerprint(self) -> str:
        """Content of both files, and the form when it is choice."""
        content = files_digest(self._records, self._truth)
        return f"choice-{content}" if self.form == "choice" else content

    @property
    def _records(self) -> Path:
        return existing(Path(self.path) / "data" / "ori_pqal.json", _HOW)

    @property
    def _truth(self) -> Path:
        return existing(Path(self.path) / "data" / "test_ground_truth.json", _HOW)

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split in the file's order. Raises ConfigError."""
        if split not in self.splits:
            raise ConfigError(f"dataset.split: PubMedQA has {', '.join(self.splits)}; found {split!r}")
        return self._samples(self._records, json_mapping(self._truth), split == "test")

    def _samples(self, records: Path, truth: Row, test: bool) -> Iterator[Sample]:
        """Samples whose number is, or is not, in the truth file. Raises ConfigError."""
        missing = set(truth.values)
        for pmid, row in json_object(records):
            missing.discard(pmid)
            if (pmid in truth.values) == test:
                yield self._sample(pmid, row, truth)
        if missing:
            raise ConfigError(f"{truth.place}: {min(missing)}: there is no such question in {records}")

    def _sample(self, pmid: str, row: Row, truth: Row) -> Sample:
        """A question. Raises ConfigError when a key is wrong or the two files disagree."""
        decision = row.text("final_decision")
        if decision not in DECISIONS:
            raise row.error("final_decision", f"must be one of {', '.join(DECISIONS)}, found {decision!r}")
        if truth.values.get(pmid, decision) != decision:
            raise row.error("final_decision", f"is {decision!r}, but {truth.values[pmid]!r} in {truth.place}")
        choice, year = self.form == "choice", row.values.get("YEAR")
        decade = {"decade": f"{year[:3]}0s"} if isinstance(year, str) and len(year) == 4 else {}
        decisions = {} if choice else {"decisions": DECISIONS}
        return Sample(
            Problem(
                f"pubmedqa-{pmid}",
                asked(row.text("QUESTION"), "" if choice else self.ask),
                dict(_CHOICES) if choice else {},
                context="\n".join(row.texts("CONTEXTS")),
            ),
            target=letter_of(_CHOICES, decision) if choice else decision,
            metadata={"task": "pubmedqa", **decisions, **explanation_of(row, "LONG_ANSWER")},
            strata={"task": "pubmedqa", "dimension": "knowledge", **decade},
        )
