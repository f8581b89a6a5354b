"""The files of one sample, which tools reach by the names that the problem shows, never by a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from components.core.errors import ToolError


@dataclass(frozen=True)
class SampleFiles:
    """A state that only reads. ``paths``: name of an input -> file or folder."""

    paths: Mapping[str, Path] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        """The path of an input. Raises ToolError for a name that the problem does not show, or a lost file."""
        if name not in self.paths:
            have = ", ".join(map(repr, self.paths)) or "none"
            raise ToolError(f"There is no input {name!r}; this task's inputs are: {have}.", "not_found")
        if not self.paths[name].exists():
            raise ToolError(f"The input {name!r} cannot be read: its file is missing.", "not_found")
        return self.paths[name]

    def fork(self) -> SampleFiles:
        """Itself: nothing is ever changed."""
        return self

    def close(self) -> None:
        """Nothing to let go of."""
