"""Short texts: is the right one in the answer, and how many of its words.

======================================  ================================================================
official (the reference, quirks too)    strict
======================================  ================================================================
containment: gold inside other words    every part of gold between commas, on word boundaries; yes and no
(no in normal)                          as the decision that the answer takes, where one can be read
the marked answer ends at the first     at the end of its sentence (containment) or of the text (ROUGE),
full stop, also inside a number         so that 0.5 mg stays whole
======================================  ================================================================

ROUGE-1 recall is that of package ``rouge-score`` with its stemmer (Lin 2004); tests compare the two.
"""

import re
from collections import Counter
from functools import lru_cache

from components.cab.scorers.case import Case, Reading
from components.text.answers import conclusion, marked, parse_decision, sentence
from components.text.bm25 import STEP_2, STEP_3, doubled, measure, plural, removed, replaced, shape

_DATE = re.compile(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}(?:[ T]\d\d?:\d\d(?::\d\d)?)?|\d\d?:\d\d(?::\d\d)?")
# Not part of a word (kg/m2, CHA2DS2), an exponent (m^2), a unit (min/1.73 m2) or another number; a unit may follow
# at once.
_NUMBER = re.compile(
    r"(?<![\w.^])(?<![a-z]/)(?:(?<![)\]])[-+−])?(?:\d{1,3}+(?:,\d{3}(?!\d))++|\d++)(?:\.\d++)?(?:e[-+]?\d{1,3}(?!\w))?"
    r"|(?<![\w.^])(?<![a-z]/)(?:(?<![)\]])[-+−])?\.\d++",
    re.IGNORECASE,
)


def number(text: str) -> float | None:
    """The number that a whole text is; None for any other text."""
    text = text.strip()
    found = _NUMBER.fullmatch(text)
    return _value(text) if found else None


def numbers(text: str) -> list[float]:
    """All numbers in a text in their order; dates and times do not count."""
    return [_value(found[0]) for found in _NUMBER.finditer(_DATE.sub(" ", text))]


def _value(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


_KEPT = ("sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed")
_IRREGULAR = {
    "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "innings": "inning", "outings": "outing",
    "cannings": "canning",
    **dict(zip(_KEPT, _KEPT, strict=True)),
}  # fmt: skip
_STEP_2_MORE = (*(rule for rule in STEP_2 if rule[0] != "logi"), ("fulli", "ful"))


def stem(word: str) -> str:
    """The stem of a word in lower case, as NLTK 3.9 extends Porter 1980; words of one or two characters stay unchanged.

    Differs from ``components.text.bm25`` in these extensions. Tests compare it with NLTK, whose import takes two
    seconds.
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = word[:-1] if len(word) == 4 and word.endswith("ies") else plural(word)
    word = _past(word)
    if word.endswith("y") and len(word) > 2 and shape(word[:-1]).endswith("c"):
        word = word[:-1] + "i"
    return _final(removed(replaced(_second(word), STEP_3)))


def _short(word: str) -> bool:
    """Porter's condition *o, which two letters meet too: a vowel and a consonant."""
    form = shape(word)
    return (form.endswith("cvc") and word[-1] not in "wxy") or form == "vc"


def _past(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    ends = (end for end in ("ed", "ing") if word.endswith(end) and "v" in shape(word[: -len(end)]))
    if (suffix := next(ends, None)) is None:
        return word
    rest = word[: -len(suffix)]
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if doubled(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if measure(rest) == 1 and _short(rest) else rest


def _second(word: str) -> str:
    """Step 2: alli goes first and the rest once more; logi counts its l among the letters before."""
    if word.endswith("alli") and measure(word[:-4]) > 0:
        return _second(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    return replaced(word, _STEP_2_MORE)


def _final(word: str) -> str:
    """Step 5."""
    if word.endswith("e"):
        m = measure(word[:-1])
        if m > 1 or (m == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure(word[:-1]) > 1 else word


_WORD = re.compile(r"[^\W_]+")
_NOT = re.compile(r"\bcan(?:not|['’]t)\b|n['’]t\b")
_TOKEN = re.compile(r"[a-z0-9]+")
_YES_NO = ("yes", "no")


def official_contains(case: Case) -> Reading:
    """Whether the marked answer holds the right one, in any case."""
    said, right = marked(case.answer), str(case.value("answer"))
    return Reading(float(right.lower() in said.lower()), said, right)


def strict_contains(case: Case) -> Reading:
    """Whether the concluding sentence holds the right answer in whole words."""
    said, right = sentence(case.answer), str(case.value("answer"))
    if plain(right) in _YES_NO and (read := parse_decision(said, _YES_NO)) is not None:
        return Reading(float(read == plain(right)), read, right)
    parts = [part for part in right.split(",") if part.strip()] or [right]
    return Reading(float(all(holds(said, part) for part in parts)), said, right)


def official_recall(case: Case) -> Reading:
    """ROUGE-1 recall of the marked answer."""
    said, right = marked(case.answer), str(case.value("answer"))
    return Reading(rouge1_recall(right, said), said, right)


def strict_recall(case: Case) -> Reading:
    """ROUGE-1 recall of the conclusion."""
    said, right = conclusion(case.answer), str(case.value("answer"))
    return Reading(rouge1_recall(right, said), said, right)


def rouge1_recall(reference: str, response: str) -> float:
    """Share of the reference's stemmed words that the response has, each as often as there; 0 without words."""
    expected, found = Counter(_tokens(reference)), Counter(_tokens(response))
    return (expected & found).total() / max(1, expected.total())


def plain(text: str) -> str:
    """The words of a text in lower case, between single blanks; "don't" is "do not"."""
    return " ".join(_WORD.findall(_NOT.sub(_full, text.casefold())))


def begins(text: str, part: str) -> bool:
    """The same, where the last word of the part may continue: fiction in fictional."""
    return f" {plain(part)}" in f" {plain(text)}"


def _full(found: re.Match[str]) -> str:
    """A contraction in full."""
    return "can not" if found[0].startswith("can") else " not"


def holds(text: str, part: str) -> bool:
    """Whether a text holds another one in whole words; signs alone must occur as they are."""
    words = plain(part)
    return f" {words} " in f" {plain(text)} " if words else part.strip() in text


def _tokens(text: str) -> list[str]:
    """Runs of ASCII letters and digits; those of more than three characters stemmed."""
    return [_stemmed(token) if len(token) > 3 else token for token in _TOKEN.findall(text.lower())]


@lru_cache(maxsize=1 << 15)
def _stemmed(word: str) -> str:
    return stem(word)
