"""EHRSQL 2024 on the open MIMIC-IV demo: questions of hospital staff, some of which no table answers.

Source: Lee et al. 2024, Clinical NLP workshop at NAACL, arXiv 2405.06673 (questions, SQL and answers CC BY 4.0;
database ODbL 1.0, from the MIMIC-IV demo 2.2, doi:10.13026/dp1f-ex47): 1,167 test questions, 233 of them unanswerable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from annotated_types import Gt

from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql2024_files import (
    SPLITS_2024,
    Question2024,
    files_2024,
    folder_2024,
    questions_2024,
    sqlite_2024,
)
from components.ehr.datasets.gold import Rows, gold_rows
from components.ehr.datasets.samples import Source, ehr_sample, gold, source
from components.files.kept_files import content_key
from components.files.rows import files_digest
from components.text.values import cells

_PUBLISHED_ROWS = 100  # an answer is cut after them
_DATABASE = "mimic_iv"


@dataclass(frozen=True)
class Ehrsql2024:
    """Questions in the file's order; the target's answer is a list of texts, None for ``unanswerable`` ones.

    ``path`` holds ``data/mimic_iv`` with a folder per split and ``mimic_iv.sqlite``. Published answers are rounded to
    3 decimals and cut after 100 rows, so where the gold SQL gives the published answer on this database, what it gives
    is the target, in full; elsewhere (tables that the database lacks) the published answer is, and
    ``metadata["executable"]`` is False. The SQL is run once, each statement for at most ``seconds``, and kept in
    ``cache``. Raises ConfigError with file, record and key.
    """

    path: str
    split: str = "test"
    unanswerable: bool = True
    cache: str = "outputs/.cache/ehrsql2024"
    seconds: Annotated[float, Gt(0)] = 120.0
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose folders are there."""
        return tuple(split for split in SPLITS_2024 if (folder_2024(self.path) / split).is_dir())

    @cached_property
    def fingerprint(self) -> str:
        """Choice and content of the evaluated split and the database."""
        return content_key(
            str(self.unanswerable), files_digest(*files_2024(self.path, self.split), sqlite_2024(self.path))
        )

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split. Raises ConfigError."""
        questions = list(questions_2024(self.path, split))
        asked_of = source(_DATABASE, sqlite_2024(self.path))
        asked = [(one.row, one.sql) for one in questions if one.sql is not None]
        results = iter(
            gold_rows(asked, "id", asked_of.file, asked_of.metadata.clock, cache=self.cache, seconds=self.seconds)
        )  # fmt: skip
        return (
            self._sample(one, split, asked_of, None if one.sql is None else next(results))
            for one in questions
            if one.sql is not None or self.unanswerable
        )

    def _sample(self, one: Question2024, split: str, asked_of: Source, rows: Rows | None) -> Sample:
        """A question; ``rows`` is what its SQL gives. Raises ConfigError."""
        found, executable = None, None
        if rows is not None and one.sql is not None:
            published = one.rows()
            executable = _is_published(rows, published)
            found = gold(one.row, "id", one.sql, cells(rows if executable else published), one.template, joins=True)
        return ehr_sample(
            asked_of,
            f"ehrsql2024-{split}-{one.id}",
            one.question,
            found,
            template=one.template,
            paraphrase=one.question,
            metadata={"executable": executable},
            cluster=one.patient,
            may_abstain=self.unanswerable,
        )


def _is_published(rows: Rows, published: list[list[Any]]) -> bool:
    """Whether these rows are the published ones but for rounding, order and the cut."""
    ours, theirs = (Counter(tuple(_rounded(cell) for cell in row) for row in one) for one in (rows, published))
    return ours == theirs or (len(published) == _PUBLISHED_ROWS and theirs <= ours)


def _rounded(cell: Any) -> str:
    """A cell as published: numbers to 3 decimals."""
    try:
        return f"{float(cell):.3f}"
    except (TypeError, ValueError):
        return str(cell)
