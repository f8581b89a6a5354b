"""Sentences and words of any lower-case English text, by the rules of NLTK 3.9.1's ``word_tokenize``.

Sources: Punkt (Kiss and Strunk 2006) for sentences, the Penn Treebank rules as NLTK extends them for
words. Written anew, so that neither NLTK nor its data packages are loaded and later versions change no
score; tests compare. Departures: Punkt knows only the abbreviations listed here instead of its trained
model, of which words such as mass or no are left out, and nothing of the words' usual capitalisation;
that matters only where a number, an initial or an abbreviation ends a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_STATES = "ala ariz calif colo conn ct fla ga kan ky mich minn nev okla ore pa tenn va vt wis"
_TITLES = "adm capt col dr gen gov lt maj messrs mr mrs ms prof rep reps rev sen sgt sr jr st"
_TIMES = "jan feb mar apr aug sep sept oct nov dec mon tues wed thurs fri a.m p.m yr"
_OTHERS = "ave bros cie co corp inc ltd vs etc e.g i.e u.s u.k u.n u.s.a d.c n.y m.d ph.d ft sec tel"
ABBREVIATIONS = frozenset(f"{_STATES} {_TITLES} {_TIMES} {_OTHERS}".split())

_MARK = r"""[)";}\]*:@'({\[!?]"""
_DOTS = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_END = re.compile(rf"[.?!](?=(?P<after>{_MARK}|\s+(?P<next>\S+)))")
_TOKEN = re.compile(
    rf"({_DOTS}|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_MARK}|{_DOTS}|,(?=$|\s|{_MARK}|{_DOTS}))|\S)"
)
_CLOSING = re.compile(r"""["')\]}]+?(?:\s+|(?=--)|$)""", re.MULTILINE)
_NUMBER = re.compile(r"-?[.,]?\d[\d,.\-]*\Z")
_INITIAL = re.compile(r"[^\W\d]\Z")

# Applied in this order to a sentence; every rule puts blanks around what becomes a word.
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Opening quotes.
        (r"([«“‘„]|`+)", r" \1 "),
        (r'^"', "``"),
        (r"(``)", r" \1 "),
        (r"""([ (\[{<])("|'{2})""", r"\1 `` "),
        (r"(')(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"\1 \2"),
        # Marks; a period only at the end.
        (r"""([^.])(\.)([\])}>"'»”’ ]*)\s*$""", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"""([^.])(\.)([\])}>"']*)\s*$""", r"\1 \2\3 "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"\*", r" \g<0> "),
        (r"[\]\[(){}<>]", r" \g<0> "),
        (r"--", " -- "),
        (r"\A|\Z", " "),
        # Closing quotes and what follows an apostrophe.
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"\s+", " "),
        (r"([^' ])('[smd]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'re|'ve|n't) ", r"\1 \2 "),
        # Words that are two.
        (r"\b(can)(not)\b", r" \1 \2 "),
        (r"\b(d)('ye)\b", r" \1 \2 "),
        (r"\b(gim|lem)(me)\b", r" \1 \2 "),
        (r"\b(gon)(na)\b", r" \1 \2 "),
        (r"\b(got)(ta)\b", r" \1 \2 "),
        (r"\b(more)('n)\b", r" \1 \2 "),
        (r"\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r" ('t)(is|was)\b", r" \1 \2 "),
    )
)


@dataclass(frozen=True)
class _Span:
    """A piece of a text."""

    start: int
    end: int


def split_words(text: str) -> list[str]:
    """The words and marks of a lower-case text."""
    return [word for sentence in sentences(text) for word in _words(sentence)]


def _words(sentence: str) -> list[str]:
    """The words and marks of a sentence."""
    for pattern, replacement in _RULES:
        sentence = pattern.sub(replacement, sentence)
    return sentence.split()


def sentences(text: str) -> Iterator[str]:
    """The sentences of a lower-case text; closing quotes and brackets go with the sentence before them."""
    taken = 0
    spans = list(_spans(text))
    for span, following in pairwise([*spans, None]):
        assert span is not None
        start = span.start + taken
        closing = _CLOSING.match(text[following.start : following.end]) if following else None
        end = following.start + len(closing[0].rstrip()) if following and closing else span.end
        taken = closing.end() if closing else 0
        if closing or start < end:
            yield text[start:end]


def _spans(text: str) -> Iterator[_Span]:
    """The pieces between the ends of sentences."""
    start = 0
    for end, context in _possible_ends(text):
        if _ends_sentence(context):
            yield _Span(start, end.end())
            start = end.start("next") if end["next"] else end.end()
    yield _Span(start, len(text.rstrip()))


def _possible_ends(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Marks that may end a sentence, one per run of text without blanks (the last), with what stands around them."""
    word, before = _Span(0, 0), None
    for end in _END.finditer(text):
        gap = text[word.end : end.start()]
        blank = max((index for index, letter in enumerate(gap) if letter.isspace()), default=0)
        this = _Span(blank + word.end + 1 if blank else word.start, end.start())
        if before and word.end <= this.start:
            yield before, f"{text[word.start : word.end]}{before[0]}{before['after']}"
        before, word = end, this
    if before:
        yield before, f"{text[word.start : word.end]}{before[0]}{before['after']}"


def _ends_sentence(context: str) -> bool:
    """Whether any token but the last ends a sentence."""
    tokens = [token for line in context.split("\n") for token in _TOKEN.findall(line)]
    return any(ends_before(token, following) for token, following in pairwise(tokens))


def ends_before(token: str, following: str) -> bool:
    """Whether a token, with its period, ends a sentence before the following token."""
    if token in (".", "?", "!"):
        return True
    if not token.endswith(".") or token.endswith(".."):
        return False
    core = token[:-1]
    if core in ABBREVIATIONS or core.rsplit("-", 1)[-1] in ABBREVIATIONS:
        return False
    if _NUMBER.match(core) or _INITIAL.match(core):
        return following not in (";", ":", ",", ".", "!", "?") and not following[0].islower()
    return True
