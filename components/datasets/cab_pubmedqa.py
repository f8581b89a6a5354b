"""PubMedQA closed book: the questions of PQA-L without their abstracts, options A yes, B no, C maybe.

Source: Jin et al. 2019, EMNLP-IJCNLP, arXiv 1909.06146 (MIT), read in the same files as ``pubmedqa``; the form is
that of MIRAGE (Xiong et al. 2024, arXiv 2402.13178), whose sizes ClinicalAgent Bench has. 500 test questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from components.core.types import Privacy, Sample
from components.datasets.pubmedqa import PubMedQA
from components.text.answers import DECISIONS, letter_of, lettered

_CHOICES = lettered(DECISIONS)
_OPEN = ("decisions", "explanation")  # metadata of the open book


@dataclass(frozen=True)
class CabPubMedQA:
    """Questions with three options and no context; the target is a letter.

    ``path`` holds the folder ``data``, splits are those of ``pubmedqa``. Raises ConfigError with file, line and key.
    """

    path: str
    split: str = "test"
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The test set, and the labelled questions outside it."""
        return self._open_book.splits

    @cached_property
    def fingerprint(self) -> str:
        """Content of the files, and that the form is another."""
        return f"closed-book-{self._open_book.fingerprint}"

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split in the file's order. Raises ConfigError."""
        return (_closed(sample) for sample in self._open_book.load(split))

    @property
    def _open_book(self) -> PubMedQA:
        return PubMedQA(self.path, self.split, form="decision", ask="", privacy=self.privacy)


def _closed(sample: Sample) -> Sample:
    """The question alone, with options."""
    problem = replace(sample.problem, id=f"cab_{sample.problem.id}", choices=dict(_CHOICES), context="")
    metadata = {key: value for key, value in sample.metadata.items() if key not in _OPEN}
    return replace(sample, problem=problem, target=letter_of(_CHOICES, sample.target), metadata=metadata)
