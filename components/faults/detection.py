"""Whether an agent says that something is wrong with a tool: a rule on its own words.

A sentence says so where a word for failing or for doubt is said of a tool ("the call was denied", "no answer from
Calculator"), or a word for doubt of what a tool gives ("a stale result", "the values contradict each other"): in one
clause, at most three words before it or six after it, with no word between them that denies it. Heart failure, denied
pain, an error of refraction, results inconsistent with pneumonia, and an option that is wrong are not trouble with a
tool. Code, JSON, and the names and inputs of calls are not words of the agent. The rule reads English, and knows no
irony: episodes without a fault show how often it is mistaken.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

_TOOLS = r"tools?|services?|APIs?|endpoints?|servers?|databases?|quer(?:y|ies)|search(?:es)?|calls?"
_ASKED = r"requests?|access|permission|documentation"
_GIVEN = r"results?|outputs?|values?|numbers?|readings?|observations?|measurements?|memory|entr(?:y|ies)"
_FAILS = (
    r"(?:unavailable|unresponsive|inaccessible|unreachable|not (?:be |currently )?available|timed? ?-?out|denied"
    r"|not permitted|(?:does|did|do|is|are)(?: not|n['’]t) (?:respond|answer|work)\w*"
    r"|(?:is|are|was|seems) (?:down|missing)"
    r"|(?:(?:can|could) ?not|(?:can|could)n?['’]t|unable to) (?:be )?(?:access|reach|call|query|connect|use)\w*"
    r"|no (?:response|answer|reply|permission|documentation|description)|broken|malfunction\w*|undocumented"
    r"|fail(?:s|ed|ing|ures?)?|errors?)"
)
_DOUBT = (
    r"(?:out[- ]of[- ]date|outdated|stale|contradict\w*|disagree\w*|inconsisten\w*|conflict(?:s|ing|ed)?|discrepan\w*"
    r"|do(?:es)?(?: not|n['’]t) (?:match|agree|confirm)|unreliable|not (?:be )?(?:reliable|trusted|trustworthy)"
    r"|(?:can ?not|can['’]t|do not|don['’]t) (?:be |fully )?(?:trust|rely)\w*|implausib\w*|wrong|incorrect|inaccurate"
    r"|faulty)"
)
_MEDICINE = re.compile(
    r"\b(?:heart|cardiac|pump|ventricular|circulatory|renal|kidney|liver|hepatic|respiratory|lung|organ|ovarian|adrenal"
    r"|marrow|graft|implant|treatment|therapy|growth)(?: \w+)?[ -]fail(?:ures?|ed|ing|s)\b|\bfailure to thrive\b"
    r"|\bfailed (?:back|fusion|extubation|intubation|induction|labou?r|trial|therapy|treatment|conservative|medical"
    r"|first|to (?:improve|progress|thrive|resolve|close|heal))\b|\bbroken (?:\w+ )?(?:ribs?|bones?|hip|leg|arm)\b"
    r"|\b(?:refractive|medication|dosing|inborn|standard|measurement|sampling|random) errors?\b"
    r"|\berrors? (?:of|in) (?:refraction|\w* ?metabolism)\b|\berror (?:bars?|rates?|margins?)\b|\bmargins? of error\b"
    r"|\b(?:he|she|they|who|patient|mother|father|parents?|wife|husband)(?: \w+){0,2} (?:denie[sd]|unresponsive)\b"
    r"|\b(?:inconsistent|conflicts?|disagrees?) with (?!each|one another"
    r"|(?:(?:the|an|its|what|this|that) )?(?:earlier|previous|first|other|report|record|tool|call|quer|result|value))",
    re.IGNORECASE,
)
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


def says_wrong(texts: Iterable[str], tools: Collection[str]) -> str:
    """The first sentence that says so; empty where none does. ``tools`` are the names of the offered tools."""
    signs = _signs(tuple(sorted(tools, key=len, reverse=True)))
    for text in texts:
        for sentence in _SENTENCE.split(own_words(text)):
            if not _TROUBLE.search(sentence):
                continue
            plain = _MEDICINE.sub(", ", sentence)
            if any(not _is_denied(plain, one.start()) for sign in signs for one in sign.finditer(plain)):
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


def _is_denied(text: str, place: int) -> bool:
    """Whether a word just before a place denies what stands there."""
    return _DENIED.search(text, max(0, place - _NEAR), place) is not None


def own_words(text: str) -> str:
    """A reply without code, JSON, tags, and the names and inputs of calls."""
    return _NO_WORDS.sub("\n", text)
