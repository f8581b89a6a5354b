"""What tools over one text share: their spec, how the text is read, and which spaCy pipeline they need."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

from components.acting.arguments import text_argument
from components.core.messages import ToolSpec

LONGEST = 100_000


def given_text(spec: ToolSpec, value: object) -> str:
    """The tool's one text argument. Raises ToolError when it is no text, empty, or too long (100,000)."""
    return text_argument(spec, next(iter(spec.parameters["properties"])), value, LONGEST)


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
