"""PubMedQA (PQA-L): research questions decided yes, no or maybe from an abstract without its conclusion.

Source: Jin et al. 2019, EMNLP-IJCNLP, arXiv 1909.06146 (MIT; ``pubmedqa/pubmedqa``), read in its original
files. 1,000 labelled questions, 500 of them the test set: those named in ``test_ground_truth.json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from components.answers import DECISIONS
from components.errors import ConfigError
from components.rows import Row, existing, files_digest, json_mapping, json_object
from components.types import Privacy, Problem, Sample

_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds pubmedqa/, or take data/ori_pqal.json and "
    "data/test_ground_truth.json from github.com/pubmedqa/pubmedqa and give dataset.path=..."
)


@dataclass(frozen=True)
class PubMedQA:
    """Questions with their abstract's sections as context; the target is yes, no or maybe.

    ``path`` holds the folder ``data``; ``ask`` is added to each question, which does not name the
    decisions itself. ``metadata["decisions"]`` tells scorers what may be answered. The split train is
    every labelled question outside the test set. Raises ConfigError with file, line and key.
    """

    path: str
    split: str = "test"
    ask: str = "Answer with yes, no or maybe."
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The test set, and the labelled questions outside it."""
        return ("test", "train")

    @cached_property
    def fingerprint(self) -> str:
        """Content of both files."""
        return files_digest(self._records, self._truth)

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
        question, year = f"{row.text('QUESTION')}\n{self.ask}", row.values.get("YEAR")
        decade = {"decade": f"{year[:3]}0s"} if isinstance(year, str) and len(year) == 4 else {}
        return Sample(
            Problem(f"pubmedqa-{pmid}", question.strip(), context="\n".join(row.texts("CONTEXTS"))),
            target=decision,
            metadata={"task": "pubmedqa", "decisions": DECISIONS},
            strata={"task": "pubmedqa", "dimension": "knowledge", **decade},
        )
