"""PubMedQA closed book: the questions of PQA-L without their abstracts, options A yes, B no, C maybe.

Source: Jin et al. 2019, EMNLP-IJCNLP, arXiv 1909.06146 (MIT), read in the same files as ``pubmedqa``; the form is
that of MIRAGE (Xiong et al. 2024, arXiv 2402.13178), whose sizes ClinicalAgent Bench has. 500 test questions.
"""

from dataclasses import dataclass

from components.core.types import Sample
from components.datasets.pubmedqa import CHOICES, LabelledPubMedQA, decade
from components.files.file_dataset import Part
from components.files.rows import Row
from components.files.samples import task_sample
from components.text.answers import DECISIONS, letter_of


@dataclass(frozen=True)
class CabPubMedQA(LabelledPubMedQA):
    """Questions with three options and no context; the target is a letter."""

    def identify(self, digest: str) -> str:
        """Add that the form is another."""
        return f"closed-book-{digest}"

    def sample(self, item: tuple[str, Row], part: Part) -> Sample:
        """Make a question without its abstract. Raises ConfigError."""
        pmid, row = item
        letter = letter_of(CHOICES, row.one_of("final_decision", DECISIONS))
        name, question = f"cab_pubmedqa-{pmid}", row.text("QUESTION").strip()
        return task_sample("pubmedqa", "knowledge", name, question, letter, choices=CHOICES, strata=decade(row))
