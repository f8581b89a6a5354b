"""How often the simulated core is right and how it fails."""

from __future__ import annotations

from dataclasses import dataclass, fields

from components.core.errors import ConfigError


@dataclass(frozen=True)
class Rates:
    """All in [0, 1]; the defaults make a core that never errs."""

    competence: float = 1.0
    planning_slip: float = 0.0
    wrong_tool: float = 0.0
    malformed: float = 0.0
    ignored_refusal: float = 0.0
    second_choice: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) <= 1:
                raise ConfigError(f"{field.name}: found {getattr(self, field.name)}, a share is in [0, 1]")
