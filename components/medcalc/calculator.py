"""A clinical calculator: a formula with named, checked arguments and a card that describes them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from components.arithmetic.functions import Value, invalid
from components.medcalc.parameters import described, read


@dataclass(frozen=True)
class Calculator:
    """``id`` and ``title`` are those of MedCalc-Bench (Khandekar et al. 2024, arXiv 2406.12036).

    The formula's signature gives the arguments: their names, kinds (``components.medcalc.parameters``)
    and defaults. Its docstring says what comes out, in which unit, and the source.
    """

    id: int
    title: str
    formula: Callable[..., Value]

    @property
    def name(self) -> str:
        """The name by which an expression calls it."""
        return self.formula.__name__

    @cached_property
    def kinds(self) -> Mapping[str, Any]:
        """Argument -> its kind."""
        hints = get_type_hints(self.formula, include_extras=True)
        return {name: hints[name] for name in inspect.signature(self.formula).parameters}

    @cached_property
    def required(self) -> frozenset[str]:
        """The arguments without a default."""
        found = inspect.signature(self.formula).parameters.values()
        return frozenset(one.name for one in found if one.default is inspect.Parameter.empty)

    @property
    def about(self) -> str:
        """What it computes, with unit and source, in one line."""
        return " ".join((self.formula.__doc__ or "").split())

    @cached_property
    def card(self) -> str:
        """Name, arguments (``?`` where they may be left out) and what comes out."""
        given = (
            f"{name}{'' if name in self.required else '?'}: {described(kind)}" for name, kind in self.kinds.items()
        )
        return f"{self.name}({', '.join(given)})\n  {self.title}. {self.about}"

    def __call__(self, *given: Value, **named: Value) -> Value:
        """Compute. Raises ToolError with the card when the arguments do not fit."""
        if given:
            raise invalid(f"{self.name} takes its arguments by name.\n{self.card}")
        wrong = [name for name in named if name not in self.kinds]
        missing = [name for name in self.kinds if name in self.required and name not in named]
        if wrong or missing:
            what = [f"has no argument {name!r}" for name in wrong] + [f"needs {name}" for name in missing]
            raise invalid(f"{self.name} {', '.join(what)}.\n{self.card}")
        read_in = {name: read(name, self.kinds[name], value) for name, value in named.items()}
        return self.formula(**read_in)


def steps(value: float, bounds: Mapping[float, int], below: int) -> int:
    """The points of the highest bound that the value reaches, ``below`` under all of them."""
    return next((bounds[bound] for bound in sorted(bounds, reverse=True) if value >= bound), below)
