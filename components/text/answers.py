"""Read a final answer out of a model's text: a choice letter, a decision, what follows the answer mark.

An answer that cannot be read is None and has a rate of its own; it is never a letter.

Source: letters by the rules of Tang et al. 2024 (MedAgents, arXiv 2311.10537) as repaired in
docs/papers/medagents.md §4: the published reader takes the first capital A-E after the last colon, also
inside words. Decisions (PubMedQA, BioASQ) follow the same order of rules. ``marked`` follows the reference of Liao
et al. 2024 (ReflecTool, arXiv 2410.17657; BlueZeros/ReflecTool at e89ef65).
"""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from string import ascii_uppercase

from components.text.words import stands_in

DECISIONS = ("yes", "no", "maybe")
_PUBLISHED = re.compile("[A-E]")

FAILURES = frozenset({"", "ERROR", "ERROR."})
"""Replies, stripped, that hold nothing: the empty one, and what the reference puts in the place of a failed call."""
# Possessive throughout: a model's endless white space costs one pass, not a power of its length.
_SAYS = r"(?i:option|answer|choice)\s*+(?i:is\b|would\s++be\b)?\s*+[:\-]?\s*+[\[({<\"'“”‘’`*]*+\s*+"
_ARTICLE = r"A(?!\s++(?!(?:is|was|are|and|or|nor|because|since|as)(?![a-z]))[a-z])"  # option A, but not "A man"
_PRONOUN = r"I(?!\s+(?!(?:is|and|or|nor|because|since|as)\b)[a-z])"  # option I, but not the speaker
_MARK = re.compile(r"^[ \t*_#>]*(?:final )?answer[*_]*[ \t]*:[ \t*_]*", re.IGNORECASE | re.MULTILINE)
_LEAD = re.compile(r"\bthe answer is\b[ \t]*:?", re.IGNORECASE)
_OPTION = re.compile(r"^[ \t*_#>]*(?:option|(?:final )?answer)[*_]*[ \t]*:[ \t*_]*", re.IGNORECASE | re.MULTILINE)


def parse_letter(raw: str, options: Mapping[str, str]) -> str | None:
    """The letter of the option that a reply chooses; None when it cannot be read.

    First rule that fires: the last ``option/answer/choice [is] [:] X``; the whole reply is a letter; it begins with
    ``X.``, ``X)`` or ``X:``; exactly one letter is in it as a token; without a letter, exactly one option's text.
    Letters are capital; ``A`` before an ordinary lower-case word is an article, and ``I`` the speaker."""
    text = raw.strip()
    if text in FAILURES or not options:
        return None
    found = list({place[1] for place in _letter_places(text, options)})
    if not found:
        found = [key for key, option in options.items() if option and stands_in(option.strip(), text)]
    return found[0] if len(found) == 1 else None


def letter_place(text: str, options: Mapping[str, str]) -> tuple[int, int] | None:
    """Where in a text ``parse_letter`` reads a letter; None where it reads none, or the letter is there repeatedly."""
    before = len(text) - len(text.lstrip())
    places = list(islice(_letter_places(text.strip(), options), 2))
    return (before + places[0].start(1), before + places[0].end(1)) if len(places) == 1 else None


def _letter_places(text: str, options: Mapping[str, str]) -> Iterable[re.Match[str]]:
    """The match of the first rule that fires, of that of tokens all; group 1 is the letter."""
    said, whole, begins, token = _letter_patterns(tuple(options))
    if last := deque(said.finditer(text), 1):
        return last
    if match := whole.fullmatch(text) or begins.match(text):
        return (match,)
    return token.finditer(text)


def parse_decision(raw: str, decisions: Sequence[str] = DECISIONS) -> str | None:
    """The decision (yes, no, maybe) that a reply takes, in lower case; None when it cannot be read.

    First rule that fires: the last ``option/answer/choice/decision [is] [:] yes``; the whole reply is a decision; it
    begins with one that a punctuation mark ends; exactly one occurs in it as a word, where ``no`` and ``maybe`` before
    another word (no difference, maybe later) are ordinary English."""
    text = raw.strip()
    if text in FAILURES:
        return None
    said, whole, begins, token = _decision_patterns(tuple(decisions))
    if found := said.findall(text):
        return str(found[-1]).lower()
    if match := whole.fullmatch(text) or begins.match(text):
        return match[1].lower()
    decided = {word.lower() for word in token.findall(text)}
    return decided.pop() if len(decided) == 1 else None


def after_mark(text: str, mark: re.Pattern[str] = _MARK) -> str:
    """The text after the last line that begins with ``Answer:``; the whole text when there is none."""
    end = None
    for match in mark.finditer(text):
        end = match.end()
    return text.strip() if end is None else text[end:].strip().rstrip("*_").rstrip()


def after_lead(text: str) -> str:
    """The answer in a reply to a prompt of the form "A: The answer is": what follows the last of these words, or a mark
    ``Answer:``; the whole text when there is none."""
    return after_mark(after_mark(text), _LEAD)


def published_letter(raw: str) -> str:
    """As the published code reads it: the first capital A to E after the last colon, also inside words and whatever
    the options are; else empty."""
    found = _PUBLISHED.search(raw.rpartition(":")[2])
    return found[0] if found else ""


