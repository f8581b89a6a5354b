"""Reading one of several text arguments of a tool, as a model wrote it."""

from components.core.errors import ToolError
from components.core.messages import ToolSpec

LONGEST = 20_000


def text_argument(spec: ToolSpec, parameter: str, value: object, longest: int = LONGEST) -> str:
    """An argument that must be a text. Raises ToolError when it is none, empty, or above ``longest`` characters."""
    problem = ""
    if not isinstance(value, str):
        problem = f"needs {parameter!r} as a text, found {type(value).__name__}"
    elif not value.strip():
        problem = f"needs a text in {parameter!r}, which is empty"
    elif len(value) > longest:
        problem = (
            f"takes at most {longest:,} characters in {parameter!r}, found {len(value):,}; give a part of the text"
        )
    elif not _is_writable(value):
        problem = f"cannot read {parameter!r}: it holds what cannot be written as text"
    if problem:
        raise ToolError(f"{spec.name} {problem}.", "bad_arguments")
    return str(value)


def _is_writable(text: str) -> bool:
    """Whether a text has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
