"""The namespace of every hostile cell: facts about the ground, raw system calls, the EHR tools.

A cell raises where it is prevented and sets ``answer`` to what it got where it is not.
"""

from collections.abc import Mapping
from typing import Any

from components.ehr import cell as ehr
from tests.components.sandbox.attacks.calls import X32, syscall


def look_up(ward: str) -> str:
    """A tool as honest cells use it."""
    return {"A": "12 beds", "B": "30 beds"}[ward]


def names(*, facts: Mapping[str, Any], ehr_arguments: Mapping[str, Any]) -> dict[str, object]:
    """The namespace of one episode."""
    return {**ehr.names(**ehr_arguments), **facts, "look_up": look_up, "syscall": syscall, "X32": X32}
