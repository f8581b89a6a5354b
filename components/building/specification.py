"""The specification of a tool that does not exist yet: read from an agent's text, and checked before it is built.

Parameters are described in a subset of JSON Schema whose every keyword is tested: any other keyword is refused.
"""

import json
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from keyword import iskeyword
from typing import Any

import orjson

from components.core.errors import ToolError

LEAST = 2  # examples
MOST = 20
LABEL = "bad_specification"
_LONGEST = 600  # characters of an error
_LARGEST = sys.float_info.max
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_OBJECT, _TRIED = re.compile(r'\{(?=\s*+")'), 20
_OBJECT_WORDS = {"type", "properties", "required", "additionalProperties", "description", "title"}
_BOUNDS: Mapping[str, tuple[Callable[[float, float], bool], str]] = {
    "minimum": (operator.ge, "is below"),
    "maximum": (operator.le, "is above"),
    "exclusiveMinimum": (operator.gt, "is not above"),
    "exclusiveMaximum": (operator.lt, "is not below"),
}
_WORDS = {"type", "description", "title", "default", "enum", "items", *_BOUNDS}
_KINDS = {"boolean": bool, "number": int | float, "string": str, "array": list | tuple, "object": dict}
_TYPES = ("number", "integer", "string", "boolean", "array")


@dataclass(frozen=True)
class Example:
    """Parameters by name, and the expected result."""

    input: Mapping[str, Any]
    output: Any


@dataclass(frozen=True)
class Specification:
    """``parameters`` is a JSON schema of type object; ``examples`` conform to it, and their outputs are of one kind."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    examples: Sequence[Example]

    @property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        """The schema of each parameter."""
        schemas: Mapping[str, Mapping[str, Any]] = self.parameters["properties"]
        return schemas

    @property
    def required(self) -> Sequence[str]:
        """The parameters that no call may leave out."""
        return tuple(self.parameters.get("required", ()))

    @property
    def output(self) -> str:
        """The kind of every output."""
        return kind(self.examples[0].output)


def read(given: Mapping[str, Any]) -> Specification:
    """The specification in the fields that an agent filled. Raises ToolError."""
    name, description = given.get("name"), given.get("description")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or iskeyword(name):
        raise _bad(f"name is {name!r}; it must be letters, digits and _ only, and start with a letter")
    if not isinstance(description, str) or not description.strip():
        raise _bad("description must say in words what the tool does")
    schema, listed = _decoded(given.get("parameters")), _decoded(given.get("examples"))
    if not is_plain([description, schema, listed]):
        raise _bad("it holds what no JSON can: a number that is not finite or too long, or too many levels")
    parameters = _parameters(schema)
    if not isinstance(listed, list) or not LEAST <= len(listed) <= MOST:
        raise _bad(f"examples must be a list of {LEAST} to {MOST} objects with input and output")
    examples = []
    for number, one in enumerate(listed, 1):
        if not isinstance(one, Mapping) or not isinstance(one.get("input"), Mapping) or one.get("output") is None:
            raise _bad(f"example {number} must be an object with input (an object) and output")
        if wrong := schema_error(parameters, one["input"]):
            raise _bad(f"example {number} is not valid by the schema: {wrong}")
        examples.append(Example(dict(one["input"]), one["output"]))
    if len(kinds := {kind(one.output) for one in examples}) > 1:
        raise _bad(f"the outputs of the examples must be of one kind, found {' and '.join(sorted(kinds))}")
    return Specification(name, description.strip(), parameters, tuple(examples))


def read_reply(text: str) -> Mapping[str, Any]:
    """The fields of a specification in a text that holds it as one JSON object. Raises ToolError."""
    decoder = json.JSONDecoder(strict=False)
    for found in islice(_OBJECT.finditer(text), _TRIED):
        try:
            value, _ = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "parameters" in value:
            return value
    raise _bad("the reply holds no JSON object with name, description, parameters and examples")


def schema_error(parameters: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Why values are not valid by a schema of type object; empty when they are."""
    properties = parameters["properties"]
    for name in parameters.get("required", ()):
        if name not in values:
            return f"{name!r} is missing"
    for name, value in values.items():
        if name not in properties:
            return f"there is no parameter {name!r}; there are {', '.join(properties)}"
        if wrong := _wrong(properties[name], value):
            return f"{name} is {short_json(value, 200)}, which {wrong}"
    return ""


