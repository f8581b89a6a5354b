"""Tools that refuse some calls for want of permission."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from components.core.types import Observation
from components.faults.marks import failed
from components.faults.striking import Striking
from components.faults.wrapping import Struck


@dataclass(frozen=True)
class Denied(Striking):
    """A struck call is not made: the model hears that access is denied. The next call may be granted."""

    kind: ClassVar[str] = "denied"

    async def strike(self, call: Struck) -> Observation:
        """Refuse the call. Raises ToolError."""
        raise failed(self.kind, f"Access denied: no permission to use {call.name} for this request.")
