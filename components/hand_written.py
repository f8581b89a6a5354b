"""YAML: the tables that ship with the project, and the configs of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def read_yaml(path: Path) -> Any:
    """What a file holds. Raises yaml.YAMLError."""
    return parsed(path.read_text(encoding="utf-8"))


def parsed(text: str | bytes) -> Any:
    """What a text holds, read by libyaml where PyYAML has it: in a tenth of the time. Raises yaml.YAMLError."""
    import yaml

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
