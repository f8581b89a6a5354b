"""Sentences and words of an English text as NLTK 3.9.1's ``word_tokenize`` finds them.

Sources: Punkt (Kiss and Strunk 2006) for sentences, the Penn Treebank rules as NLTK extends them for words.
Reimplemented, so that neither NLTK nor its data packages are loaded and later versions change no score; tests compare.
Departures: Punkt knows only the abbreviations listed here instead of its trained model, of which words such as mass or
no are left out, and nothing of the words' usual capitalisation; that matters only where a number, an initial or an
abbreviation ends a sentence.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
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

# Applied in this order to a sentence; every rule puts blanks around what becomes a word, and is tried where one of the
# texts before it occurs.
_RULES = tuple(
    (needles.split(), re.compile(pattern), replacement)
    for needles, pattern, replacement in (
        # Opening quotes.
        ("« “ ‘ „ `", r"([«“‘„]|`+)", r" \1 "),
        ('"', r'^"', "``"),
        ("``", r"(``)", r" \1 "),
        ("\" ''", r"""([ (\[{<])("|'{2})""", r"\1 `` "),
        ("'", r"(')(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"\1 \2"),
        # Marks; a period only at the end.
        (".", r"""([^.])(\.)([\])}>"'»”’ ]*)\s*$""", r"\1 \2 \3 "),
        (": ,", r"([:,])([^\d])", r" \1 \2"),
        (": ,", r"([:,])$", r" \1 "),
        ("..", r"\.{2,}", r" \g<0> "),
        ("; @ # $ % &", r"[;@#$%&]", r" \g<0> "),
        (".", r"""([^.])(\.)([\])}>"']*)\s*$""", r"\1 \2\3 "),
        ("? !", r"[?!]", r" \g<0> "),
        ("'", r"([^'])' ", r"\1 ' "),
        ("*", r"\*", r" \g<0> "),
        ("( ) [ ] { } < >", r"[\]\[(){}<>]", r" \g<0> "),
        ("--", r"--", " -- "),
        ("", r"\A|\Z", " "),
        # Closing quotes and what follows an apostrophe.
        ("» ” ’", r"([»”’])", r" \1 "),
        ("''", r"''", " '' "),
        ('"', r'"', " '' "),
        ("", r"\s+", " "),
        ("'", r"([^' ])('[smd]|') ", r"\1 \2 "),
        ("'", r"([^' ])('ll|'re|'ve|n't) ", r"\1 \2 "),
        # Words that are two.
        ("cannot", r"\b(can)(not)\b", r" \1 \2 "),
        ("d'ye", r"\b(d)('ye)\b", r" \1 \2 "),
        ("gimme lemme", r"\b(gim|lem)(me)\b", r" \1 \2 "),
        ("gonna", r"\b(gon)(na)\b", r" \1 \2 "),
        ("gotta", r"\b(got)(ta)\b", r" \1 \2 "),
        ("more'n", r"\b(more)('n)\b", r" \1 \2 "),
        ("wanna", r"\b(wan)(na)(?=\s)", r" \1 \2 "),
        ("'tis 'twas", r" ('t)(is|was)\b", r" \1 \2 "),
    )
)


@lru_cache(maxsize=256)
def words(text: str) -> tuple[str, ...]:
    """The words and marks of a text in lower case, in order."""
    found: list[str] = []
    for sentence in sentences(text.lower()):
        for needles, pattern, replacement in _RULES:
            if not needles or any(needle in sentence for needle in needles):
                sentence = pattern.sub(replacement, sentence)
        found += sentence.split()
    return tuple(found)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a lower-case text; closing quotes and brackets go with the sentence before them."""
    taken = 0
    pieces = list(_pieces(text))
    for (start, end), following in zip(pieces, [*pieces[1:], None], strict=True):
        start += taken
        closing = _CLOSING.match(text[following[0] : following[1]]) if following else None
        if following and closing:
            end = following[0] + len(closing[0].rstrip())
        taken = closing.end() if closing else 0
        if closing or start < end:
            yield text[start:end]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the pieces between the ends of sentences."""
    start = 0
    for end, context in _possible_ends(text):
        tokens = [token for line in context.split("\n") for token in _TOKEN.findall(line)]
        if any(ends_before(token, following) for token, following in pairwise(tokens)):
            yield start, end.end()
            start = end.start("next") if end["next"] else end.end()
    yield start, len(text.rstrip())


def _possible_ends(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Marks that may end a sentence, one per run of text without blanks (the last), with what is around them."""
    start, stop, before = 0, 0, None  # of the word before the mark
    for end in _END.finditer(text):
        gap = text[stop : end.start()]
        blank = max((index for index, letter in enumerate(gap) if letter.isspace()), default=0)
        first = blank + stop + 1 if blank else start
        if before and stop <= first:
            yield before, f"{text[start:stop]}{before[0]}{before['after']}"
        before, start, stop = end, first, end.start()
    if before:
        yield before, f"{text[start:stop]}{before[0]}{before['after']}"


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
