"""What tools ask of the backend that answers for them: a file, a service, a snapshot; how names are compared."""

from typing import Protocol, runtime_checkable

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Effect


@runtime_checkable
class Backend(Protocol):
    """Where answers are found."""

    @property
    def effect(self) -> Effect: ...

    @property
    def identity(self) -> str:
        """What changes when the answers of a service can."""

    @property
    def missing(self) -> str:
        """What is absent and how to get it; empty when all is there."""


def ready(spec: ToolSpec, missing: str) -> None:
    """Raise ToolError (unavailable) for a tool that lacks something."""
    if missing:
        raise ToolError(f"{spec.name} is unavailable: {missing}.", "unavailable")


def plain(name: str) -> str:
    """Write a name as it is compared: in one case, with single spaces."""
    return " ".join(name.casefold().split())
