"""A clinical calculator: a formula with named, checked arguments and a card that describes them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from components.arithmetic.functions import Value, invalid
from components.medcalc.arguments import Kind, describe, read_argument


@dataclass(frozen=True)
class Calculator:
    """``id`` and ``title`` are those of MedCalc-Bench (Khandekar et al. 2024, arXiv 2406.12036).

    ``about``: what comes out, in which unit, and the source. ``kinds``: argument -> kind, of which some are
    ``required``; ``formula`` takes them by name.
    """

    name: str
    id: int
    title: str
    about: str
    kinds: Mapping[str, Kind]
    required: frozenset[str]
    formula: Callable[..., Value]

    @cached_property
    def card(self) -> str:
        """Name, arguments (``?`` where they may be left out) and what comes out."""
        arguments = (
            f"{name}{'' if name in self.required else '?'}: {describe(kind)}" for name, kind in self.kinds.items()
        )
        return f"{self.name}({', '.join(arguments)})\n  {self.title}. {self.about}"

    def __call__(self, *unnamed: Value, **named: Value) -> Value:
        """Compute. Raises ToolError with the card when the arguments do not fit."""
        if unnamed:
            raise invalid(f"{self.name} takes its arguments by name.\n{self.card}")
        wrong = [name for name in named if name not in self.kinds]
        missing = [name for name in self.kinds if name in self.required and name not in named]
        if wrong or missing:
            what = [f"has no argument {name!r}" for name in wrong] + [f"needs {name}" for name in missing]
            raise invalid(f"{self.name} {', '.join(what)}.\n{self.card}")
        return self.formula(**{name: read_argument(name, self.kinds[name], value) for name, value in named.items()})
