"""PubMedQA (PQA-L): research questions decided yes, no or maybe from an abstract without its conclusion.

Source: Jin et al. 2019, EMNLP-IJCNLP, arXiv 1909.06146 (MIT; ``pubmedqa/pubmedqa``), read in its original
files. 1,000 labelled questions, 500 of them the test set: those named in ``test_ground_truth.json``. As options
A, B, C the decisions are in the form of MedAgents (Tang et al. 2024, arXiv 2311.10537), closed book in that of MIRAGE
(Xiong et al. 2024, arXiv 2402.13178), whose sizes ClinicalAgent Bench has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.files.file_dataset import HOW, OneFile, Part, add_request, explanation, task_sample
from components.files.rows import Row, json_mapping, json_object, require_file
from components.text.answers import DECISIONS, letter_of, letter_options

CHOICES = letter_options(DECISIONS)


@dataclass(frozen=True)
class LabelledPubMedQA(OneFile[tuple[str, Row]]):
    """The labelled questions by number; the split train is every one outside the test set. ``path`` holds the folder
    ``data``. Raises ConfigError with file, line and key."""

    title = "PubMedQA"
    part = "pubmedqa"
    file = "data/ori_pqal.json"
    split_names = ("test", "train")
    how = HOW.format(
        "pubmedqa", "take data/ori_pqal.json and data/test_ground_truth.json from github.com/pubmedqa/pubmedqa", "..."
    )

    def contents(self, split: str) -> Sequence[Path]:
        """Name both files."""
        return [*super().contents(split), self._truth]

    def read(self, part: Part) -> Iterable[tuple[str, Row]]:
        """Read the questions whose number is, or is not, in the truth file. Raises ConfigError."""
        truth, found = json_mapping(self._truth), list[tuple[str, Row]]()
        missing = set(truth.values)
        for pmid, row in json_object(part.file):
            missing.discard(pmid)
            if (pmid in truth.values) == (part.split == "test"):
                decision = row.one_of("final_decision", DECISIONS)
                if truth.values.get(pmid, decision) != decision:
                    raise row.error("final_decision", f"is {decision!r}, but {truth.values[pmid]!r} in {truth.place}")
                found.append((pmid, row))
        if missing:
            raise ConfigError(f"{truth.place}: {min(missing)}: there is no such question in {part.file}")
        return found

    @property
    def _truth(self) -> Path:
        return require_file(Path(self.path) / "data" / "test_ground_truth.json", self.how)


@dataclass(frozen=True)
class PubMedQA(LabelledPubMedQA):
    """Questions with their abstract's sections as context. ``form``: ``choice`` (A yes, B no, C maybe; the target is a
    letter) or ``decision`` (``ask`` is added to the question, which does not name the decisions itself; the target is
    yes, no or maybe, and ``metadata["decisions"]`` lists for scorers what may be answered).
    ``metadata["explanation"]``, the abstract's conclusion, is for demonstrations."""

    form: Literal["choice", "decision"] = "choice"
    ask: str = "Answer with yes, no or maybe."

    def identify(self, digest: str) -> str:
        """Add the form when it is choice."""
        return f"choice-{digest}" if self.form == "choice" else digest

    def sample(self, item: tuple[str, Row], part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        pmid, row = item
        decision, choice = row.one_of("final_decision", DECISIONS), self.form == "choice"
        decisions = {} if choice else {"decisions": DECISIONS}
        return Sample(
            Problem(
                f"pubmedqa-{pmid}",
                add_request(row.text("QUESTION"), "" if choice else self.ask),
                dict(CHOICES) if choice else {},
                context="\n".join(row.texts("CONTEXTS")),
            ),
            target=letter_of(CHOICES, decision) if choice else decision,
            metadata={"task": "pubmedqa", **decisions, **explanation(row, "LONG_ANSWER")},
            strata={"task": "pubmedqa", "dimension": "knowledge", **decade(row)},
        )


def decade(row: Row) -> dict[str, str]:
    """Read the decade of publication as a stratum, where the row has a year."""
    year = row.values.get("YEAR")
    return {"decade": f"{year[:3]}0s"} if isinstance(year, str) and len(year) == 4 else {}


@dataclass(frozen=True)
class CabPubMedQA(LabelledPubMedQA):
    """Questions with three options and no context; the target is a letter."""

    settings = "closed-book"

    def sample(self, item: tuple[str, Row], part: Part) -> Sample:
        """Make a question without its abstract. Raises ConfigError."""
        pmid, row = item
        letter = letter_of(CHOICES, row.one_of("final_decision", DECISIONS))
        name, question = f"cab_pubmedqa-{pmid}", row.text("QUESTION").strip()
        return task_sample("pubmedqa", "knowledge", name, question, letter, choices=CHOICES, strata=decade(row))
