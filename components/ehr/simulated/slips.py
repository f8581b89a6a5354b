"""Getting code, statements and actions wrong, as models do: so that they fail, or run and are wrong."""

import re
from typing import Literal

from components.simulation.draws import Draws

Slip = Literal["column", "table", "quotes", "duration", "variable", "answer"]
LOUD: tuple[Slip, ...] = ("column", "table", "quotes", "duration", "variable", "answer")
_LOADED = re.compile(r"(LoadDB(?:\(['\"]|\[))(\w+)")
_FROM = re.compile(r"\bfrom (\w+)", re.IGNORECASE)
_LITERAL = re.compile(r"'[^'\n]*'")
_ANSWER = re.compile(r"\banswer\b")
_UNIT = re.compile(r"(?<=\w )(?:year|month|day|hour|minute|second)\b")
# What is turned round, the first that a text holds; another value is then read, or other rows.
_TURNS: tuple[tuple[str, str], ...] = (
    (r"(?<=\)) > 0(?= else)", " == 0"),
    (r"(?<=[\w)]) > 0", " = 0"),
    (r"(Filter\w+[(\[][^\n]*?\w)=(?!null)", r"\1!="),
    (r"(?<=\w) = (?=['\d])", " != "),
    (r"(?i)\bmax(?=['( \]])", "min"),
    (r"(?i)\bmin(?=['( \]])", "max"),
    (r"(?<=\w) ?(?:>=|>) ?(?=['\d])", " < "),
    (r"(?<=\w)(?:>=|>)(?=\S)", "<"),
    (r"(?i)\bcount ?\( ?\*", "2 * count(*"),
    (r"(?i)\bselect (distinct )?(?!\*)", r"select \1'x' || "),
    (r"(?<=Calendar\[)-", "-1"),
)


def wrong(text: str, columns: frozenset[str], rate: float, draws: Draws) -> str:
    """Another text than this one, with a slip; with ``rate`` one that does not fail, where it can have one."""
    turned = silent(text) if draws.happens("silent", rate) else text
    return turned if turned != text else loud(text, columns, draws)


def loud(text: str, columns: frozenset[str], draws: Draws) -> str:
    """The text with a slip that is noticed when it is run; ``columns`` are those it may misspell. What can have none
    has a silent one, or an end that does not belong there."""
    kinds = [one for one in LOUD if _slipped(text, one, columns) != text]
    if kinds:
        return _slipped(text, draws.pick("slip", kinds), columns)
    turned = silent(text)
    return turned if turned != text else f"{text[:-1]} ?]" if text.endswith("]") else f"{text}\nresult"


def silent(text: str) -> str:
    """The text with a comparison turned round: it runs, and is wrong."""
    for pattern, turned in _TURNS:
        if re.search(pattern, text):
            return re.sub(pattern, turned, text, count=1)
    return text


def _slipped(text: str, kind: Slip, columns: frozenset[str]) -> str:
    """The text with one slip; as it is where it cannot have it."""
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
        return text if "[" in text[:16] and "select" not in text[:24].lower() else _unclosed(text)
    if not _ANSWER.search(text):
        return text
    return _ANSWER.sub("found", text) if kind == "answer" else f"{_ANSWER.sub('found', text)}\nanswer = result"


def _unclosed(text: str) -> str:
    """The first quotation without its end."""
    return _LITERAL.sub(lambda found: found[0][:-1], text, count=1)
