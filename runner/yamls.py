"""YAML files read with libyaml where PyYAML has it: eight times as fast, and a report reads one per run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def loaded(path: Path) -> Any:
    """What a YAML file says. Raises what PyYAML raises."""
    return yaml.load(path.read_bytes(), _LOADER)
