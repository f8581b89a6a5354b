"""Read what the experts of a panel reply: their fields, votes, reports, analyses; by one of two profiles.

Every reader says whether it had to fall back on a default (``parsed`` is then False), which is counted.

Source: Tang et al. 2024 (MedAgents), arXiv 2311.10537, whose readers are repaired here; those of the published code
(gersteinlab/MedAgents at cd415fa) keep their defects. Letters are in ``components.text.answers``.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from components.text.answers import FAILURES

DEFAULT_FIELD = "General Medicine"
NO_ANALYSIS = "This expert gave no analysis."
_FIELDS = re.compile(r"medical\s+fields?\s*:", re.IGNORECASE)
_BULLET = re.compile(r"[-*•‣⁃◦●○▪■·–—+#>]+\s*|[(\[]?\d{1,3}[.)\]:]+\s*|\d{1,3}\s+[-–—]\s+|[a-z]\)\s*", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"[\[({<*]*+(?:field|domain|special(?:ty|ity)|expert)\s*[_#]?\s*\d*[*\])}>]*\s*:\s*", re.IGNORECASE
)
_AROUND = "\"'“”‘’„«»`* \t"
_AFTER = ".,;"
_LAYERS = 50  # of what may be around an item, one within the other
_BRACKETS = {"[": "]", "(": ")", "{": "}", "<": ">"}
_VOTE = re.compile(r"(?<![^\W_])(?:yes|no)(?![^\W_])", re.IGNORECASE)
_FIRST_VOTE = re.compile(r"[\W_]*(yes|no)(?![^\W_])", re.IGNORECASE)
_KNOWLEDGE, _ANALYSIS = (
    re.compile(rf"(?:(?<![#*_ \t])[#*_ \t]++)?{heading}[*_]*\s*:[*_]*", re.IGNORECASE)
    for heading in ("key knowledge", "total analysis")
)
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?][\"'”’)\]*]*(?=\s|$)")
_NUMBER = re.compile(r"[\s*(]*\d{1,3}\.")


class Experts(NamedTuple):
    """Fields of medicine, at most as many as requested, none twice."""

    fields: tuple[str, ...]
    parsed: bool


class Vote(NamedTuple):
    """Whether an expert agrees with the report."""

    yes: bool
    parsed: bool

    @property
    def word(self) -> str:
        """As records have it."""
        return "yes" if self.yes else "no"


class Report(NamedTuple):
    """The two parts of a report; one that the reply does not have is empty."""

    key_knowledge: str
    total_analysis: str
    parsed: bool


def read_experts(raw: str, expected: int) -> Experts:
    """The fields that a reply names: after the last ``Medical Field:``, else after the last colon. They are in the
    first line with ``|``, else one a line, else between commas or semicolons. A reply without any gives one general
    expert; fewer than ``expected`` are not filled up."""
    text = raw.strip()
    if text in FAILURES:
        return Experts((DEFAULT_FIELD,), False)
    *_, text = _FIELDS.split(text) if _FIELDS.search(text) else text.split(":")
    lines = [line for line in text.splitlines() if line.strip()]
    barred = next((line.split("|") for line in lines if "|" in line), None)
    items = barred or (lines if len(lines) > 1 else re.split("[,;]", text))
    found: dict[str, str] = {}
    for field in filter(None, map(_bare, items)):
        found.setdefault(field.casefold(), field)
    fields = tuple(found.values())[:expected]
    return Experts(fields, True) if fields else Experts((DEFAULT_FIELD,), False)


def read_vote(raw: str) -> Vote:
    """The word yes or no: the one that the reply begins with, else the last; without either a yes, as published."""
    if first := _FIRST_VOTE.match(raw):
        return Vote(first[1].lower() == "yes", True)
    words = _VOTE.findall(raw)
    return Vote(words[-1].lower() == "yes", True) if words else Vote(True, False)


def read_report(raw: str) -> Report:
    """The parts after their headings. Without a heading the whole reply is the analysis, and ``parsed`` False."""
    analysis = _ANALYSIS.search(raw)
    before = raw if analysis is None else raw[: analysis.start()]
    knowledge = _KNOWLEDGE.search(before)
    if analysis is None and knowledge is None:
        return Report("", raw.strip(), False)
    key = "" if knowledge is None else before[knowledge.end() :].strip()
    total = "" if analysis is None else raw[analysis.end() :].strip()
    return Report(key, total, bool(key or total))


def clean_analysis(raw: str, cut: bool) -> str:
    """An analysis as others get to read it: a fixed sentence for none; with ``cut`` (the reply came to its length
    limit) without an unfinished last sentence, unless it is the only one."""
    text = raw.strip()
    if text in FAILURES:
        return NO_ANALYSIS
    ends = [match.end() for match in _SENTENCE_END.finditer(text)] if cut else []
    for end in reversed(ends):
        line = text[text.rfind("\n", 0, end) + 1 : end]
        if not _NUMBER.fullmatch(line):
            return text[:end]
    return text


def _bare(item: str) -> str:
    """An item without bullets, numbers, echoed placeholders and what is around it."""
    for _ in range(_LAYERS):
        before, item = item, item.strip(_AROUND)
        for pattern in (_BULLET, _PLACEHOLDER):
            if match := pattern.match(item):
                item = item[match.end() :]
        item = item.rstrip(_AFTER + " ")
        for opening, closing in _BRACKETS.items():  # around it, or half a pair at an end; Surgery (Vascular) stays
            inner = item[1:]
            if item.startswith(opening) and inner.find(closing) in (-1, len(inner) - 1):
                item = inner.removesuffix(closing)
            if item.endswith(closing) and opening not in item:
                item = item[:-1]
        if item == before:
            break
    return item


class UnreadableReport(Exception):
    """A reply without the heading of the analysis, on which the published program ends with an IndexError."""


def published_experts(raw: str, expected: int) -> Experts:
    """What space-pipe-space separates after the last colon, unchanged and as many as there are. The sentinel of a
    failed call gives the general expert ``expected`` times."""
    if raw == "ERROR.":
        return Experts((DEFAULT_FIELD,) * expected, False)
    return Experts(tuple(raw.rpartition(":")[2].strip().split(" | ")), True)


def published_vote(raw: str) -> Vote:
    """The first occurrence of the letters yes or no, also inside words; without either a yes."""
    first = re.search("yes|no", raw.lower())
    return Vote(True, False) if first is None else Vote(first[0] == "yes", True)


def published_report(raw: str) -> Report:
    """The text between two headings of the analysis; key knowledge is lost. Raises UnreadableReport without one."""
    heading = "Total Analysis:"
    parts = raw.split(heading)
    if len(parts) == 1:
        raise UnreadableReport(f"the reply has no heading {heading!r}")
    return Report("", parts[1].strip(), True)


class Readers(NamedTuple):
    """``experts`` takes the reply and how many were asked for; ``report`` may raise UnreadableReport."""

    experts: Callable[[str, int], Experts]
    vote: Callable[[str], Vote]
    report: Callable[[str], Report]


READERS: Mapping[str, Readers] = {
    "repaired": Readers(read_experts, read_vote, read_report),
    "published": Readers(published_experts, published_vote, published_report),
}
