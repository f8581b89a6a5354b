"""Changing what a tool says: the values that it wrote to a shared memory, or its text where there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from components.core.tools import State
from components.core.types import Observation
from components.faults.marks import marked
from components.radiology.memory import RadiologyMemory

Change = Callable[[str, Any], Any]  # (variable with dollar signs, right value) -> what is shown in its place


def revalued(
    kind: str, seen: Observation, state: State, change: Change, wrong: Mapping[str, Any] | None = None, **facts: Any
) -> Observation:
    """Change the values that a tool wrote to memory, there and in what it says; unmarked when none is changed.

    ``change`` returns what is shown of a variable, None for what stays; a mask, whose wrong value looks like the right
    one, is wrong where it is returned. ``wrong``: what of it is wrong, where that is not all that is shown.
    """
    assert isinstance(state, RadiologyMemory), "has_values"
    outputs: Mapping[str, Any] = seen.data["outputs"]
    shown = {name: new for name, value in outputs.items() if (new := change(name, value)) is not None}
    if not shown:
        return seen
    state.mistake(shown)
    told = {**outputs, **shown}
    text = orjson.dumps({**told, "score": round(seen.data["score"], 6)}).decode()
    changes = {name: [str(outputs[name]), str((wrong or shown)[name])] for name in shown}
    return marked(replace(seen, text=text, data={**seen.data, "outputs": told}), kind, changes=changes, **facts)


def has_values(seen: Observation, state: State) -> bool:
    """Whether the tool wrote named values to a memory."""
    return isinstance(state, RadiologyMemory) and "outputs" in seen.data
