"""Rubrics from YAML: by name in ``conf/rubrics``, or a path."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ConfigError
from components.rubrics.rubric import Rubric
from runner.config.build import check
from runner.config.errors import nearest


def load(folder: Path, name: str) -> Rubric:
    """The rubric of this name in a folder, or of this path. Raises ConfigError, which says where it is wrong."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
    if not path.is_file():
        known = (one.stem for one in folder.glob("*.yaml"))
        raise ConfigError(f"no rubric {name!r}; {nearest(name, known)}, or the path of a YAML")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from None
    return from_values(values, str(path))


def from_values(values: object, where: str) -> Rubric:
    """A rubric from what a YAML or JSON file holds. Raises ConfigError."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where}: a rubric is a mapping, found {type(values).__name__}")
    told: Mapping[str, Any] = values
    try:
        return check(Rubric, told)
    except ConfigError as error:
        raise ConfigError("\n".join(f"{where}: {line}" for line in str(error).splitlines())) from None
