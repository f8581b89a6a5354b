"""LongHealthQA: choice questions on a patient's record, hidden among the documents of other patients.

Source: LongHealth, Adams et al. 2024, arXiv 2401.14490 (``kbressem/LongHealth``; 20 patients, 400 questions), in the
form of ClinicalAgent Bench (Liao et al. 2024, arXiv 2410.17657): contexts above 22,000 tokens, 200 test questions
and 200 others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from annotated_types import Ge

from components.cab.datasets.longhealth import Case, cases_of, document_folder, longhealth_file, mixed
from components.core.types import Privacy, Sample
from components.files.kept_files import content_key
from components.files.rows import files_digest
from components.files.seeded_draw import drawn
from components.files.task_samples import attached, cab_sample, check_split

_SPLITS = ("test", "train")


@dataclass(frozen=True)
class LongHealthQa:
    """Questions with options A to E and a folder of documents; the target is the right letter.

    ``path`` holds ``data/benchmark_v5.json``. The folder has all documents of the patient and, until they make
    ``min_tokens``, some of other patients, drawn with ``seed``; it is written below ``cache``, named by its content.
    Which half of the patients is ``test`` is drawn too, so the splits share none. Raises ConfigError with file, line
    and key.
    """

    path: str
    split: str = "test"
    min_tokens: Annotated[int, Ge(0)] = 22_000
    seed: int = 0
    cache: str = "outputs/.cache/longhealthqa"
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """Half of the patients each."""
        return _SPLITS

    @cached_property
    def fingerprint(self) -> str:
        """Content of the file, and how it is mixed."""
        return content_key(f"{self.min_tokens}/{self.seed}", files_digest(longhealth_file(self.path)))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, patient by patient. Raises ConfigError."""
        check_split("LongHealthQA", split, _SPLITS)
        cases = cases_of(longhealth_file(self.path))
        test = {case.id for case in drawn(cases, (len(cases) + 1) // 2, f"{self.seed}/test")}
        chosen = [case for case in cases if (case.id in test) == (split == "test")]
        return (sample for case in chosen for sample in self._samples(case, cases))

    def _samples(self, case: Case, cases: Sequence[Case]) -> Iterator[Sample]:
        """The questions on one patient, who has one folder."""
        texts = mixed(case, cases, True, self.min_tokens, f"{self.seed}/longhealthqa")
        files = attached(documents=document_folder(self.cache, texts), folder=case.id)
        for one in case.questions:
            yield cab_sample(
                "longhealthqa",
                f"longhealthqa-{case.id}-{one.number}",
                one.text,
                one.letter,
                choices=one.choices,
                context=case.about,
                files=files,
                metadata={"documents": len(texts)},
                cluster=case.id,
            )
