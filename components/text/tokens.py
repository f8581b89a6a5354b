"""Words of an English text as NLTK 3.9.1's ``word_tokenize`` finds them.

Most texts are plain: letters, numbers, brackets, the usual marks in the usual places. These are split here
at once, in a tenth of the time; all others by the rules of ``components.text.token_rules``. Tests compare the two.
"""

from __future__ import annotations

import re
from functools import lru_cache

from components.text.token_rules import ends_before, split_words

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
