"""BM25 over texts in memory, by an inverted index.

Source: Robertson and Zaragoza 2009, DOI 10.1561/1500000019, in the form and with the defaults of Lucene as
Anserini sets them (k1 0.9, b 0.4, no factor k1 + 1). Departure: the length of a document is exact, where
Lucene keeps one byte of it.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from components.text.analysis import terms

K1, B = 0.9, 0.4
_TIE_DECIMALS = 9


class Hit(NamedTuple):
    """A document that was found, and its score (above 0, without upper bound)."""

    id: str
    score: float


@dataclass(frozen=True, eq=False)
class Bm25:
    """An index that is only read. Made by ``over``.

    ``rows``: term -> its row; the documents of row r, and how often each has the term, stand in
    ``documents`` and ``counts`` at ``starts[r]:starts[r + 1]``; ``lengths`` in terms, (n_documents,).
    """

    ids: tuple[str, ...]
    rows: Mapping[str, int]
    starts: NDArray[np.int64]
    documents: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]

    @classmethod
    def over(cls, documents: Iterable[tuple[str, str]]) -> Self:
        """Index documents, given as id and text. Raises ValueError when two have the same id."""
        ids: list[str] = []
        rows: dict[str, int] = {}
        of_row, of_document, counts, lengths = array("i"), array("i"), array("i"), array("i")
        for number, (name, text) in enumerate(documents):
            ids.append(name)
            found = terms(text)
            lengths.append(len(found))
            for term, count in Counter(found).items():
                of_row.append(rows.setdefault(term, len(rows)))
                of_document.append(number)
                counts.append(count)
        if len(set(ids)) < len(ids):
            raise ValueError(f"two documents have the id {Counter(ids).most_common(1)[0][0]!r}")
        by_row = np.asarray(of_row, np.int32)
        order = np.argsort(by_row, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(by_row, minlength=len(rows))))).astype(np.int64)
        numbers, times = np.asarray(of_document, np.int32)[order], np.asarray(counts, np.int32)[order]
        return cls(tuple(ids), rows, starts, numbers, times, np.asarray(lengths, np.int32))

    def __len__(self) -> int:
        return len(self.ids)

    def search(self, query: str, k: int) -> list[Hit]:
        """The best ``k`` of the documents that share a term with the query: best first, ties by id as text."""
        known = {term: times for term, times in Counter(terms(query)).items() if term in self.rows}
        if k < 1 or not known:
            return []
        scores = np.zeros(len(self), np.float64)
        norms = K1 * (1 - B + B * self.lengths / self.lengths.mean())
        for term, times in known.items():
            self._add(scores, norms, self.rows[term], times)
        found = np.flatnonzero(scores)
        rounded = scores[found].round(_TIE_DECIMALS)
        if len(found) > k:
            kept = rounded >= np.partition(rounded, -k)[-k]
            found, rounded = found[kept], rounded[kept]
        hits = [(-float(score), self.ids[number]) for score, number in zip(rounded, found, strict=True)]
        return [Hit(name, -score) for score, name in sorted(hits)[:k]]

    def _add(self, scores: NDArray[np.float64], norms: NDArray[Any], row: int, times: int) -> None:
        """Add what one query term, asked ``times`` times, gives to each document that has it."""
        start, end = self.starts[row], self.starts[row + 1]
        numbers, counts = self.documents[start:end], self.counts[start:end]
        found = end - start
        idf = np.log(1 + (len(self) - found + 0.5) / (found + 0.5))
        scores[numbers] += times * idf * counts / (counts + norms[numbers])
