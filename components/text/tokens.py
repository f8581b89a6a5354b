"""Sentences and words of an English text as NLTK 3.9.1's ``word_tokenize`` finds them.

Sources: Punkt (Kiss and Strunk 2006) for sentences, the Penn Treebank rules as NLTK extends them for words.
Reimplemented, so that neither NLTK nor its data packages are loaded and later versions change no score; tests compare.
Departures: Punkt knows only the abbreviations listed here instead of its trained model, of which words such as mass or
no are left out, and nothing of the words' usual capitalisation; that matters only where a number, an initial or an
abbreviation ends a sentence.

Most texts are plain: letters, numbers, brackets, the usual marks in the usual places. ``_split_plain`` splits these at
once, in a fraction of the time; all others go by the rules, ``split_words``.
"""

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest

from components.core.cached import cached_short

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


# What ``_split_plain`` takes: words with inner marks, brackets, double quotes, and periods that end a word or are
# inside one.
_PLAIN = re.compile(
    r"""(?:[a-zà-öø-ÿ0-9/+\-=;,:?()\[\]% "]++|(?<=[a-zà-öø-ÿ0-9%)\]"])\.(?=[a-zà-öø-ÿ0-9 ]|\Z)"""
    r"""|(?<=[a-zà-öø-ÿ])'s(?=[ ;?)\]]|[.,:]?(?: |\Z)))*+\Z"""
)
# What it does not: marks in unusual places, and words that NLTK cuts in two.
_UNUSUAL = re.compile(
    r'[",:.?](?:(?<=[,:])(?:"|[,:]| *\.)|(?<=\.) +(?:[;,:?)\]]|"(?![a-z]))|(?<=")(?:"|[^ ]*[(\[])'
    r"|(?<=\?)(?!\Z| ))"
)
_PARAGRAPH = re.compile(r"\n\n(?<=[a-z0-9.]\n\n)(?=[a-z0-9])")  # a blank to the rules
_CUT = ("--", "gimme", "gonna", "gotta", "lemme", "wanna")
_CANNOT = re.compile(r"(?:^|(?<=[ (\[]))cannot(?=[ ;?)\]]|[.,:]?(?: |\Z))")
_OPENING_QUOTE = re.compile(r'(?:^|(?<=[ (\[]))"')
_INNER = re.compile(r"[(\[;:?)\]]|``|''")
_MARKS = re.compile(r"([;%?()\[\]]|[,:](?!\d)|``|''|(?<=\w)(?='s))")


@cached_short(256, 10_000)
def words(text: str) -> tuple[str, ...]:
    """The words and marks of a text in lower case, in order."""
    lowered = text.lower()
    lines = _PARAGRAPH.sub(" ", lowered)
    return tuple(_split_plain(lines) if _is_plain(lines) else split_words(lowered))


def _is_plain(text: str) -> bool:
    """Whether ``_split_plain`` gives what the rules give."""
    if not _PLAIN.match(text) or _UNUSUAL.search(text) or any(cut in text for cut in _CUT):
        return False
    return "cannot" not in text or text.count("cannot") == len(_CANNOT.findall(text))


def _split_plain(text: str) -> list[str]:
    """The words and marks of a plain text."""
    text = _OPENING_QUOTE.sub(" `` ", text).replace('"', " '' ") if '"' in text else text
    chunks = (_CANNOT.sub("can not", text) if "cannot" in text else text).split()
    found: list[str] = []
    for chunk, following in zip_longest(chunks, chunks[1:]):
        if chunk.isalnum():
            found.append(chunk)
            continue
        if chunk[-1] != ".":
            found += _split_marks(chunk)
            continue
        word = chunk[:-1]
        if following is not None:
            core = _INNER.split(word)[-1].lstrip(",-")
            if core and "'" not in core and not ends_before(f"{core}.", following):
                found += _split_marks(chunk)
                continue
        found += (word, ".") if word.isalnum() else (*_split_marks(word), ".")
    return found


@cached_short(16_384)
def _split_marks(chunk: str) -> tuple[str, ...]:
    """The words and marks of a run of text without blanks."""
    return tuple(filter(None, _MARKS.split(chunk)))


def split_words(text: str) -> list[str]:
    """The words and marks of a lower-case text, by the rules."""
    found: list[str] = []
    for sentence in sentences(text):
        for needles, pattern, replacement in _RULES:
            if not needles or any(needle in sentence for needle in needles):
                sentence = pattern.sub(replacement, sentence)
        found += sentence.split()
    return found


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
