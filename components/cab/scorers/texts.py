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
from components.text.stemmer import STEP_2, STEP_3, final, measure, past, plural, removed, replaced, shape, short

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
    return _value(text) if _NUMBER.fullmatch(text) else None


def numbers(text: str) -> list[float]:
    """All numbers in a text in their order; dates and times do not count."""
    return [_value(match[0]) for match in _NUMBER.finditer(_DATE.sub(" ", text))]


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
    """The stem of a word in lower case, as NLTK 3.9 extends Porter 1980 (unlike ``components.text.bm25``); words of one
    or two characters stay unchanged. Tests compare it with NLTK, whose import takes two seconds."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = word[:-1] if len(word) == 4 and word.endswith("ies") else plural(word)
    word = (word[:-1] if len(word) == 4 else word[:-2]) if word.endswith("ied") else past(word, _short)
    if word.endswith("y") and len(word) > 2 and shape(word[:-1]).endswith("c"):
        word = word[:-1] + "i"
    return final(removed(replaced(_second(word), STEP_3)), _short)


def _short(word: str) -> bool:
    """Porter's condition *o, which two letters meet too: a vowel and a consonant."""
    return short(word) or shape(word) == "vc"


def _second(word: str) -> str:
    """Step 2: alli goes first and the rest once more; logi counts its l among the letters before."""
    if word.endswith("alli") and measure(word[:-4]) > 0:
        return _second(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    return replaced(word, _STEP_2_MORE)


_WORD = re.compile(r"[^\W_]+")
_NOT = re.compile(r"\bcan(?:not|['’]t)\b|n['’]t\b")
_TOKEN = re.compile(r"[a-z0-9]+")
_YES_NO = ("yes", "no")


def official(case: Case) -> Reading:
    """Whether the marked answer holds the right one, in any case; or the recall of its words."""
    reply, right = marked(case.answer), str(case.value("answer"))
    recall = case.form == "rouge1_recall"
    return Reading(rouge1_recall(right, reply) if recall else float(right.lower() in reply.lower()), reply, right)


def strict(case: Case) -> Reading:
    """Whether the concluding sentence holds the right answer in whole words; or the recall of the conclusion."""
    right = str(case.value("answer"))
    if case.form == "rouge1_recall":
        reply = conclusion(case.answer)
        return Reading(rouge1_recall(right, reply), reply, right)
    reply = sentence(case.answer)
    if plain(right) in _YES_NO and (read := parse_decision(reply, _YES_NO)) is not None:
        return Reading(float(read == plain(right)), read, right)
    parts = [part for part in right.split(",") if part.strip()] or [right]
    return Reading(float(all(holds(reply, part) for part in parts)), reply, right)


def rouge1_recall(reference: str, response: str) -> float:
    """Share of the reference's words, stemmed above 3 letters, that the response has as often as it; 0 without any."""
    expected, present = (
        Counter(_stem(token) if len(token) > 3 else token for token in _TOKEN.findall(text.lower()))
        for text in (reference, response)
    )
    return (expected & present).total() / max(1, expected.total())


_stem = lru_cache(maxsize=1 << 15)(stem)


def plain(text: str) -> str:
    """The words of a text in lower case, between single blanks; "don't" is "do not"."""
    in_full = _NOT.sub(lambda short: "can not" if short[0].startswith("can") else " not", text.casefold())
    return " ".join(_WORD.findall(in_full))


def begins(text: str, part: str) -> bool:
    """Whether a text holds another one in words, of which the last may continue: fiction in fictional."""
    return f" {plain(part)}" in f" {plain(text)}"


def holds(text: str, part: str) -> bool:
    """Whether a text holds another one in whole words; signs alone must occur as they are."""
    words = plain(part)
    return f" {words} " in f" {plain(text)} " if words else part.strip() in text
