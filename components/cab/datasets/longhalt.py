"""LongHalt: choice questions on a patient of whom the documents at hand hold nothing.

Source: task 2 of LongHealth, Adams et al. 2024, arXiv 2401.14490 (``kbressem/LongHealth``), as in ClinicalAgent Bench
(Liao et al. 2024, arXiv 2410.17657): 400 questions whose right answer is that they cannot be answered. As in the
source, every document is another patient's: what else the patient's own notes say is not marked question by question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from annotated_types import Ge

from components.cab.datasets.longhealth import CANNOT, Case, cases_of, document_folder, longhealth_file, mixed
from components.core.types import Privacy, Sample
from components.files.kept_files import content_key
from components.files.rows import files_digest
from components.files.task_samples import attached, cab_sample, check_split


@dataclass(frozen=True)
class LongHalt:
    """Questions with options A to F and a folder of documents; the target is F.

    ``path`` holds ``data/benchmark_v5.json``. The folder has documents of other patients, drawn with ``seed``, until
    they make ``min_tokens``; it is written below ``cache``, named by its content. Raises ConfigError with file, line
    and key.
    """

    path: str
    split: str = "test"
    min_tokens: Annotated[int, Ge(1)] = 22_000
    seed: int = 0
    cache: str = "outputs/.cache/longhalt"
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """All questions; there are none to learn from."""
        return ("test",)

    @cached_property
    def fingerprint(self) -> str:
        """Content of the file, and how it is mixed."""
        return content_key(f"{self.min_tokens}/{self.seed}", files_digest(longhealth_file(self.path)))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions, patient by patient. Raises ConfigError."""
        check_split("LongHalt", split, self.splits)
        cases = cases_of(longhealth_file(self.path))
        return (sample for case in cases for sample in self._samples(case, cases))

    def _samples(self, case: Case, cases: Sequence[Case]) -> Iterator[Sample]:
        """The questions on one patient, who has one folder."""
        texts = mixed(case, cases, False, self.min_tokens, f"{self.seed}/longhalt")
        files = attached(documents=document_folder(self.cache, texts), folder=case.id)
        for one in case.questions:
            yield cab_sample(
                "longhalt",
                f"longhalt-{case.id}-{one.number}",
                one.text,
                "F",
                choices={**one.choices, "F": CANNOT},
                context=case.about,
                files=files,
                metadata={"documents": len(texts), "unanswerable": one.letter},
                cluster=case.id,
            )
