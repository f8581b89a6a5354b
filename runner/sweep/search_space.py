"""What ``search`` in a config may say."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, Literal

from annotated_types import Ge
from hydra.core.override_parser.types import IntervalSweep, Override, Quote, QuotedString, RangeSweep

from components.core.errors import ConfigError
from runner.config.errors import ConfigErrors, Finding, format_value
from runner.job.plan import key_of

Direction = Literal["maximise", "minimise", "maximize", "minimize"]
Sampler = Literal["tpe", "random", "nsga2", "grid"]
Positive = Annotated[int, Ge(1)]


@dataclass(frozen=True)
class Dimension:
    """The values of one key: numbers between two ends, which belong to them, or choices. ``int``: whole numbers; null:
    where ends and step are whole and the config has a whole number. In a ``Space`` it is decided, ``high`` is what the
    steps reach, and choices are words of the command line."""

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
            raise ConfigError(f"log needs bounds above 0, found low={low:g}")
        if self.log and self.step is not None:
            raise ConfigError("log and step do not go together: set only one of them")
        if self.step is not None and not 0 < self.step <= high - low:
            raise ConfigError(f"step={self.step:g} should be above 0 and at most high - low = {high - low:g}")
        if self.int and not self._is_whole:
            raise ConfigError("whole numbers (int) need a whole low, high and step")

    @property
    def _is_whole(self) -> bool:
        return all(one is None or float(one).is_integer() for one in (self.low, self.high, self.step))

    def resolved(self, present: object) -> "Dimension":
        """As it is in a space, where the config has ``present`` now."""
        if self.choices is not None:
            return Dimension(choices=tuple(map(_word, self.choices)))
        high, whole = self.high, isinstance(present, int) and not isinstance(present, bool) and self._is_whole
        if self.step is not None:
            start, end, step = (Decimal(str(one)) for one in (self.low, self.high, self.step))
            high = float(start + (end - start) // step * step)
        return replace(self, high=high, int=whole if self.int is None else self.int)

    def word(self, value: Any) -> str:
        """A value as written after a key on the command line: six digits, all where there are steps."""
        if self.choices is not None or self.int:
            return str(value if self.choices is not None else int(value))
        text = f"{value:.{6 if self.step is None else 12}g}"
        return text if re.search(r"[.e]", text) else f"{text}.0"

    @property
    def ends(self) -> list[Any]:
        """What has to be possible, for all between to be: all choices, since nothing is between them."""
        return [self.low, self.high] if self.choices is None else list(self.choices)

    @property
    def points(self) -> list[Any] | None:
        """All values; None where they are infinite."""
        step = 1 if self.int and self.step is None else self.step
        if self.choices is not None:
            return list(self.choices)
        if step is None or self.low is None or self.high is None:
            return None
        values = [round(self.low + n * step, 12) for n in range(round((self.high - self.low) / step) + 1)]
        return [int(one) for one in values] if self.int else values


@dataclass(frozen=True)
class Search:
    """``search``. ``trials`` of the whole search, None: every point of a grid; ``at_once``: how many are requested
    together; ``prune_after``: samples after which a trial is compared with the best one."""

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
            raise ConfigError(f"trials is null, but only a grid is finite; found sampler={format_value(self.sampler)}")
        if self.prune_after is not None and len(self.objectives) > 1:
            raise ConfigError("prune_after compares a trial with the best one, and several objectives have no best one")

    @property
    def maximised(self) -> dict[str, bool]:
        """Metric -> whether more of it is better."""
        return {name: direction.startswith("max") for name, direction in (self.objectives or {}).items()}


Space = Mapping[str, Dimension]
_PLAIN = re.compile(r"(?!(true|false|null|nan|inf)$)[A-Za-z_][\w./@+-]*", re.IGNORECASE)
_MOST = 10_000  # points of a grid


def space_of(
    written: Mapping[str, Dimension], given: Sequence[Override], present: Callable[[str], object]
) -> dict[str, Dimension]:
    """Every key that varies. ``written``: in the config, ``given``: the words of experiment and command line, which
    have the last word, ``present``: what the config has at a key now. Raises ConfigErrors."""
    keys = [key_of(one) for one in given]
    twice = [key for key, n in Counter(keys).items() if n > 1]
    findings = [Finding("", f"{key} is given twice; once is enough: {key}=...") for key in twice]
    own = {bare: key for key in written if (bare := key.lstrip("+~")) not in keys}
    space = {key: written[key].resolved(present(bare)) for bare, key in own.items()}
    for one, key in ((one, key) for one, key in zip(given, keys, strict=True) if one.is_sweep_override()):
        if key.startswith("search."):
            findings.append(Finding("", f"{one.input_line}: a search has one value of each of its own settings"))
        try:
            found = _read(one)
        except ConfigError as error:
            findings.append(Finding("", f"{one.input_line}: {error}"))
        else:
            space[str(one.get_key_element())] = found if found.choices else found.resolved(present(key))
    if not space and not findings:
        findings.append(
            Finding("search.space", "is empty: there is nothing to search; give a key a range: key=interval(1,8)")
        )
    for key, dimension in space.items():
        doubles = [word for word, n in Counter(dimension.choices or ()).items() if n > 1]
        findings += [Finding("", f"{key}: the choice {word} is given twice") for word in doubles[:1]]
    if findings:
        raise ConfigErrors(findings)
    return space


def groups_of(written: Mapping[str, Dimension], given: Sequence[Override]) -> list[str]:
    """The first choice of every group that varies, as words: what other keys there are depends on them."""
    groups = {k: _word(v.choices[0]) for k, v in written.items() if v.choices and "." not in k.partition("@")[0]}
    for one in given:
        key = str(one.get_key_element())
        groups.pop(key, None)
        if "." not in key.partition("@")[0] and one.is_sweep_override() and one.is_discrete_sweep():
            groups[key] = next(one.sweep_string_iterator(), "")
    return [f"{key}={word}" for key, word in groups.items() if word]


def grid_of(space: Space) -> list[dict[str, Any]]:
    """Every point of a space, in order. Raises ConfigError where they are infinite, or too many."""
    points = {}
    for key, dimension in space.items():
        found = dimension.points
        if found is None:
            raise ConfigError(f"search.sampler=grid: {key} has no step, so it has infinitely many values; give it one")
        points[key] = found
    if (n := math.prod(map(len, points.values()))) > _MOST:
        raise ConfigError(f"search.sampler=grid: the grid has {n:,} points, more than {_MOST:,}; use larger steps")
    return [dict(zip(points, point, strict=True)) for point in itertools.product(*points.values())]


def corners(space: Space) -> list[dict[str, Any]]:
    """Points that have every end of every key, so that what the config cannot hold is known before any trial."""
    first = {key: dimension.ends[0] for key, dimension in space.items()}
    return [first, *({**first, key: end} for key, dimension in space.items() for end in dimension.ends[1:])]


def words_at(space: Space, point: Mapping[str, Any]) -> dict[str, str]:
    """Key -> value of a point, as on the command line."""
    return {key: dimension.word(point[key]) for key, dimension in space.items()}


def _read(override: Override) -> Dimension:
    value: object = override.value()
    log = "log" in getattr(value, "tags", ())
    if isinstance(value, IntervalSweep):
        return Dimension(value.start, value.end, log=log, int=True if isinstance(value.start, int) else None)
    if isinstance(value, RangeSweep):
        numbers = sorted(float(one) for one in value.range())
        if len(numbers) > 1:
            whole = all(isinstance(one, int) for one in (value.start, value.stop, value.step))
            return Dimension(numbers[0], numbers[-1], None if log else abs(float(value.step)), log, whole)
    if not (words := tuple(override.sweep_string_iterator())):
        raise ConfigError("there is no such value")
    return Dimension(choices=words)


def _word(value: object) -> str:
    """A value of a YAML file as a word of the command line that is read as the same value."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_word, value))}]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_word(one)}" for key, one in value.items()) + "}"
    if isinstance(value, str) and not _PLAIN.fullmatch(value):
        return QuotedString(value, Quote.single).with_quotes()
    return str(value)
