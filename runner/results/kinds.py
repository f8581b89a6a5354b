"""Properties of metrics: what their values can be, in which direction they improve, what they count.

Scorers declare them of their scores, the runner of its own metrics. ``kinds`` decides how intervals are computed; if
manifests of older runs lack it, it is inferred from all values of a run, and the report says so. ``lower`` names
what is better low, ``neither`` what is not better either way (how many tools it took), ``units`` what counts count.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar, get_args

from components.core.errors import ConfigError
from components.core.score_names import SLACK, range_of
from components.core.types import ScoreKind
from runner.results.arrays import np
from runner.results.table import Table
from runner.storage.records import REPAIR
from runner.storage.schema import Manifest, Record

Better = Literal["higher", "lower", ""]
Kinds = Mapping[str, ScoreKind]
V = TypeVar("V")
K = TypeVar("K")
KEY: Final = "kinds"  # of the manifest
INFERRED = "The manifest is of an older version and declares no kinds of scores: they are inferred from all its values."
_SHARES = ("stop/", "errors/")
_LOW = ("errors/", "cost/", "tokens/", "calls/", "time/", "stop/failed", "stop/limit")
_NUMBERS = re.compile(r"(\A-?\d+\.\d+\Z|\A-\d+\Z|\d+)|\D+", re.ASCII)
_NEITHER = ("stop/",)  # to answer or to refuse is not good in itself
UNITS = {"cost": "USD", "tokens": "tokens", "calls": "calls", "time": "s", "stop": "share", "errors": "share"}


@dataclass(frozen=True)
class Scale:
    """The kind of the values of a mean. ``difference``: they are differences of two scores of the kind; ``reach``: how
    large one of shares can be, 2 for differences of differences."""

    kind: ScoreKind = "number"
    difference: bool = False
    reach: float = 1.0

    @property
    def bounded(self) -> bool:
        """Whether values have bounds on both sides."""
        return self.kind in ("proportion", "share")

    @property
    def bounds(self) -> tuple[float, float]:
        """What no value is below or above."""
        if self.bounded:
            return (-self.reach, self.reach) if self.difference else (0.0, 1.0)
        return (0.0 if self.kind in ("count", "amount") and not self.difference else -math.inf), math.inf


NUMBER = Scale()


def kinds_of(manifest: Manifest, records: Table | Iterable[Record]) -> Kinds:
    """The kinds of a run's scores: declared in its manifest, else, in an older run's, inferred. Raises ConfigError."""
    if KEY not in manifest:
        table, found = Table.of(records), dict[str, ScoreKind]()
        for name in table.names("scores"):
            values = {value for value in table[f"scores/{name}"].tolist() if not math.isnan(value)}
            if not values:
                continue
            share: ScoreKind = "share" if min(values) >= 0.0 and max(values) <= 1.0 else "number"
            found[name] = "proportion" if values <= {0.0, 1.0} else share
        return {name: "count" if name in units_of(manifest) else kind for name, kind in found.items()}
    declared: object = manifest[KEY]
    known, wrong = get_args(ScoreKind), repr(declared)[:40]
    if isinstance(declared, Mapping):
        if all(kind in known for kind in declared.values()):
            return declared
        wrong = next(f"{str(name)!r} is {str(kind)[:40]!r}" for name, kind in declared.items() if kind not in known)
    raise ConfigError(f"manifest.json is damaged: {KEY} must name one of {', '.join(known)} per score, found {wrong}")


def refuse_out_of_bounds(path: Path, table: Table, manifest: Manifest) -> None:
    """Raises ConfigError for a number in a file of records, a row each line, that is none of its declared kind,
    or so large that no interval can be computed."""
    kinds = kinds_of(manifest, [])
    for name, column in table.columns.items():
        if column.dtype.kind == "f":
            group, _, score = name.partition("/")
            kind = kinds.get(score, "number") if group in ("scores", "ceilings") else "number"
            low, high = range_of(score, kind)
            rows = np.flatnonzero((column < low - SLACK) | (column > high + SLACK))
            if len(rows):
                problem = f"{name} is {column[rows[0]]:.12g}, and a {kind} is from {low:g} to {high:g}"
                raise ConfigError(f"{path}:{rows[0] + 1}: damaged record ({problem}); {REPAIR}")


def kind_of(metric: str, kinds: Kinds) -> ScoreKind:
    """The kind of a score, or of what is measured of every episode: how it ended, cost, tokens, calls and time."""
    return "proportion" if metric.startswith(_SHARES) else kinds.get(metric, "number")


def better(metric: str, manifests: Iterable[Manifest] = ()) -> Better:
    """The direction of a metric, or of a score's mean over a part (``task/x/<score>``); empty where neither is."""
    known = list(manifests)
    if metric.startswith(_LOW) or any(_is_of(metric, name) for one in known for name in one.get("lower") or ()):
        return "lower"
    neither = (name for one in known for name in one.get("neither") or ())
    return "" if metric.startswith(_NEITHER) or any(_is_of(metric, name) for name in neither) else "higher"


def units_of(manifest: Manifest) -> Mapping[str, str]:
    """Score -> unit, of a run's scores that are not proportions; older runs name these without their units."""
    return manifest.get("units") or dict.fromkeys(manifest.get("count_scores") or (), "n")


def unit(metric: str, manifests: Iterable[Manifest] = ()) -> str:
    """What the numbers of a metric count; empty for a score without a unit."""
    declared = (what for one in manifests for name, what in units_of(one).items() if _is_of(metric, name))
    return UNITS.get(metric.partition("/")[0]) or next(declared, "")


def _is_of(metric: str, score: str) -> bool:
    return metric == score or metric.endswith(f"/{score}")


def as_gain(difference: float, direction: Better) -> float:
    """A difference (mine less another's) as a gain: positive is better, or higher where neither way is."""
    return -difference if direction == "lower" else difference


def natural_order(text: str) -> list[tuple[bool, float, str]]:
    """A key to sort names by, in which numbers count as numbers: 20 before 100, and both before words."""
    return [(one[1] is None, float(one[1] or 0), one[0]) for one in _NUMBERS.finditer(text)]


def group_by(values: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Key -> its values, both in the order in which they come."""
    groups: dict[K, list[V]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups
