"""Calls of tools before they run: text arguments, what a tool foresees, the reflection in front, optional libraries.

Source of the block ``<Reflection>``, in which a reply thinks before it acts: Zheng et al. 2024, arXiv 2412.09529; it
holds ``<Candidates>``, ``<Reasoning>`` and ``<Constraints>``.
"""

import re
from importlib.metadata import PackageNotFoundError, distribution
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from components.core.errors import ToolError, missing_extra
from components.core.messages import ToolSpec, encodable
from components.core.tools import Offer, State, tool_of
from components.core.traits import innermost
from components.core.types import Action

LONGEST, LONGEST_ALONE = 20_000, 100_000  # characters of one of several arguments, of the only one
LOADING = Lock()  # for imports of optional libraries: in two threads at once they can end up half-loaded
OPENS, CLOSES = "<Reflection>", "</Reflection>"
_TAG = re.compile(r"</?\w+>")


def text_argument(spec: ToolSpec, parameter: str, value: object, longest: int = LONGEST) -> str:
    """An argument that must be a text. Raises ToolError for any other, for an empty one and above ``longest``."""
    problem = ""
    if not isinstance(value, str):
        problem = f"needs {parameter!r} as a text, found {type(value).__name__}"
    elif not value.strip():
        problem = f"needs a text in {parameter!r}, which is empty"
    elif len(value) > longest:
        problem = (
            f"takes at most {longest:,} characters in {parameter!r}, found {len(value):,}; give a part of the text"
        )
    elif not encodable(value):
        problem = f"cannot read {parameter!r}: it holds what cannot be written as text"
    if problem:
        raise ToolError(f"{spec.name} {problem}.", "bad_arguments")
    return str(value)


def only_text(spec: ToolSpec, value: object) -> str:
    """The tool's one text argument. Raises ToolError when it is not a text, empty, or too long (100,000)."""
    return text_argument(spec, next(iter(spec.parameters["properties"])), value, LONGEST_ALONE)


def text_spec(name: str, description: str, parameter: str, about: str, dimension: str, **facts: str) -> ToolSpec:
    """The spec of a tool with one text argument."""
    properties = {parameter: {"type": "string", "description": about}}
    parameters = {"type": "object", "properties": properties, "required": [parameter]}
    return ToolSpec(name, description, parameters, facts={"dimension": dimension, **facts})


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


@runtime_checkable
class ForeseesErrors(Protocol):
    """A tool that can say that a call would be refused, without running it and without revealing its result."""

    def foresee(self, state: State, **arguments: Any) -> None:
        """Raises ToolError, as the call would."""


def foresee_error(offer: Offer, action: Action) -> ToolError | None:
    """Why the first call that would be refused would be so; None where nothing is known to be wrong. Tools are asked
    about the first call alone: those after it meet what it leaves behind."""
    for number, call in enumerate(action.calls):
        try:
            tool, arguments = tool_of(offer, call)
            if number == 0 and isinstance(inner := innermost(tool), ForeseesErrors):
                inner.foresee(offer.state, **arguments)
        except ToolError as error:
            return error
    return None


def reflection_in(text: str) -> str:
    """What the first block says, without the tags inside it; empty where there is no block or nothing in it."""
    inside, closed, _ = text.partition(OPENS)[2].partition(CLOSES)
    return " ".join(_TAG.sub(" ", inside).split()) if closed else ""
