"""Reading one of several text arguments of a tool, as a model wrote it."""

from __future__ import annotations

from components.errors import ToolError
from components.messages import ToolSpec

LONGEST = 20_000


def text_argument(spec: ToolSpec, parameter: str, value: object) -> str:
    """An argument that must be a text. Raises ToolError when it is none, empty, or above 20,000 characters."""
    if not isinstance(value, str):
        raise ToolError(f"{spec.name} needs {parameter!r} as a text, found {type(value).__name__}.", "bad_arguments")
    if not value.strip():
        raise ToolError(f"{spec.name} needs a text in {parameter!r}, which is empty.", "bad_arguments")
    if len(value) > LONGEST:
        found = f"found {len(value):,} characters"
        raise ToolError(f"{spec.name} takes at most {LONGEST:,} in {parameter!r}, {found}.", "bad_arguments")
    return value
