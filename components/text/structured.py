"""Structured values in texts: JSON and Python literals in what a model wrote, and YAML."""

import json
import re
from ast import literal_eval
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object between the first brace and the last; None when it is not one."""
    value = _decoded(text, "{", "}")
    return value if isinstance(value, dict) else None


def array_in(text: str) -> list[Any] | None:
    """The JSON array between the first square bracket and the last; None when it is not one."""
    value = _decoded(text, "[", "]")
    return value if isinstance(value, list) else None


def lessons(value: object) -> list[str] | None:
    """A list of texts that are not empty; None when it is anything else, a plain text too."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        return None
    return [one.strip() for one in value]


def inside(value: Any) -> list[Any]:
    """The values of a JSON object or array; none of any other value."""
    return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []


def is_deeper(value: Any, levels: int) -> bool:
    """Whether objects and arrays are nested in more than so many levels."""
    found = [value]
    for _ in range(levels + 1):
        found = [inner for one in found for inner in inside(one)]
    return bool(found)


def _decoded(text: str, first: str, last: str) -> object:
    start, end = text.find(first), text.rfind(last)
    try:
        return json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return None


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_KNOWN = frozenset("\n\\'\"abfnrtvxuUN01234567")


class NotLiteral(ValueError):
    """The text is not a literal."""


def literal(text: str) -> Any:
    """The value of a literal. Raises NotLiteral."""
    try:
        # An escape that Python does not know is a backslash and a letter, as Python itself reads it.
        return literal_eval(_ESCAPE.sub(lambda one: one[0] if one[1] in _KNOWN else "\\" + one[0], text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise NotLiteral(text[:80]) from None


def read_yaml(path: Path) -> Any:
    """What a file holds. Raises yaml.YAMLError."""
    return parse(path.read_text(encoding="utf-8"))


_DEEPEST = 200  # libyaml builds what it reads by recursion: deeper texts end the process
_NESTS = ("[", "{", "- -", "? ?")


def parse(text: str | bytes, aliases: bool = True) -> Any:
    """What a text holds, read by libyaml where PyYAML has it: in a tenth of the time. Without ``aliases`` it is not
    larger than the text. Raises yaml.YAMLError."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    decoded = text if isinstance(text, str) else text.decode("utf-8", "replace")
    depth = 0
    is_checked = not aliases or sum(map(decoded.count, _NESTS)) > _DEEPEST
    for event in yaml.parse(decoded, Loader=loader) if is_checked else ():
        if isinstance(event, yaml.AliasEvent) and not aliases:
            raise yaml.YAMLError(f"*{event.anchor} stands for another part: write it out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise yaml.YAMLError(f"lists and mappings are nested more than {_DEEPEST} deep")
    return yaml.load(text, Loader=loader)
