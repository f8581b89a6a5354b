"""Rules that find medical phrases and abbreviations without a trained model.

Phrases are runs of words between stop words, verbs and punctuation, selected when their last word is a medical head or
when a word in them has a medical form. Abbreviations: Schwartz & Hearst 2003, doi 10.1142/9789812776303_0042.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from pydantic import TypeAdapter

from components.text.structured import read_yaml
from components.tools.backends import DATA

# The name of a gene or an abbreviation: CFTR, HbA1c, p.Tyr263Cys.
_CODE = re.compile(r"(?=.*[A-Z].*[A-Z\d])(?=.*[A-Za-z])[A-Za-z\d.]{2,12}")
_TOKEN = re.compile(
    r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|m|re|ve|ll|d)\b|\d+(?:[.,]\d+)+"
    r"|\b(?:\w\.)+\w+|\w*[^\W\d_]-\d\w*|\w+|\S|\s{2,}|[^\S ]",
    re.IGNORECASE,
)
_REACH = 300  # characters before an abbreviation in which its long form is looked for
_SHORT = re.compile(r"\(\s*([A-Za-z][A-Za-z\d/-]{1,9})\s*\)")


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of a text."""

    start: int
    end: int


class Word(NamedTuple):
    """A token of a text, its characters ``start`` to ``end`` (exclusive); ``spaced``: white space follows it."""

    text: str
    start: int
    end: int
    spaced: bool


@dataclass(frozen=True)
class Rules:
    """The shipped word lists, in lower case; ``breaks`` with the stop words."""

    heads: frozenset[str]
    endings: tuple[str, ...]
    beginnings: tuple[str, ...]
    breaks: frozenset[str]
    general: frozenset[str]

    def medical(self, words: Sequence[Word]) -> bool:
        """Whether the words, which follow each other, are a medical phrase."""
        texts = [word.text.lower() for word in words]
        for text in (texts[-1], " ".join(texts[-2:])):
            singular = text[:-3] + "y" if text.endswith("ies") else text.removesuffix("es")
            if not self.heads.isdisjoint((text, text.removesuffix("s"), singular)):
                return True
        return any(
            (len(text) > 5 and text.endswith(self.endings))
            or text.startswith(self.beginnings)
            or _CODE.fullmatch(as_is)
            for text, as_is in zip(texts, (word.text for word in words), strict=True)
        )

    def weak(self, word: Word) -> bool:
        """Whether a word cannot begin or end a phrase."""
        text = word.text
        return text.lower() in self.general or text == "-" or text.isdigit() or len(text) < 2


@lru_cache(maxsize=1)
def rules() -> Rules:
    """The shipped rules."""
    lists = read_yaml(DATA / "entity_rules.yaml")
    lists["breaks"] += lists.pop("stop_words")
    return TypeAdapter(Rules).validate_python(lists)


def split(text: str) -> list[Word]:
    """The tokens of a text: words, numbers and single signs; white space other than one blank, "n't" and "'s" too."""
    matches = ((match, match.end()) for match in _TOKEN.finditer(text))
    return [Word(match[0], match.start(), end, text[end : end + 1].isspace()) for match, end in matches]


def phrases(words: Sequence[Word], known: Rules) -> Iterator[Span]:
    """The medical phrases among a text's tokens, without general words, figures and hyphens at their ends."""
    for run in _runs(words, known):
        while run and known.weak(run[0]):
            run.pop(0)
        while run and known.weak(run[-1]) and not (run[-1].text.isdigit() and len(run) > 1):
            run.pop()
        if run and known.medical(run):
            yield Span(run[0].start, run[-1].end)


def abbreviations(text: str) -> dict[str, Span]:
    """Abbreviation -> where its long form is before ``(abbreviation)``; the first one counts."""
    spans: dict[str, Span] = {}
    for match in _SHORT.finditer(text):
        short = match[1]
        most = min(len(short) + 5, 2 * len(short))
        first = max(match.start() - _REACH, 0)
        before = text[first : match.start()].rstrip()
        sentence = max(before.rfind(mark) for mark in (". ", "; ", "\n", "(")) + 1
        starts = [place.start() for place in re.finditer(r"\S+", before[sentence:])][-most:]
        if short not in spans and starts and (long := _long_form(short, before, sentence + starts[0])) is not None:
            spans[short] = Span(first + long.start, first + long.end)
    return spans


def _long_form(short: str, before: str, least: int) -> Span | None:
    """The shortest text that ends ``before``, starts with the abbreviation's first letter and holds the rest."""
    position = len(before)
    for number in range(len(short) - 1, -1, -1):
        letter = short[number].lower()
        if not letter.isalnum():
            continue
        position -= 1
        while position >= least and (
            before[position].lower() != letter or (number == 0 and position > 0 and before[position - 1].isalnum())
        ):
            position -= 1
        if position < least:
            return None
    return Span(position, len(before)) if len(before) - position > len(short) else None


def _runs(words: Sequence[Word], known: Rules) -> Iterator[list[Word]]:
    """Words that no break separates; hyphenated words stay together, small numbers may follow a word."""
    run: list[Word] = []
    for number, word in enumerate(words):
        hyphenated = bool(run) and run[-1].text == "-"
        joins = word.text == "-" and bool(run) and not word.spaced and not words[number - 1].spaced
        figure = word.text.isdigit() and len(word.text) < 3 and bool(run) and not hyphenated
        inside = any(map(str.isalpha, word.text)) and (hyphenated or word.text.lower() not in known.breaks)
        if joins or figure or inside:
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run
