"""Detect whether an agent states that something is wrong with a tool: a rule on its text.

A sentence says so where a word for failing or for doubt is said of a tool ("the call was denied", "no answer from
Calculator"), or a word for doubt of what a tool gives ("a stale result", "the values contradict each other"): in one
clause, at most three words before it or six after it, with no word between them that denies it. Heart failure, denied
pain or an option that is wrong are no trouble with a tool; code, JSON, and the names and inputs of calls no words of
the agent. The rule reads English, and knows no irony: episodes without a fault show how often it is mistaken.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from components.text.structured import read_yaml

_WORDS: Mapping[str, str] = {
    name: "|".join(found) for name, found in read_yaml(Path(__file__).with_suffix(".yaml")).items()
}
_TOOLS, _ASKED, _GIVEN = _WORDS["tools"], _WORDS["asked"], _WORDS["given"]
_FAILS, _DOUBT = f"(?:{_WORDS['fails']})", f"(?:{_WORDS['doubt']})"
_MEDICINE = re.compile(_WORDS["medicine"], re.IGNORECASE)
# A word between: of the same clause, and none that denies it or is itself what is wrong.
_STEP = r"[\s'’\"“”()/*`_-]++"
_BETWEEN = rf"{_STEP}(?!(?:no|not|never|without|nor|nothing|options?|choices?|answers?|statements?|diagnos\w+)\b)\w++"
_TROUBLE = re.compile(rf"\b(?:{_FAILS}|{_DOUBT})\b", re.IGNORECASE)
_NEAR = 100  # characters that hold a word and one that denies it
_DENIED = re.compile(r"\b(?:no|not|without|never|nor|nothing)\s+(?:\w+\s+)?$", re.IGNORECASE)
# Each part reads a text once, however often it repeats itself. JSON ends with its line, or, where a line holds but its
# first bracket, with the bracket below that one.
_NO_WORDS = re.compile(
    r"```.*?(?:```|\Z)|<(Tool|Input)>(?:(?!<(?:Tool|Input)>).)*?</\1>|</?\w+>|^[^\S\n]*+Action:.*\Z"
    r"|^([^\S\n]*+)[{\[](?:[^\S\n]*+\n.*?(?:^\2[}\]]|\Z)|[^\n]*)",
    re.DOTALL | re.MULTILINE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


def find_fault_statement(texts: Iterable[str], tools: Collection[str]) -> str:
    """The first sentence that states it; empty if none does. ``tools`` are the names of the offered tools."""
    signs = _signs(tuple(sorted(tools, key=len, reverse=True)))
    for text in texts:
        for sentence in _SENTENCE.split(_NO_WORDS.sub("\n", text)):
            plain = _MEDICINE.sub(", ", sentence) if _TROUBLE.search(sentence) else ""
            for place in (one.start() for sign in signs for one in sign.finditer(plain)):
                if not _DENIED.search(plain, max(0, place - _NEAR), place):
                    return sentence.strip()
    return ""


@lru_cache(maxsize=64)
def _signs(tools: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Patterns of trouble said of a tool, with the offered ones among the words for one, and of what a tool gives."""
    tool = rf"(?-i:{'|'.join(map(re.escape, tools))})|{_TOOLS}" if tools else _TOOLS
    pairs = ((f"{tool}|{_ASKED}", _FAILS, 6), (tool, _DOUBT, 3), (_GIVEN, _DOUBT, 6))
    said = (
        rf"(?<!\w)(?:{noun})(?!\w)(?:['’]s? answers?)?(?:{_BETWEEN}){{0,{after}}}?{_STEP}{trouble}\b"
        rf"|\b{trouble}(?:{_BETWEEN}){{0,3}}?{_STEP}(?:{noun})(?!\w)"
        for noun, trouble, after in pairs
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in said)
