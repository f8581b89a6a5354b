"""What a tool may declare besides its spec: that it wraps another tool, and that its calls have a time limit."""

from typing import Protocol, runtime_checkable

from components.core.tools import Tool


@runtime_checkable
class Wrapper(Tool, Protocol):
    """A tool in the place of ``wraps``, which it reaches through the episode's door alone."""

    @property
    def wraps(self) -> Tool: ...


@runtime_checkable
class TimeLimited(Tool, Protocol):
    """A tool whose calls fail after ``timeout_seconds``; None: they never do."""

    @property
    def timeout_seconds(self) -> float | None: ...


def innermost(tool: Tool) -> Tool:
    """The tool below all that wrap it."""
    while isinstance(tool, Wrapper):
        tool = tool.wraps
    return tool


def own_name(tool: Tool) -> str:
    """The name that a toolset gave a tool, whatever it is offered under."""
    return innermost(tool).spec.name
