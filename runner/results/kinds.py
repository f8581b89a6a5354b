"""What the values of a score can be, as its scorer declares it (``kinds``): it decides how intervals are computed.

A score that no scorer declares is a ``number``. Manifests of older runs lack the declaration: there the kind is read
from all values of the run at once, never from those of a part of it, and the report says so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from components.core.errors import ConfigError
from components.core.types import ScoreKind

Kinds = Mapping[str, ScoreKind]
KEY: Final = "kinds"  # of the manifest
INFERRED = "The manifest is of an older version and declares no kinds of scores: they are inferred from all its values."
_SHARES = ("stop/", "errors/")


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
        return (0.0 if self.kind == "count" and not self.difference else -math.inf), math.inf


NUMBER = Scale()


def kinds_of(notes: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Kinds:
    """The kinds of a run's scores: declared in its manifest, else, in an older run's, inferred."""
    if KEY in notes:
        return _declared(notes[KEY])
    counts = notes.get("units") or notes.get("count_scores") or ()
    values: dict[str, set[float]] = {}
    for record in records:
        for name, value in record["scores"].items():
            if value is not None:
                values.setdefault(name, set()).add(value)
    return {name: "count" if name in counts else _inferred(of) for name, of in values.items()}


def _declared(found: object) -> Kinds:
    """What a manifest declares. Raises ConfigError."""
    known = get_args(ScoreKind)
    if not isinstance(found, Mapping) or (wrong := [name for name, kind in found.items() if kind not in known]):
        found_as = (
            f"{str(wrong[0])!r} is {str(found[wrong[0]])[:40]!r}" if isinstance(found, Mapping) else repr(found)[:40]
        )
        raise ConfigError(
            f"manifest.json is damaged: {KEY} must name one of {', '.join(known)} per score, found {found_as}"
        )
    return found


def kind_of(metric: str, kinds: Kinds) -> ScoreKind:
    """The kind of a score, or of what is measured of every episode: how it ended, cost, tokens, calls and time."""
    return "proportion" if metric.startswith(_SHARES) else kinds.get(metric, "number")


def _inferred(values: set[float]) -> ScoreKind:
    if values <= {0.0, 1.0}:
        return "proportion"
    return "share" if min(values) >= 0.0 and max(values) <= 1.0 else "number"
