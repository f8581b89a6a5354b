"""Short texts: is the right one in the answer, and how many of its words.

======================================  ================================================================
official (the reference, quirks too)    strict
======================================  ================================================================
containment: gold inside other words    every part of gold between commas, on word boundaries; yes and no
(no in normal)                          as the decision that the answer takes, where one can be read
the marked answer ends at the first     at the end of its sentence (containment) or of the text (ROUGE),
full stop, also inside a number         so that 0.5 mg stays whole
======================================  ================================================================

ROUGE-1 recall is that of package ``rouge-score`` with its stemmer (Lin 2004); tests hold it against it.
"""

import re
from collections import Counter
from functools import lru_cache

from components.cab.scorers.case import Case, Reading
from components.cab.scorers.stems import stem
from components.text.answers import conclusion, marked, parse_decision, sentence

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
    """The same, where the last word of the part may go on: fiction in fictional."""
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
