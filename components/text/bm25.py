"""BM25 over texts in memory, by an inverted index, and their index terms as Lucene's standard English analysis.

Source: Robertson and Zaragoza 2009, DOI 10.1561/1500000019, in the form and with the defaults of Lucene as
Anserini sets them (k1 0.9, b 0.4, no factor k1 + 1). Departure: the length of a document is exact, where
Lucene keeps one byte of it.

Word boundaries follow Unicode Standard Annex 29, without a limit on the length of a token.
"""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from components.text.stemmer import stem

K1, B = 0.9, 0.4
_TIE_DECIMALS = 9


class Hit(NamedTuple):
    """A document that was found, and its score (above 0, without upper bound)."""

    id: str
    score: float


@dataclass(frozen=True, eq=False)
class Bm25:
    """An index that is only read. Made by ``over``. ``rows``: term -> its row; the documents of row r, and how often
    each has the term, are in ``documents`` and ``counts`` at ``starts[r]:starts[r + 1]``; ``lengths`` in terms,
    (n_documents,)."""

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
            start, end = self.starts[self.rows[term]], self.starts[self.rows[term] + 1]
            numbers, counts = self.documents[start:end], self.counts[start:end]
            idf = np.log(1 + (len(self) - (end - start) + 0.5) / (end - start + 0.5))
            scores[numbers] += times * idf * counts / (counts + norms[numbers])
        found = np.flatnonzero(scores)
        rounded = scores[found].round(_TIE_DECIMALS)
        if len(found) > k:
            kept = rounded >= np.partition(rounded, -k)[-k]
            found, rounded = found[kept], rounded[kept]
        hits = [(-float(score), self.ids[number]) for score, number in zip(rounded, found, strict=True)]
        return [Hit(name, -score) for score, name in sorted(hits)[:k]]


STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
))  # fmt: skip
# Characters between letters, between digits, and between both.
_BETWEEN = {
    **dict.fromkeys("'.\u2018\u2019\u2024\ufe52\uff07\uff0e", "."),
    **dict.fromkeys(":\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a", ":"),
    **dict.fromkeys(",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b", ","),
}
_KINDS = {"Nl": "L", "L": "L", "M": "x", "Cf": "x", "Nd": "D", "Pc": "_"}  # by category, or its first letter
_RUN = "(?:[LD_]x*)+"
_TOKEN = re.compile(rf"Ix*|{_RUN}(?:(?:(?<=[Lx])[:.](?=L)|(?<=[Dx])[,.](?=D)){_RUN})*")
_POSSESSIVE = ("'s", "\u2019s", "\uff07s")


class _Shapes(dict[int, str]):
    """Character -> what it is to word boundaries: L letter, D digit, I ideograph, _ connector, x mark; a space where it
    separates words."""

    def __missing__(self, code: int) -> str:
        character, category = chr(code), unicodedata.category(chr(code))
        shape = _BETWEEN.get(character) or _KINDS.get(category) or _KINDS.get(category[0], " ")
        if category == "Lo" and unicodedata.name(character, "").startswith(("CJK", "HIRAGANA")):
            shape = "I"
        self[code] = shape
        return shape


_SHAPES = _Shapes()


def words(text: str) -> list[str]:
    """The words of a text in their order, as written; a word has a letter or digit."""
    shape = text.translate(_SHAPES)
    found = ((match.start(), match.end()) for match in _TOKEN.finditer(shape))
    return [text[start:end] for start, end in found if shape[start:end].strip("_x")]


def terms(text: str) -> list[str]:
    """The index terms of a text in order: words in lower case without possessive 's and stop words, stemmed."""
    return [term for term in map(_term, words(text)) if term]


@lru_cache(maxsize=1 << 17)
def _term(word: str) -> str:
    """The index term of a word; empty for a stop word."""
    word = word.lower()
    if word.endswith(_POSSESSIVE):
        word = word[:-2]
    return "" if word in STOP_WORDS else stem(word)
