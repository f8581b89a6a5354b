"""Models that can no longer be had: what is known of their end, and what is nearest to them."""

from dataclasses import dataclass
from datetime import date

from components.core.errors import ConfigError


@dataclass(frozen=True)
class Retired:
    """The end of a model's service.

    Args:
        by: who served it.
        instead: the nearest choice of ``model``.
        since: the first day without it, as 2026-10-23; None: it is gone, and the day is not known.
        offered: false for a model that was never public.
    """

    by: str
    instead: str
    since: str | None = None
    offered: bool = True

    def __post_init__(self) -> None:
        if self.since is not None:
            _day(self.since)

    def refuse(self, name: str, today: date) -> None:
        """Raise ConfigError if the model cannot be had today."""
        if self.since is not None and today < _day(self.since):
            return
        end = f"{self.by} retired {name!r} on {self.since}" if self.since else f"{self.by} no longer serves {name!r}"
        elsewhere = "; if a server still has it: retired=null, with its address in api_base"
        if not self.offered:
            end, elsewhere = f"{self.by} never offered {name!r} to the public", ""
        raise ConfigError(f"retired: {end}; the nearest choice is model={self.instead}{elsewhere}")


def _day(text: str) -> date:
    """A date of the configuration. Raises ConfigError."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"retired: since must be a day such as 2026-10-23, found {text!r}") from None
