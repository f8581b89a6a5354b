"""MedMentions: titles and abstracts of PubMed in which experts marked every mention of a UMLS concept.

Source: Mohan and Li 2019, AKBC (CC0 1.0; ``chanzuckerberg/MedMentions``), read in PubTator format with its official
split: 2,635 documents trng, 878 dev, 879 test. ClinicalAgent Bench asks for the names of the test documents.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.cab.datasets.pubtator import Document, documents
from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.rows import existing, files_digest
from components.files.task_samples import cab_sample, check_split

_LISTS: Mapping[str, str] = {"test": "test", "dev": "dev", "train": "trng"}
_HOW = (
    "take {name}/data/corpus_pubtator.txt.gz and the PMID lists in full/data/ from "
    "github.com/chanzuckerberg/MedMentions and give dataset.path=..."
)


@dataclass(frozen=True)
class MedMentions:
    """Documents as context; the target's answer is a list of the mentions in order, with position and concept.

    ``path`` holds ``full/data`` with the corpus and the split's PMID lists; ``corpus`` st21pv is the subset of 21
    semantic types, in ``st21pv/data``. ``ask`` is the question. Raises ConfigError with file, line or PMID.
    """

    path: str
    split: str = "test"
    corpus: Literal["full", "st21pv"] = "full"
    ask: str = "List the names of all biomedical concepts that the text mentions, in square brackets: [name, name]."
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The official split."""
        return tuple(_LISTS)

    @cached_property
    def fingerprint(self) -> str:
        """Corpus, content of it and of the evaluated split's list."""
        return f"{self.corpus}-{files_digest(self._corpus, self._list(self.split))}"

    def load(self, split: str) -> Iterator[Sample]:
        """The documents of a split in the corpus's order. Raises ConfigError."""
        return self._samples(self._corpus, self._list(split))

    def _samples(self, corpus: Path, listed: Path) -> Iterator[Sample]:
        """The documents that the list names. Raises ConfigError when one is missing."""
        missing = set(listed.read_text(encoding="utf-8").split())
        try:
            with gzip.open(corpus, "rt", encoding="utf-8") as file:
                for document in documents(file, str(corpus)):
                    if document.pmid in missing:
                        missing.discard(document.pmid)
                        yield self._sample(document)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise ConfigError(f"{corpus}: not a whole gzip file of UTF-8 text: {error}") from None
        if missing:
            raise ConfigError(f"{listed}: {min(missing)}: there is no such document in {corpus}")

    def _sample(self, document: Document) -> Sample:
        answer = [
            {"entity_name": one.text, "concept": one.concept, "types": one.types, "start": one.start, "end": one.end}
            for one in document.mentions
        ]
        return cab_sample(
            "medmentions",
            f"medmentions-{document.pmid}",
            self.ask,
            {"answer": answer},
            context=f"{document.title}\n{document.abstract}".strip(),
            metadata={"pmid": document.pmid},
        )

    @property
    def _corpus(self) -> Path:
        how = _HOW.format(name=self.corpus)
        return existing(Path(self.path) / self.corpus / "data" / "corpus_pubtator.txt.gz", how)

    def _list(self, split: str) -> Path:
        check_split("MedMentions", split, tuple(_LISTS))
        file = Path(self.path) / "full" / "data" / f"corpus_pubtator_pmids_{_LISTS[split]}.txt"
        return existing(file, _HOW.format(name=self.corpus))