def chosen(text: str, options: Mapping[str, str]) -> str:
    """The rest of the last line that begins with ``Option:`` or ``Answer:``, where that says what the whole text says
    to either reader of letters; else the whole text."""
    whole, marked = text.strip(), after_mark(text, _OPTION)
    if marked == whole:
        return whole
    short = marked.split("\n")[0].strip(" *_")
    same = parse_letter(short, options) == parse_letter(whole, options)
    return short if same and published_letter(short) == published_letter(whole) else whole


_Patterns = tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]


@lru_cache(maxsize=64)
def _letter_patterns(keys: tuple[str, ...]) -> _Patterns:
    upper = [key.upper() for key in keys]
    letter = "|".join(_PRONOUN if key == "I" else re.escape(key) for key in upper)
    chosen = "|".join({"I": _PRONOUN, "A": _ARTICLE}.get(key, re.escape(key)) for key in upper)
    token = rf"(?<!\w)(?:{letter})(?![\w'’])"
    return (
        re.compile(rf"{_SAYS}({token})"),
        re.compile(rf"\W*({letter})\W*"),
        re.compile(rf"({letter})[.):]\s"),
        re.compile(rf"(?<!\w)({chosen})(?![\w'’])"),
    )


@lru_cache(maxsize=64)
def _decision_patterns(decisions: tuple[str, ...]) -> _Patterns:
    word = "|".join(re.escape(decision) for decision in decisions)
    says = _SAYS.replace("choice", "choice|decision")
    plain = "|".join(re.escape(decision) for decision in decisions if decision not in ("no", "maybe")) or "(?!)"
    ordinary = "|".join(re.escape(decision) for decision in decisions if decision in ("no", "maybe")) or "(?!)"
    return (
        re.compile(rf"{says}((?<!\w)(?i:{word})(?!\w))"),
        re.compile(rf"\W*({word})\W*", re.IGNORECASE),
        re.compile(rf"\W*({word})[.,;:!]", re.IGNORECASE),
        re.compile(rf"(?<!\w)(?:(?:{plain})(?![\w-])|(?:{ordinary})(?![\w-])(?!\s+\w))", re.IGNORECASE),
    )


_LETTERED = re.compile(r"\s*([A-Z])\.\s*(\S.*?)\s*")


def letter_options(texts: Iterable[str]) -> dict[str, str]:
    """A, B, C ... -> text, at most 26."""
    return dict(zip(ascii_uppercase, texts, strict=False))


def letter_of(choices: Mapping[str, str], text: str) -> str | None:
    """The letter of the one option that equals ``text``: exactly, or ignoring case, spaces and a final full stop; None
    when there is none, or several."""
    for plain in (str.strip, lambda one: " ".join(one.casefold().split()).rstrip(". ")):
        found = [letter for letter, option in choices.items() if plain(option) == plain(text)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def split_options(text: str) -> tuple[str, dict[str, str]]:
    """A question and the options at its end, one a line (``A. text``), counted from A and at least two. What does not
    end so comes back whole and without options."""
    lines = text.rstrip().split("\n")
    choices: dict[str, str] = {}
    for number in range(len(lines) - 1, -1, -1):
        match = _LETTERED.fullmatch(lines[number])
        if match is None:
            if lines[number].strip():
                break
            continue
        choices[match[1]] = match[2]
        if match[1] == "A":
            found = dict(reversed(choices.items()))
            right = len(found) > 1 and "".join(found) == ascii_uppercase[: len(found)]
            return ("\n".join(lines[:number]).rstrip(), found) if right else (text, {})
    return text, {}


_PHRASE = re.compile("the answer is ", re.IGNORECASE)
_ANNOUNCES = re.compile(r"\banswers?\*{0,2}(?: is\b| are\b|[ \t]*(?=[:=]))\*{0,2}[ \t]*[:=]?[ \t*]*", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!?][*]*\s+(?=[A-Z(])|\n")


def marked(text: str, to_end: bool = False) -> str:
    """The reference's answer: from the phrase to the first full stop of its line, or to the end of the text. ``to_end``
    lets full stops pass. It may not cross a line break; then the next line with the phrase is tried. Without any it is
    the whole text."""
    lines = text.split("\n")
    n_last = len(lines) - (2 if len(lines) > 1 and not lines[-1] else 1)
    for number, line in enumerate(lines):
        if found := _PHRASE.search(line):
            head, stop, _ = line[found.end() :].partition(".")
            if stop and not to_end:
                return head.strip()
            if number >= n_last:
                return line[found.end() :].strip()
    return text


def announced_answer(text: str) -> str:
    """The text after the last "answer is" or "answer:"; empty when there is none."""
    end = len(text)
    for found in _ANNOUNCES.finditer(text):
        end = found.end()
    return _bare(text[end:])


def conclusion(text: str) -> str:
    """The announced answer, else the whole text."""
    return announced_answer(text) or _bare(text)


def _bare(text: str) -> str:
    """A text without blanks around it and emphasis at its end."""
    return text.strip().rstrip("*_ ").rstrip()


def sentence(text: str) -> str:
    """The first sentence of a conclusion, which a full stop before a capital or a line break ends."""
    said = conclusion(text)
    return _SENTENCE_ENDS.split(said, maxsplit=1)[0].strip()
