"""From text to index terms, as the standard English analysis of Lucene does it.

Source: Liao et al. 2024, arXiv 2410.17657, whose memory is searched with Lucene; word boundaries after
Unicode Standard Annex 29. Departure: no limit on the length of a token.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from components.text.porter_stemmer import stem

STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
))  # fmt: skip
_BETWEEN_BOTH = frozenset("'.\u2018\u2019\u2024\ufe52\uff07\uff0e")
_BETWEEN_LETTERS = frozenset(":\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a")
_BETWEEN_DIGITS = frozenset(",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b")
_RUN = "(?:[LD_]x*)+"
_TOKEN = re.compile(rf"Ix*|{_RUN}(?:(?:(?<=[Lx])[:.](?=L)|(?<=[Dx])[,.](?=D)){_RUN})*")
_POSSESSIVE = ("'s", "\u2019s", "\uff07s")


class _Shapes(dict[int, str]):
    """Character -> what it is to word boundaries: L letter, D digit, I ideograph, _ connector, x mark."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = shape = _shape(character, unicodedata.category(character))
        return shape


def _shape(character: str, category: str) -> str:
    """One letter for one character; everything that separates words is a space."""
    if character in _BETWEEN_BOTH:
        return "."
    if character in _BETWEEN_LETTERS:
        return ":"
    if character in _BETWEEN_DIGITS:
        return ","
    if category == "Lo" and unicodedata.name(character, "").startswith(("CJK", "HIRAGANA")):
        return "I"
    if category[0] == "L" or category == "Nl":
        return "L"
    if category[0] == "M" or category == "Cf":
        return "x"
    return {"Nd": "D", "Pc": "_"}.get(category, " ")


_SHAPES = _Shapes()


def words(text: str) -> list[str]:
    """The words of a text in their order, as they are written; what has no letter or digit is none."""
    shape = text.translate(_SHAPES)
    found = ((match.start(), match.end()) for match in _TOKEN.finditer(shape))
    return [text[start:end] for start, end in found if shape[start:end].strip("_x")]


def terms(text: str) -> list[str]:
    """The index terms of a text in their order: words in lower case without possessive 's, stemmed,
    stop words left out."""
    return [term for term in map(_term, words(text)) if term]


@lru_cache(maxsize=1 << 17)
def _term(word: str) -> str:
    """The index term of a word; empty for a stop word."""
    word = word.lower()
    if word.endswith(_POSSESSIVE):
        word = word[:-2]
    return "" if word in STOP_WORDS else stem(word)
