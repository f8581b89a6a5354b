"""A profile's switches as components receive them from a YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from components.core.errors import ConfigError
from components.radiology.switches import Switches


def as_switches(value: Switches | Mapping[str, Any]) -> Switches:
    """Take switches as they are, or build them from a mapping. Raises ConfigError for a wrong name or value."""
    if isinstance(value, Switches):
        return value
    given = {str(name): setting for name, setting in value.items()}
    names = [field.name for field in fields(Switches)]
    if unknown := sorted(set(given) - set(names)):
        raise ConfigError(f"unknown switches {unknown}: a profile has {names}")
    hints = get_type_hints(Switches)
    for name, setting in given.items():
        allowed: Sequence[Any] = get_args(hints[name]) if get_origin(hints[name]) is Literal else (True, False)
        if name != "max_steps" and (setting not in allowed or type(setting) is not type(allowed[0])):
            raise ConfigError(f"switch {name} is {setting!r}; it can be {list(allowed)}")
    return Switches(**given)
