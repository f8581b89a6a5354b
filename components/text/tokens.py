"""Sentences and words of an English text as NLTK 3.9.1's ``word_tokenize`` finds them.

Sources: Punkt (Kiss and Strunk 2006) for sentences, the Penn Treebank rules as NLTK extends them for words.
Reimplemented, so that neither NLTK nor its data packages are loaded and later versions change no score; tests compare.
Departures: Punkt knows only the abbreviations listed here instead of its trained model, of which words such as mass or
no are left out, and nothing of the words' usual capitalisation; that matters only where a number, an initial or an
abbreviation ends a sentence.

Most texts are plain: letters, numbers, brackets, the usual marks in the usual places. ``_quick`` splits these at once,
in a tenth of the time; all others go by the rules.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

# What the quick way understands: words with inner marks, brackets, double quotes, and periods that end a
# word or stand inside one.
_PLAIN = re.compile(
    r"""(?:[a-zà-öø-ÿ0-9/+\-=;,:?()\[\]% "]++|(?<=[a-zà-öø-ÿ0-9%)\]"])\.(?=[a-zà-öø-ÿ0-9 ]|\Z)"""
    r"""|(?<=[a-zà-öø-ÿ])'s(?=[ ;?)\]]|[.,:]?(?: |\Z)))*+\Z"""
)
# What it does not: marks in unusual places, and words that NLTK cuts in two.
_HARD = re.compile(
    r'[",:.?](?:(?<=[,:])(?:"|[,:]| *\.)|(?<=\.) +(?:[;,:?)\]]|"(?![a-z]))|(?<=")(?:"|[^ ]*[(\[])'
    r"|(?<=\?)(?!\Z| ))"
)
_CUT = ("--", "gimme", "gonna", "gotta", "lemme", "wanna")
_CANNOT = re.compile(r"(?:^|(?<=[ (\[]))cannot(?=[ ;?)\]]|[.,:]?(?: |\Z))")
_INNER = re.compile(r"[(\[;:?)\]]|``|''")
_STARTS = re.compile(r'(?:^|(?<=[ (\[]))"')
_MARKS = re.compile(r"[;%?()\[\]]|[,:](?!\d)|``|''|(?<=\w)'(?=s)")


def _is_plain(text: str) -> bool:
    """Whether the quick way gives what the rules give."""
    if not _PLAIN.match(text) or _HARD.search(text) or any(cut in text for cut in _CUT):
        return False
    return "cannot" not in text or text.count("cannot") == len(_CANNOT.findall(text))


def _ends(word: str, following: str) -> bool:
    """Whether a period after the word, before the following one, ends a sentence."""
    core = _INNER.split(word)[-1].lstrip(",-")
    return not core or "'" in core or ends_before(f"{core}.", following)


@lru_cache(maxsize=16384)
def _marked(chunk: str) -> tuple[str, ...]:
    """The words and marks of a run of text without blanks."""
    return tuple(_MARKS.sub(_spaced, chunk).split())


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
        words += (chunk,) if chunk.isalnum() else _marked(chunk)
        if period:
            words.append(".")
    return words


@lru_cache(maxsize=256)
def words(text: str) -> tuple[str, ...]:
    """The words and marks of a text in lower case, in order."""
    lowered = text.lower()
    if _is_plain(lowered):
        return tuple(_quick(lowered))
    return tuple(split_words(lowered))


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
