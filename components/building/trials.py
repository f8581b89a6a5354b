"""Inputs that a schema allows and no example shows: the ends of ranges, each allowed value, what may be left out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.building.specification import Specification, fault

MOST = 40


def trials(spec: Specification) -> Sequence[Mapping[str, Any]]:
    """At most 40 valid inputs: those of the examples with one parameter changed, or left out where it may be."""
    shown = [one.input for one in spec.examples]
    found: list[Mapping[str, Any]] = []
    for given in _changed(spec):
        if given not in (*shown, *found) and not fault(spec.parameters, given):
            found.append(given)
        if len(found) == MOST:
            break
    return found


def _changed(spec: Specification) -> Iterator[Mapping[str, Any]]:
    for base in (one.input for one in spec.examples):
        for name, schema in spec.properties.items():
            for value in _edges(schema):
                yield {**base, name: value}
            if name in base and name not in spec.required:
                yield {key: value for key, value in base.items() if key != name}


def _edges(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Values on the edge of what a parameter may be, and its representation; none where its schema sets none."""
    if "default" in schema:
        yield schema["default"]
    if "enum" in schema:
        yield from schema["enum"]
    elif schema["type"] == "boolean":
        yield from (False, True)
    elif schema["type"] in ("number", "integer"):
        yield from _ends(schema)


def _ends(schema: Mapping[str, Any]) -> Iterator[float]:
    """The ends of a range, and its middle; just inside of an end that does not belong to it."""
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    whole = schema["type"] == "integer"
    inside = 1 if whole or low is None or high is None else (high - low) / 100
    if low is not None:
        yield low + inside if low == schema.get("exclusiveMinimum") else low
    if high is not None:
        yield high - inside if high == schema.get("exclusiveMaximum") else high
    if low is not None and high is not None:
        yield (low + high) // 2 if whole else (low + high) / 2
