"""What tools over one text share: their spec, how the text is read, and which spaCy pipeline they need."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

from components.errors import ToolError
from components.messages import ToolSpec

LONGEST = 100_000


def given_text(spec: ToolSpec, value: object) -> str:
    """The tool's one text argument. Raises ToolError when it is no text, empty, or too long (100,000)."""
    name = next(iter(spec.parameters["properties"]))
    if not isinstance(value, str):
        kind = type(value).__name__
        raise ToolError(f"{spec.name} needs {name!r} as a text, found {kind}.", "bad_arguments")
    if not value.strip():
        raise ToolError(f"{spec.name} needs a text in {name!r}, which is empty.", "bad_arguments")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ToolError(f"{spec.name}: {name!r} holds what cannot be written as text.", "bad_arguments") from None
    if len(value) > LONGEST:
        raise ToolError(
            f"{spec.name} takes at most {LONGEST:,} characters, found {len(value):,}; give a part of the text.",
            "bad_arguments",
        )
    return value


def text_spec(name: str, description: str, parameter: str, about: str, dimension: str) -> ToolSpec:
    """The spec of a tool with one text argument."""
    parameters = {
        "type": "object",
        "properties": {parameter: {"type": "string", "description": about}},
        "required": [parameter],
    }
    return ToolSpec(name, description, parameters, facts={"dimension": dimension})


def missing_model(tool: str, model: str | None) -> str:
    """What to install when a spaCy pipeline that is named is not there; found without loading spaCy."""
    if model is None:
        return ""
    try:
        distribution(model)
    except PackageNotFoundError:
        return f"{tool}: the spaCy pipeline {model!r} is not installed; install its package, or set model: null"
    return ""
