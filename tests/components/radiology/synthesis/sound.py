"""A shipped case to spoil."""

import copy
import json
from pathlib import Path
from typing import Any

from components.radiology import dataset as radabench

SHIPPED = Path(radabench.__file__).parent / "radabench_mini" / "train.json"


def case(name: str = "train-chest-x-ray-1") -> dict[str, Any]:
    return copy.deepcopy(json.loads(SHIPPED.read_text(encoding="utf-8"))[name])


def spoilt(changes: dict[str, str]) -> dict[str, Any]:
    """The record with other texts at dotted keys."""
    record = case()["case"]
    for key, value in changes.items():
        *groups, last = key.split(".")
        inner = record
        for group in groups:
            inner = inner[group]
        inner[last] = value
    return record
