"""From text to index terms, as the standard English analysis of Lucene does it.

Source: Liao et al. 2024, arXiv 2410.17657, whose memory is searched with Lucene; word boundaries after Unicode Standard
Annex 29. Departure: no limit on the length of a token. The stemmer is Porter 1980, An algorithm for suffix stripping,
Program 14(3), 130-137, with the later changes (bli to ble, logi to log) on the author's page, where the condition of a
suffix is about the letters before it.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

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


_VOWELS = "aeiou"
_MEASURE = re.compile("v+c+")
STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a word in lower case; words of one or two characters stay as they are."""
    if len(word) <= 2:
        return word
    word = _past(plural(word))
    if word.endswith("y") and "v" in shape(word[:-1]):
        word = word[:-1] + "i"
    return _final(removed(replaced(replaced(word, STEP_2), STEP_3)))


def shape(word: str) -> str:
    """The word as v and c; a y after a consonant is a vowel."""
    found = ""
    for letter in word:
        found += "v" if letter in _VOWELS or (letter == "y" and found.endswith("c")) else "c"
    return found


def measure(word: str) -> int:
    """How often vowels are followed by consonants."""
    return len(_MEASURE.findall(shape(word)))


def doubled(word: str) -> bool:
    """Whether it ends with the same consonant twice."""
    return len(word) > 1 and word[-1] == word[-2] and shape(word).endswith("c")


def _short(word: str) -> bool:
    """Whether it ends with consonant, vowel, consonant, the last of them not w, x or y."""
    return shape(word).endswith("cvc") and word[-1] not in "wxy"


def plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Step 1b."""
    if word.endswith("eed"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    suffix = next((end for end in ("ed", "ing") if word.endswith(end)), "")
    rest = word[: len(word) - len(suffix)]
    if not suffix or "v" not in shape(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if doubled(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if measure(rest) == 1 and _short(rest) else rest


def replaced(word: str, rules: Sequence[tuple[str, str]]) -> str:
    """Steps 2 and 3: the longest suffix decides, whether its condition holds or not."""
    for suffix, other in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + other if measure(rest) > 0 else word
    return word


def removed(word: str) -> str:
    """Step 4."""
    for suffix in _STEP_4:
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and (suffix != "ion" or rest.endswith(("s", "t"))):
            return rest if measure(rest) > 1 else word
    return word


def _final(word: str) -> str:
    """Step 5."""
    if word.endswith("e"):
        m = measure(word[:-1])
        if m > 1 or (m == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure(word) > 1 else word
