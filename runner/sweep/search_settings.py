"""What ``search`` in a config may say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from runner.config.errors import shown

Direction = Literal["maximise", "minimise", "maximize", "minimize"]
Sampler = Literal["tpe", "random", "nsga2", "grid"]
Positive = Annotated[int, Ge(1)]


@dataclass(frozen=True)
class Dimension:
    """The values of one key: numbers between two ends, which belong to them, or choices.

    ``int``: whole numbers; null: where the ends and the step are whole and the config has a whole number there.
    """

    low: float | None = None
    high: float | None = None
    step: float | None = None
    log: bool = False
    int: bool | None = None
    choices: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if self.choices is not None:
            if self.low is not None or self.high is not None or self.step is not None or self.log or self.int:
                raise ConfigError("either choices or low and high, not both")
            if not self.choices:
                raise ConfigError("choices is empty: there is nothing to choose from")
            return
        low, high = self.low, self.high
        if low is None or high is None:
            raise ConfigError("low and high must both be given, or choices")
        if not low < high:
            raise ConfigError(f"low={low:g} should be below high={high:g}")
        if self.log and low <= 0:
            raise ConfigError(f"log needs ends above 0, found low={low:g}")
        if self.log and self.step is not None:
            raise ConfigError("log and step do not go together: leave one of them out")
        if self.step is not None and not 0 < self.step <= high - low:
            raise ConfigError(f"step={self.step:g} should be above 0 and at most high - low = {high - low:g}")
        if self.int and not self.whole:
            raise ConfigError("whole numbers (int) need a whole low, high and step")

    @property
    def whole(self) -> bool:
        """Whether ends and step are whole numbers."""
        return all(one is None or float(one).is_integer() for one in (self.low, self.high, self.step))

    @property
    def highest(self) -> float:
        """The last value that the steps reach."""
        assert self.low is not None and self.high is not None
        if self.step is None:
            return self.high
        low, high, step = (Decimal(str(one)) for one in (self.low, self.high, self.step))
        return float(low + (high - low) // step * step)


@dataclass(frozen=True)
class Search:
    """``search``. ``trials`` of the whole search, None: every point of a grid; ``at_once``: how many are asked for
    together; ``prune_after``: samples after which a trial is held against the best one."""

    objectives: Mapping[str, Direction] | None = None
    trials: Positive | None = 20
    at_once: Positive = 1
    sampler: Sampler = "tpe"
    seed: Annotated[int, Ge(0)] = 0
    prune_after: Positive | None = None
    space: Mapping[str, Dimension] | None = None

    def __post_init__(self) -> None:
        if not self.objectives:
            raise ConfigError(
                "objectives is empty; name a metric and its direction: search.objectives={score/accuracy:maximise}"
            )
        if self.trials is None and self.sampler != "grid":
            raise ConfigError(f"trials is null, but only a grid has an end; found sampler={shown(self.sampler)}")
        if self.prune_after is not None and len(self.objectives) > 1:
            raise ConfigError("prune_after holds a trial against the best one, which several objectives do not have")

    @property
    def maximised(self) -> dict[str, bool]:
        """Metric -> whether more of it is better."""
        return {name: direction.startswith("max") for name, direction in (self.objectives or {}).items()}
