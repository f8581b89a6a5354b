"""Whether a tool set lets a task be done along its ground-truth chain."""

from __future__ import annotations

from collections.abc import Iterable

from components.core.errors import ToolError
from components.radiology.cards import Card
from components.radiology.memory import RadiologyMemory, open_memory
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tool import run


def solvable(cards: Iterable[Card], study: Study, switches: Switches) -> bool:
    """Whether every step of the task's chain, quantifiers typed, can be executed in order.

    ``cards`` are those of the callable tools; inputs are the compulsory ones.
    """
    tools = list(cards)
    memory = open_memory(study.record, study.task.id, switches)
    for category, kind in study.task.chain:
        fitting = (c for c in tools if c.category == category and kind in (None, c.variant))
        if not any(_runs(one, memory, switches) for one in fitting):
            return False
    return True


def _runs(one: Card, memory: RadiologyMemory, switches: Switches) -> bool:
    """Run the tool if it can run."""
    try:
        run(one, memory, one.compulsory, switches)
    except ToolError:
        return False
    return True
