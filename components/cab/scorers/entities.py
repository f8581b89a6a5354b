"""MedMentions: F1 of the entities that an answer lists.

======================================  ================================================================
official (the reference, quirks too)    strict
======================================  ================================================================
a literal, else the last bracket        every bracketed list; without brackets a list with commas,
group; a plain list is empty            semicolons or lines
a trailing bracket leaves a blank       it does not
spellings that differ in case count     each entity counts once, in the answer and in the key
twice, so F1 can exceed 1
======================================  ================================================================

Source: Mohan and Li 2019, arXiv 1902.09476; rules of the reference BlueZeros/ReflecTool at e89ef65.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.cab.scorers.case import Case, Reading, Unscored
from components.text.answers import conclusion, marked
from components.text.structured import NotLiteral, literal

_BETWEEN = re.compile(r"[,;\n]")
_NUMBERED = re.compile(r"\s*\d{1,3}[.)]\s")
_AROUND = " \t\r\n\"'“”‘’`*•.-"


def official(case: Case) -> Reading:
    """The reference's F1; more than 1 where it counts spellings twice."""
    gold, names = [name.lower() for name in _gold(case)], []
    for one in sorted(set(_official_list(case.answer))):
        name = one.strip('"').lower()
        names.append(name.rsplit("(", 1)[0] if name.endswith(")") else name)
    return Reading(_f1(sum(one in gold for one in names), len(names), len(gold)), names, gold)


def strict(case: Case) -> Reading:
    """F1 of the different entities: of all bracketed lists in the conclusion, else of the conclusion as a list."""
    reply = conclusion(case.answer)
    groups = list(_groups(reply))
    listed = [name for group in groups for name in _members(group)] if groups else _BETWEEN.split(reply)
    gold, listed_names = ({name for one in names if (name := _name(one))} for names in (_gold(case), listed))
    return Reading(_f1(len(gold & listed_names), len(listed_names), len(gold)), sorted(listed_names), sorted(gold))


def _f1(hits: int, n_found: int, n_gold: int) -> float:
    return 2 * hits / (n_found + n_gold) if hits else 0.0


def _official_list(answer: str) -> Sequence[str]:
    """The names as the reference finds them; none where it gives up."""
    reply = marked(answer, to_end=True)
    try:
        value = literal(reply.strip(".\n "))
    except NotLiteral:
        last = None  # the content of the last brackets that one line closes
        for line in reply.split("\n"):
            end = -1
            while (start := line.find("[", end + 1)) >= 0 and (end := line.find("]", start)) >= 0:
                last = line[start + 1 : end]
        return [] if last is None else last.split(", ")
    names = list(value) if isinstance(value, list | tuple | set | dict | str) else []
    return names if all(isinstance(name, str) for name in names) else []


def _groups(text: str) -> Iterable[str]:
    """The outermost groups in square brackets; the whole text where other brackets are around it."""
    whole = text.strip(_AROUND)
    if whole[:1] + whole[-1:] in ("()", "{}") and "[" not in whole:
        yield whole
        return
    start, depth = 0, 0
    for place, letter in enumerate(text):
        if letter == "[":
            start, depth = (place, 1) if depth == 0 else (start, depth + 1)
        elif letter == "]" and depth:
            depth -= 1
            if depth == 0:
                yield text[start : place + 1]


def _members(group: str) -> Iterable[str]:
    try:
        value = literal(group)
    except NotLiteral:
        return _BETWEEN.split(group[1:-1])
    return [str(member) for member in value] if isinstance(value, list | tuple | set) else [str(value)]


def _name(text: str) -> str:
    """A name in lower case without quotes, blanks and a bracketed end."""
    name = _NUMBERED.sub("", text, count=1) if _NUMBERED.match(text) else text
    name = name.strip(_AROUND).casefold()
    if name.endswith(")") and "(" in name:
        name = name.rsplit("(", 1)[0].rstrip() or name
    return " ".join(name.split())


def _gold(case: Case) -> list[str]:
    gold: Any = case.value("answer")
    if not isinstance(gold, list) or not all(isinstance(one, Mapping) and "entity_name" in one for one in gold):
        raise Unscored(f"the right answer must be a list of objects with entity_name, found {gold!r:.80}")
    return [str(one["entity_name"]) for one in gold]
