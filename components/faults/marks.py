"""Changing what a tool returns (numbers of its text, values in a shared memory), and the marks of faults in results:
for scorers and readers, and never shown to a model.

A marked observation has ``data["faults"]``, a list of {kind, ...}. For values that a fault changed ``changes`` holds
variable -> [right, shown]; changed numbers of a text are counted (``numbers``).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from random import Random
from typing import Any, NamedTuple, Protocol, runtime_checkable

import orjson

from components.core.errors import ToolError
from components.core.tools import State
from components.core.types import Observation, Observed, Trajectory

Change = Callable[[str, Any], Any]  # (variable, right value) -> what is shown in its place
# A separate number: not part of a word, a date, a time, an identifier or a version.
_ALONE = re.compile(r"(?<![\w.:/-])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w:/]|[.-]\d)")
_MORE_DIGITS = 30  # than a number has: those of the share, and of what comes of both
_ANY = re.compile(r"\d+(?:\.\d+)?")
KEY = "faults"  # of an observation's data, and of an offer's facts


def add_mark(observation: Observation, kind: str, **facts: Any) -> Observation:
    """The observation with one more mark."""
    return observation._replace(data=with_mark(observation.data, kind, facts))


def marked_failure(kind: str, text: str, **facts: Any) -> ToolError:
    """A marked failure of a tool; its label is the fault's kind."""
    return ToolError(text, kind, with_mark({}, kind, facts))


def with_mark(data: Mapping[str, Any], kind: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an observation, or of a failure, with one more mark."""
    return {**data, KEY: [*data.get(KEY, ()), {"kind": kind, **facts}]}


def marks(observed: Observed) -> Sequence[Mapping[str, Any]]:
    """The faults of a call; empty where it had none."""
    return tuple(observed.observation.data.get(KEY, ()))


def fault_lines(observed: Observed) -> list[str]:
    """The faults of a call in a line each, for readers: the shown and the right values."""
    lines = []
    for mark in marks(observed):
        facts = [str(mark.get("kind"))]
        for name, value in mark.items():
            if name == "changes":
                facts += [f"{variable}: shown {shown}, right is {right}" for variable, (right, shown) in value.items()]
            elif name != "kind":
                facts.append(f"{name} {value}")
        lines.append(", ".join(facts))
    return lines


def brought_down(observed: Observed) -> bool:
    """Whether a call failed by a fault, and by nothing that the agent did."""
    return observed.error is not None and any(mark["kind"] == observed.error for mark in marks(observed))


def changed_cards(trajectory: Trajectory) -> Sequence[str]:
    """The offered tools whose cards a fault changed, by the names that they are offered under."""
    return [name for fault in trajectory.facts.get(KEY, ()) for name in fault.get("cards", ())]


def remaining_errors(trajectory: Trajectory) -> dict[str, tuple[str, str]]:
    """Variable -> (right, shown) of the values that faults changed and no later call set right."""
    wrong: dict[str, tuple[str, str]] = {}
    for observed in (one for step in trajectory.steps for one in step.observed if not one.control):
        for name in observed.observation.data.get("outputs", ()):
            wrong.pop(name, None)
        for mark in marks(observed):
            wrong |= {name: (right, shown) for name, (right, shown) in mark.get("changes", {}).items()}
    return wrong


class Shifted(NamedTuple):
    """A text, and how many of its numbers were changed."""

    text: str
    n: int


def shift_numbers(text: str, amount: float, rng: Random, whole: bool = False) -> Shifted:
    """Change every number by ``amount`` (0.2: a fifth), up or down by chance, by a unit of its last digit at least.
    Dates, times and identifiers stay; with ``whole`` any digits count, as in ``TR5``, and none gets below 0."""

    def off(found: re.Match[str]) -> str:
        share = Decimal(str(amount if rng.random() < 0.5 else -amount))
        plain = found[0].replace(",", "")
        with localcontext(prec=len(plain) + _MORE_DIGITS):
            value = Decimal(plain)
            exponent = value.as_tuple().exponent
            unit = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
            step = max(abs(value * share).quantize(unit), unit)
            moved = value + step.copy_sign(share)
            if (whole or value >= 0) and moved < 0:
                moved = value + step
            return f"{moved:,f}" if "," in found[0] else f"{moved:f}"

    return Shifted(*(_ANY if whole else _ALONE).subn(off, text))


@runtime_checkable
class ValueMemory(State, Protocol):
    """The state of tools that write named values to memory: their text and data are ``outputs`` and ``score``."""

    def mistake(self, values: Mapping[str, Any]) -> None:
        """Write the values of a mistaken tool in place of the right ones."""

    def plausible(self, name: str, wrong: Mapping[str, Any], rng: Random) -> Any:
        """A wrong value of a variable that could be right; ``wrong`` holds those that are wrong already."""


def memory_behind(seen: Observation, state: State) -> ValueMemory | None:
    """The memory that a tool wrote named values to; None where it wrote text alone."""
    return state if isinstance(state, ValueMemory) and "outputs" in seen.data else None


def change_values(
    kind: str,
    seen: Observation,
    memory: ValueMemory,
    change: Change,
    wrong: Mapping[str, Any] | None = None,
    **facts: Any,
) -> Observation:
    """Change the values that a tool wrote to memory, there and in its text; unmarked when none is changed. ``change``
    returns the new value of a variable, None to leave it; a mask, whose wrong value looks like the right one, is wrong
    where it is returned. ``wrong``: the wrong part of new values, where that is not all of them."""
    outputs: Mapping[str, Any] = seen.data["outputs"]
    shown = {name: new for name, value in outputs.items() if (new := change(name, value)) is not None}
    if not shown:
        return seen
    memory.mistake(shown)
    written = {**outputs, **shown}
    text = orjson.dumps({**written, "score": round(seen.data["score"], 6)}).decode()
    changes = {name: [str(outputs[name]), str((wrong or shown)[name])] for name in shown}
    return add_mark(seen._replace(text=text, data={**seen.data, "outputs": written}), kind, changes=changes, **facts)
