"""Whether an agent says that something is wrong with a tool: a rule on its own words.

A sentence says so when it holds a phrase of ``PROBLEMS`` that is not denied just before ("no error", "did not fail")
and, in the same sentence, a word of ``TOOLS`` or the name of an offered tool. Code, JSON, and the names and inputs of
calls are no words of the agent. The rule reads English, and knows no irony: on episodes without a fault it tells how
often it is mistaken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

PROBLEMS = re.compile(
    r"\b(?:unavailable|unresponsive|not (?:be |currently )?available|timed? ?-?out|denie[sd]|not permitted"
    r"|(?:does|did|do|is|are) not (?:respond|answer|work)\w*|no (?:response|permission|documentation)"
    r"|out[- ]of[- ]date|outdated|stale|contradict\w*|disagree\w*|inconsisten\w*|conflict(?:s|ing|ed)?|discrepan\w*"
    r"|do(?:es)? not (?:match|agree|confirm)|unreliable|not (?:be )?(?:reliable|trusted|trustworthy)"
    r"|cannot (?:be )?trust\w*|implausib\w*|wrong|incorrect|inaccurate|faulty|malfunction\w*|broken"
    r"|fail(?:s|ed|ing|ures?)?|errors?|undocumented)\b",
    re.IGNORECASE,
)
TOOLS = re.compile(
    r"\b(?:tools?|results?|outputs?|values?|numbers?|answers?|readings?|services?|calls?|quer(?:y|ies)|databases?"
    r"|observations?|measurements?|memory|documentation)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:no|not|without|never|nor|nothing)\s+(?:\w+\s+)?$", re.IGNORECASE)
_NO_WORDS = re.compile(
    r"```.*?(?:```|\Z)|<(Tool|Input)>.*?</\1>|</?\w+>|^\s*Action:.*\Z|^\s*[{\[].*$", re.DOTALL | re.MULTILINE
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


def says_wrong(texts: Iterable[str], tools: Collection[str]) -> str:
    """The first sentence that says so; empty where none does. ``tools`` are the names of the offered tools."""
    names = "|".join(map(re.escape, sorted(tools, key=len, reverse=True)))
    named = re.compile(rf"(?<!\w)(?:{names})(?!\w)") if names else None
    for text in texts:
        for sentence in _SENTENCE.split(own_words(text)):
            about = TOOLS.search(sentence) or (named is not None and named.search(sentence))
            if about and any(not _DENIED.search(sentence, 0, one.start()) for one in PROBLEMS.finditer(sentence)):
                return sentence.strip()
    return ""


def own_words(text: str) -> str:
    """A reply without code, JSON, tags, and the names and inputs of calls."""
    return _NO_WORDS.sub("\n", text)
