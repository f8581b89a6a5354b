"""Whether the values of JSON have the types of a TypedDict. Keys may be missing, and unknown ones are not looked at."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

_NAMES: Mapping[type, str] = {
    dict: "names and values", list: "a list", str: "text", float: "a number", int: "a whole number",
    bool: "true or false", type(None): "null",
}  # fmt: skip
_UNIONS = (Union, UnionType)
fields_of = cache(get_type_hints)  # of a TypedDict: name -> type


@cache
def kinds_of(form: Any) -> frozenset[type]:
    """The classes that JSON of a type is read as."""
    origin, args = get_origin(form) or form, get_args(form)
    if origin is Any:
        return frozenset(_NAMES)
    if origin in _UNIONS:
        return frozenset[type]().union(*map(kinds_of, args))
    if origin is Literal:
        return frozenset(map(type, args))
    if origin is Mapping or is_typeddict(origin):
        return frozenset({dict})
    return frozenset({float, int, bool} if origin is float else {origin})


def misfit(value: Any, form: Any, place: str = "") -> str:
    """The first part of a value that is not of its type: where, what is there, and what is right; empty where all is.
    ``place``: the dotted key of the value."""
    if type(value) not in (kinds := kinds_of(form)):
        right = [
            name for kind, name in _NAMES.items() if kind in kinds and not (kind in (int, bool) and float in kinds)
        ]
        return f"{place or 'all'} is {json.dumps(value)[:40]}, not {' or '.join(right)}"
    if get_origin(form) in _UNIONS:
        form = next(one for one in get_args(form) if type(value) in kinds_of(one))
    before = f"{place}." if place else ""
    return next(filter(None, (misfit(part, of, before + name) for name, part, of in _parts(value, form))), "")


def _parts(value: Any, form: Any) -> Iterator[tuple[str, Any, Any]]:
    """Key, value and type of each part of a value that is of its type."""
    args = get_args(form)
    if is_typeddict(form):
        yield from ((name, value[name], of) for name, of in fields_of(form).items() if name in value)
    elif isinstance(value, dict) and args:
        yield from ((name, part, args[1]) for name, part in value.items())
    elif isinstance(value, list) and args:
        yield from ((str(n), part, args[0]) for n, part in enumerate(value))
