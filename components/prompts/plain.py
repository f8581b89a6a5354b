"""Prompts that a model wrote: plain text and ``{{ name }}`` for names that are known, and nothing else.

Statements, comments, filters, attributes, calls and other names are refused before a template language sees them. A set
lists such templates in ``written.yaml``; they are checked whenever it is read, also after a person has edited them.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from unicodedata import category

from jinja2 import Environment, nodes
from jinja2.meta import find_undeclared_variables

WRITTEN = "written"  # the file written.yaml: template -> {names: [...], needs: [...]}
LONGEST, OFTENEST = 20_000, 3  # characters of a template; times that it may show one name
_SLOT = re.compile(r"(?<!\{)\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}(?!\})")
_OPENS = re.compile(r"\{[{%#]")


def slots(text: str) -> list[str]:
    """The names that a plain template is filled with, in their order."""
    return _SLOT.findall(text)


def pieces(text: str) -> Sequence[str]:
    """A plain template as text, name, text, name, ..., text; empty where it is not plain."""
    return _SLOT.split(text) if is_plain(text) else ()


def is_plain(text: str) -> bool:
    """Whether a text is no more than words and names in braces."""
    return _opening(text) is None


def shown_by(
    environment: Environment, text: str, switches: Collection[str], shared: Callable[[str], str]
) -> set[str] | None:
    """The names that a template shows as they are, if it does nothing else with its inputs; None otherwise.
    ``switches``: names that may decide what is in it; ``shared``: the text of a file that it includes."""
    tree = environment.parse(text)
    for one in tree.find_all(nodes.Include):
        included = one.template.value if isinstance(one.template, nodes.Const) else None
        if included is None or shown_by(environment, shared(included), (), shared) != set():
            return None
    names = find_undeclared_variables(tree) - set(switches)
    used = Counter(one.name for one in tree.find_all(nodes.Name) if one.ctx == "load")
    outputs = (one for output in tree.find_all(nodes.Output) for one in output.nodes)
    shown = Counter(one.name for one in outputs if isinstance(one, nodes.Name))
    return names if all(used[name] == shown[name] for name in names) else None


def flaw_in(text: str, names: Collection[str], needs: Collection[str] = ()) -> str | None:
    """Why a text may not take a template's place; None where it may. ``names``: its inputs; it must show all of them
    and no other. ``needs``: texts that it must contain, since parsers of the replies depend on them."""
    if not text.strip():
        return "it is empty"
    if len(text) > LONGEST:
        return f"it has {len(text)} characters; {LONGEST} are the most"
    if (hidden := next((n for n, one in enumerate(text) if _hides(one)), None)) is not None:
        return f"{_line(text, hidden)}: the control character U+{ord(text[hidden]):04X} cannot stand in a prompt"
    if (place := _opening(text)) is not None:
        return (
            f"{_line(text, place)}: {text[place:].partition(chr(10))[0][:60]!r} is more than a name in braces;"
            " only {{ name }} may be written, no statement or expression"
        )
    if strange := next((one for one in _SLOT.finditer(text) if one[1] not in names), None):
        have = ", ".join(names) or "none"
        return f"{_line(text, strange.start())}: {{{{ {strange[1]} }}}} is not known here; known are {have}"
    if crowd := [name for name in names if slots(text).count(name) > OFTENEST]:
        return f"{{{{ {crowd[0]} }}}} stands {slots(text).count(crowd[0])} times; {OFTENEST} are the most"
    if lost := [name for name in names if name not in slots(text)]:
        return f"{{{{ {lost[0]} }}}} is lost, through which the prompt gets what it needs"
    if lost := [mark for mark in needs if mark not in text]:
        return f"{lost[0]!r} is lost, by which replies are read"
    return None


def visible(text: str) -> str:
    """The text with ``?`` for letters that a reader does not see."""
    return "".join("?" if _hides(one) else one for one in text)


def _hides(letter: str) -> bool:
    """Whether a letter is one that a reader does not see: a control character, or one that turns the direction."""
    return letter not in "\n\t" and category(letter) in ("Cc", "Cf", "Cs")


def _line(text: str, place: int) -> str:
    """The line of a place, counted from 1."""
    return f"line {text.count(chr(10), 0, place) + 1}"


def _opening(text: str) -> int | None:
    """Where the first opening is that begins no name in braces."""
    names = {found.start() for found in _SLOT.finditer(text)}
    return next((found.start() for found in _OPENS.finditer(text) if found.start() not in names), None)


def rules_of(written: Any) -> dict[str, tuple[list[str], list[str]]]:
    """Template -> names and needs, from what ``written.yaml`` holds. Raises ValueError."""
    if not isinstance(written, Mapping):
        raise ValueError("it is not a mapping of templates")
    found: dict[str, tuple[list[str], list[str]]] = {}
    for template, rules in written.items():
        lists: list[Any] = [rules.get(key) for key in ("names", "needs")] if isinstance(rules, Mapping) else [None]
        if not all(isinstance(part, list) and all(isinstance(one, str) for one in part) for part in lists):
            raise ValueError(f"{template}: names and needs are expected, each a list of texts")
        found[str(template)] = (lists[0], lists[1])
    return found