def kind(value: Any) -> str:
    """The JSON type of a value; whole numbers are numbers."""
    return next((name for name, types in _KINDS.items() if isinstance(value, types)), "null")


def is_finite(value: Any) -> bool:
    """Whether a number is one that arithmetic can hold; other values are."""
    return not isinstance(value, int | float) or -_LARGEST <= value <= _LARGEST


def is_plain(value: Any) -> bool:
    """Whether a value can be written as JSON: finite numbers of 64 bits, valid characters, a few hundred levels."""
    try:
        return bool(json.dumps(value, allow_nan=False)) and bool(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return False


def _bad(text: str) -> ToolError:
    return ToolError(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ...", LABEL)


def _decoded(value: Any) -> Any:
    """The value itself, or what a text of JSON holds, as some models write it."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _parameters(schema: Any) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping) or schema.get("type") != "object" or not schema.get("properties"):
        raise _bad("parameters must be a JSON schema of type object with at least one entry in properties")
    if unknown := sorted(set(schema) - _OBJECT_WORDS):
        raise _bad(f"parameters: {unknown[0]} is not known here; known are {', '.join(sorted(_OBJECT_WORDS))}")
    properties, required = schema["properties"], schema.get("required", [])
    if not isinstance(properties, Mapping):
        raise _bad("properties must map each parameter to its schema")
    for name, one in properties.items():
        if not _NAME.fullmatch(name) or iskeyword(name):
            raise _bad(f"a parameter cannot be called {name!r}: letters, digits and _ only, and a letter first")
        _check(name, one)
    if not isinstance(required, list) or any(name not in list(properties) for name in required):
        raise _bad(f"required must list parameters; there are {', '.join(properties)}")
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def _check(name: str, schema: Any, nested: bool = False) -> None:
    """Refuse a parameter's schema that could not be tested. Raises ToolError."""
    if not isinstance(schema, Mapping) or schema.get("type") not in _TYPES[: 4 if nested else 5]:
        raise _bad(f"the type of {name} must be one of {', '.join(_TYPES)}" + (", and not an array" if nested else ""))
    if unknown := sorted(set(schema) - _WORDS):
        raise _bad(f"{name}: {unknown[0]} is not tested here; what is: {', '.join(sorted(_WORDS))}")
    for bound in _BOUNDS:
        if bound in schema and (kind(schema[bound]) != "number" or schema["type"] not in ("number", "integer")):
            raise _bad(f"{name}: {bound} must be a number, and stands with numbers only")
    if schema["type"] == "array":
        _check(f"each item of {name}", schema.get("items"), nested=True)
    values, others = schema.get("enum", [None]), {word: value for word, value in schema.items() if word != "enum"}
    if not isinstance(values, list) or not values or ("enum" in schema and any(_wrong(others, one) for one in values)):
        raise _bad(f"{name}: enum must list the allowed values, all of type {schema['type']} and within its bounds")
    if "default" in schema and (wrong := _wrong(schema, schema["default"])):
        raise _bad(f"{name}: the default is {short_json(schema['default'], 200)}, which {wrong}")


def _wrong(schema: Mapping[str, Any], value: Any) -> str:
    """What is wrong with one value; empty for nothing."""
    wanted, found = schema["type"], kind(value)
    if found != ("number" if wanted == "integer" else wanted):
        return f"is no {wanted}"
    if not is_finite(value) or (wanted == "integer" and value != int(value)):
        return f"is no {wanted}" if is_finite(value) else "is not finite"
    if "enum" in schema and value not in schema["enum"]:
        return f"is none of {short_json(schema['enum'], 200)}"
    for bound, (fits, broken) in _BOUNDS.items() if found == "number" else ():
        if bound in schema and not fits(value, schema[bound]):
            return f"{broken} {schema[bound]}"
    items = value if wanted == "array" else ()
    return next((f"has an item that {wrong}" for one in items if (wrong := _wrong(schema["items"], one))), "")


def short_json(value: Any, most: int = 300) -> str:
    """A value as JSON, cut short."""
    return json.dumps(value, default=str)[:most]
