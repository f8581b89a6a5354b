"""Solved questions as plans of actions: how the baselines without code show them.

What the memory holds as ``actions`` is text: an action a line, in which ``#k`` stands for the result of the k-th one,
and below it, as ``Observation: ...``, what came back. Plans are shown without results; of what was done step by step,
results stand in the place of references.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from components.action_lines import action_lines
from components.errors import ConfigError
from components.protocols import Episode
from components.solved import SEEDS, seeds_of
from components.types import Demonstration

REFERENCE = re.compile(r"#(\d+)")
_SAW = "Observation:"


def shown_plans(episode: Episode, database: str, shots: int) -> Sequence[Demonstration]:
    """At most ``shots`` solved questions of a database, our own, in their order.

    ``data`` also holds ``plan`` (lines) and ``steps`` (pairs of an action and what came back, empty where that is not
    known). Raises ConfigError where some are asked for and the memory holds none.
    """
    found = seeds_of(episode, database, "actions")[:shots] if shots else ()
    if shots and not found:
        raise ConfigError(
            f"the memory holds no solved question of {database!r} with its actions; choose memory={SEEDS}"
        )
    return [_in_parts(one) for one in found]


def _in_parts(one: Demonstration) -> Demonstration:
    text = one.data["actions"]
    plan = [line.text for line in action_lines(text)]
    return replace(one, data={**one.data, "plan": plan, "steps": steps_of(text)})


def steps_of(text: str) -> list[tuple[str, str]]:
    """The actions of a text with what came back of each, results in the place of references to them."""
    steps: list[tuple[str, str]] = []
    for line in text.splitlines():
        if action := next(action_lines(line), None):
            seen = [saw for _, saw in steps]
            steps.append((_filled(action.text, seen), ""))
        elif steps and line.strip().startswith(_SAW):
            steps[-1] = (steps[-1][0], line.strip().removeprefix(_SAW).strip())
    return steps


def _filled(action: str, seen: Sequence[str]) -> str:
    """An action with what was seen in the place of references to it."""
    return REFERENCE.sub(lambda match: dict(enumerate(seen, 1)).get(int(match[1]), match[0]), action)
