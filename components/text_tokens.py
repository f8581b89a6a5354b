"""Words of an English text as NLTK's ``word_tokenize`` finds them, without its data packages.

Source: NLTK 3.9 (``NLTKWordTokenizer`` after a Punkt sentence splitter). Lower-case texts without
unusual marks, which are nearly all, are split here by the same rules in a thirtieth of the time (tests
compare the two); anything else goes to NLTK itself. Departure: Punkt knows only the abbreviations
listed here, since the trained model would have to be downloaded, so that it lacks the words' usual
capitalisation, which matters only where a number, an initial or an abbreviation ends a sentence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from typing import Any

_STATES = "ala ariz calif colo conn ct fla ga kan ky mich minn nev okla ore pa tenn va vt wis"
_TITLES = "adm capt col dr gen gov lt maj messrs mr mrs ms prof rep reps rev sen sgt sr jr st"
_TIMES = "jan feb mar apr aug sep sept oct nov dec mon tues wed thurs fri a.m p.m yr"
_OTHERS = "ave bros cie co corp inc ltd vs etc e.g i.e u.s u.k u.n u.s.a d.c n.y m.d ph.d ft sec tel"
ABBREVIATIONS = frozenset(f"{_STATES} {_TITLES} {_TIMES} {_OTHERS}".split())

# What the quick way understands: words with inner marks, brackets, double quotes, and periods that end a
# word or stand inside one.
_PLAIN = re.compile(
    r"""(?:[a-zà-öø-ÿ0-9/+\-=;,:?()\[\]% "]++|(?<=[a-zà-öø-ÿ0-9%)\]"])\.(?=[a-zà-öø-ÿ0-9 ]|\Z)"""
    r"""|(?<=[a-zà-öø-ÿ])'s(?=[ ;?)\]]|[.,:]?(?: |\Z)))*+\Z"""
)
# What it does not: marks in unusual places, and words that NLTK cuts in two.
_HARD = re.compile(
    r'[",:.?](?:(?<=[,:])(?:"|[,:]| *\.)|(?<=\.) +(?:[;,:?)\]]|"(?![a-z]))|(?<=")(?:"|[^ ]*[(\[])'
    r'|(?<=\?)(?!\Z| |"(?: |\Z)))'
)
_CUT = ("--", "gimme", "gonna", "gotta", "lemme", "wanna")
_CANNOT = re.compile(r"(?:^|(?<=[ (\[]))cannot(?=[ ;?)\]]|[.,:]?(?: |\Z))")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.\-]*\Z")
_INNER = re.compile(r"[(\[;:?)\]]|``|''")
_STARTS = re.compile(r'(?:^|(?<=[ (\[]))"')
_MARKS = re.compile(r"[;%?()\[\]]|[,:](?!\d)|``|''|(?<=\w)'(?=s)")


@lru_cache(maxsize=1)
def _nltk() -> Any:
    """NLTK's sentence splitter and word tokenizer."""
    punkt = import_module("nltk.tokenize.punkt")
    parameters = punkt.PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return punkt.PunktSentenceTokenizer(parameters), import_module("nltk.tokenize.destructive").NLTKWordTokenizer()


def by_nltk(text: str) -> list[str]:
    """The words of any text, by NLTK itself; slow."""
    sentences, tokenizer = _nltk()
    return [word for sentence in sentences.tokenize(text) for word in tokenizer.tokenize(sentence)]


def _is_plain(text: str) -> bool:
    """Whether the quick way gives what NLTK gives."""
    if not _PLAIN.match(text) or _HARD.search(text) or any(cut in text for cut in _CUT):
        return False
    return "cannot" not in text or text.count("cannot") == len(_CANNOT.findall(text))


def _ends(word: str, following: str) -> bool:
    """Whether a period after the word, before the following one, ends a sentence (Punkt's rules)."""
    core = _INNER.split(word)[-1].lstrip(",-")
    if not core or "'" in core:
        return True
    if core in ABBREVIATIONS or core.rsplit("-", 1)[-1] in ABBREVIATIONS:
        return False
    if _NUMBER.match(core) or (len(core) == 1 and core.isalpha()):
        return not following[0].islower()
    return True


def _spaced(mark: re.Match[str]) -> str:
    """A mark as a word of its own; an apostrophe begins one."""
    return " '" if mark[0] == "'" else f" {mark[0]} "


def _quick(text: str) -> list[str]:
    """The words of a plain text."""
    text = _STARTS.sub(" `` ", text).replace('"', " '' ")
    chunks = (_CANNOT.sub("can not", text) if "cannot" in text else text).split()
    words: list[str] = []
    last = len(chunks) - 1
    for index, chunk in enumerate(chunks):
        period = chunk.endswith(".") and (index == last or _ends(chunk[:-1], chunks[index + 1]))
        if period:
            chunk = chunk[:-1]
        words += [chunk] if chunk.isalnum() else _MARKS.sub(_spaced, chunk).split()
        if period:
            words.append(".")
    return words


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words and marks of a text in lower case, in order."""
    lowered = text.lower()
    if _is_plain(lowered):
        return tuple(_quick(lowered))
    return tuple(by_nltk(lowered))
