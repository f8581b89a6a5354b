"""What tools over one text share: their spec, how the text is read, and how optional libraries are loaded.

These libraries import each other's parts (spaCy its plug-ins, these spaCy), and tools run in threads: two that import
at the same time can end up with half-loaded modules. Hence one lock for all of them.
"""

from importlib.metadata import PackageNotFoundError, distribution
from threading import Lock

from components.acting.arguments import text_argument
from components.core.errors import missing_extra
from components.core.messages import ToolSpec

LOADING = Lock()  # held while an optional library is imported and its model is built
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
    if lacking := missing_extra(f"{tool} with model: {model}", "spacy", "text"):
        return lacking
    try:
        distribution(model)
    except PackageNotFoundError:
        return f"{tool}: the spaCy pipeline {model!r} is not installed; install its package, or set model: null"
    return ""
