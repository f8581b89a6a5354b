"""Getting code, statements and actions wrong, as models do, and finding what is wrong with them.

Mistakes make a text fail, or run and be wrong. Repairs do not ask the answer key: what an error or a cause names is
looked for in what failed, and the nearest name that is known is put in its place. What nothing names stays.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from Levenshtein import distance

from components.ehr.simulated.prompt import words_of
from components.simulation.draws import Draws
from components.text.structured import read_yaml

REASONS = "Potential reasons:\n"
MEANT = "`{meant}` is meant where `{stands}` stands."
_MEANT = re.compile(r"`([^`\n]+)` is meant where `([^`\n]+)` stands")
_QUOTED = re.compile(r"`([^`\n]+)`")
_UNKNOWN = re.compile(r"There is no (?:column|table) `([^`\n]+)`|no such (?:column|table): (?:\w+\.)?(\w+)")
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_UNASSIGNED = re.compile(r"nothing was assigned to the variable `(\w+)`")
_UNCLOSED = re.compile(r"unterminated string|unrecognized token|syntax error")
_LISTED = re.compile(r"; (?:the columns are|there are) ([\w, ]+)")
_ASSIGNED = re.compile(r"^(\w+) = ", re.MULTILINE)
_SQL_ENDS = re.compile(r"\s+(?:and|or|group|order|limit)\b|\s*\)|\s*\"{3}|\s*\]|\s*$", re.IGNORECASE)
_LINE_ENDS = re.compile(r"\)|$", re.MULTILINE)
_TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))
_TURNS: Sequence[tuple[str, str]] = _TABLE["turns"]
_TURNED: Sequence[tuple[str, str, str]] = _TABLE["turned"]
_NOT_A_VALUE = re.compile(r"[=<>]|\b(?:and|or|select)\b", re.IGNORECASE)


class Fault(NamedTuple):
    """A piece of a text, and what is meant in its place; ``source``: what of a failure says so, nothing for a guess."""

    wrong: str
    meant: str
    source: Literal["cause", "error", ""] = ""


def fault_in(text: str, failed: str, names: Iterable[str] = ()) -> Fault | None:
    """What a failure shows to be wrong: by its cause, else by its error, with the names in it or, without any, with
    ``names``; None where it shows no place that can be repaired."""
    error, _, reasons = failed.partition(REASONS)
    for meant, stands in _MEANT.findall(reasons):
        if repair(text, Fault(stands, meant)) != text:
            return Fault(stands, meant, "cause")
    here = words_of(text)  # without such a sentence: the quoted names that the text lacks, for what the error names
    quoted = [one for part in _QUOTED.findall(reasons) for one in re.findall(r"\w+", part) if one.lower() not in here]
    if quoted and (caused := _by_error(text, error, quoted)):
        return caused._replace(source="cause")
    found = _LISTED.search(error)
    listed = [one.strip() for one in found[1].split(",")] if found else []
    if named := _by_error(text, error, listed):
        return named._replace(source="error")
    return None if listed else _by_error(text, error, [*names])


def repair(text: str, fault: Fault | None) -> str:
    """The text with what is meant in the place of the fault."""
    if fault is None:
        return text
    once = 1 if fault.wrong.startswith("'") else 0
    return re.sub(rf"(?<!\w){re.escape(fault.wrong)}(?![\w'])" if once else rf"\b{re.escape(fault.wrong)}\b",
                  lambda _: fault.meant, text, count=once)  # fmt: skip


def turn_back(text: str, question: str) -> str:
    """The text with the first comparison turned that its question does not speak of; as it is where there is none."""
    asked = words_of(question)
    for pattern, called_for, meant in _TURNED:
        if re.search(pattern, text) and asked.isdisjoint(called_for.split("|")):
            return re.sub(pattern, meant, text, count=1)
    return text


def find_unlisted(sql: str, tables: Mapping[str, Sequence[str]]) -> Fault | None:
    """The first name of a table or column in a statement that a schema lacks; None without a schema."""
    columns = {one.lower() for names in tables.values() for one in names}
    own = {one.lower() for one in re.findall(r"\bas +\"?(\w+)", sql, re.IGNORECASE)}
    for found in re.finditer(r"\bfrom +(\w+)|\bjoin +(\w+)|\b\w+\.\"?(\w+)", sql, re.IGNORECASE):
        known = columns if found[3] else {one.lower() for one in tables}
        name = found[1] or found[2] or found[3]
        if tables and name.lower() not in known | own and (near := _nearest(name, sorted(known))):
            return Fault(name, near)
    return None


def _by_error(text: str, error: str, names: Sequence[str]) -> Fault | None:
    """What an error names, and the nearest of these names."""
    if found := _UNKNOWN.search(error):
        stands = found[1] or found[2]
        meant = _nearest(stands, [one for one in names if one != stands])
        return Fault(stands, meant) if meant and re.search(rf"\b{re.escape(stands)}\b", text) else None
    if (found := _UNDEFINED.search(error)) or (found := _UNASSIGNED.search(error)):
        assigned = [one for one in _ASSIGNED.findall(text) if one not in ("answer", found[1])]
        ends = (found[1], assigned[-1]) if assigned else ()
        return Fault(*(ends if "defined" in found[0] else ends[::-1])) if ends else None
    return _unclosed(text) if _UNCLOSED.search(error) else None


def _unclosed(text: str) -> Fault | None:
    """A quotation without its end, which is put where the value seems to end."""
    sql, at = "select " in text.lower(), text.find("'")
    while at >= 0:
        end = text.find("'", at + 1)
        value = text[at + 1 : end] if end >= 0 else "\n"
        if "\n" in value or (sql and _NOT_A_VALUE.search(value)):
            stop = (_SQL_ENDS if sql else _LINE_ENDS).search(text, at + 1)
            close = stop.start() if stop is not None else len(text)
            return Fault(text[at:close], f"{text[at:close]}'") if close > at + 1 else None
        at = text.find("'", end + 1)
    return None


def _nearest(name: str, names: Iterable[str]) -> str:
    """The name most alike: the longest that it begins with, else one within a third of its letters; else empty."""
    lowered = name.lower()
    begun = [one for one in names if one and lowered.startswith(one.lower())]
    if begun:
        return max(begun, key=len)
    near = min(names, key=lambda one: distance(lowered, one.lower()), default="")
    return near if near and distance(lowered, near.lower()) <= max(1, len(name) // 3) else ""


Slip = Literal["column", "table", "quotes", "duration", "variable", "answer"]
LOUD: tuple[Slip, ...] = get_args(Slip)
_LOADED = re.compile(r"(LoadDB(?:\(['\"]|\[))(\w+)")
_FROM = re.compile(r"\bfrom (\w+)", re.IGNORECASE)
_LITERAL = re.compile(r"'[^'\n]*'")
_ANSWER = re.compile(r"\banswer\b")
_UNIT = re.compile(r"(?<=\w )(?:year|month|day|hour|minute|second)\b")


def wrong(text: str, columns: frozenset[str], rate: float, draws: Draws) -> str:
    """Another text than this one, with a slip; with ``rate`` one that does not fail, where it can have one."""
    turned = silent_mistake(text) if draws.happens("silent", rate) else text
    return turned if turned != text else loud_mistake(text, columns, draws)


def loud_mistake(text: str, columns: frozenset[str], draws: Draws) -> str:
    """The text with a slip that is noticed when it is run; ``columns`` are those it may misspell. What can have none
    has a silent one, or an end that does not belong there."""
    slips = [slip for one in LOUD if (slip := _slipped(text, one, columns)) != text]
    if slips:
        return draws.pick("slip", slips)
    turned = silent_mistake(text)
    return turned if turned != text else f"{text[:-1]} ?]" if text.endswith("]") else f"{text}\nresult"


def silent_mistake(text: str) -> str:
    """The text with a comparison turned round: it runs, and is wrong."""
    for pattern, turned in _TURNS:
        if re.search(pattern, text):
            return re.sub(pattern, turned, text, count=1)
    return text


def _slipped(text: str, kind: Slip, columns: frozenset[str]) -> str:
    if kind == "column":
        known = sorted(columns & {one.lower() for one in re.findall(r"\w+", text)})
        return re.sub(rf"(?i)\b{known[0]}\b", lambda found: f"{found[0]}_no", text) if known else text
    if kind == "table":
        if _LOADED.search(text):
            return _LOADED.sub(lambda found: found[1] + found[2].swapcase(), text, count=1)
        return _FROM.sub(lambda found: f"from {found[1]}_table", text, count=1)
    if kind == "duration":
        return _UNIT.sub(lambda found: f"{found[0]}ly", text, count=1) if text.startswith("Calendar[") else text
    if kind == "quotes":
        is_action = "[" in text[:16] and "select" not in text[:24].lower()
        return text if is_action else _LITERAL.sub(lambda found: found[0][:-1], text, count=1)
    if not _ANSWER.search(text):
        return text
    return _ANSWER.sub("found", text) if kind == "answer" else f"{_ANSWER.sub('found', text)}\nanswer = result"
