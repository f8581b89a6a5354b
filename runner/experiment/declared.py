"""What the scorers of an experiment declare of their scores, for the manifest."""

from collections.abc import Mapping, Sequence

from components.core.errors import ConfigError
from components.core.protocols import Scorer
from components.core.traits import scorer_traits
from runner.storage.schema import Manifest


def declared_scores(scorers: Mapping[str, Scorer]) -> Manifest:
    """What the scorers declare of their scores. Raises ConfigError for strata without the names of the scores."""
    traits = {key: scorer_traits(scorer) for key, scorer in scorers.items()}
    each = traits.values()
    return {
        "levels": _strata({key: (one.names, one.levels) for key, one in traits.items()}, "levels"),
        "by": _strata({key: (one.names, one.by) for key, one in traits.items()}, "by"),
        "lower": [name for one in each for name in one.lower],
        "neither": [name for one in each for name in one.neither],
        "units": {name: unit for one in each for name, unit in one.units.items()},
        "kinds": {name: kind for one in each for name, kind in one.kinds.items()},
        "decides": next((one.decides for one in each if one.decides), None),
    }


def _strata(scorers: Mapping[str, tuple[Sequence[str], Sequence[str]]], what: str) -> dict[str, list[str]]:
    """Score -> strata, of the scorers that have any."""
    found: dict[str, list[str]] = {}
    for key, (names, strata) in scorers.items():
        if strata and not names:
            raise ConfigError(f"scorer.{key}: it has {what} {[*strata]}, but no names of the scores they are for")
        found |= {name: [*strata] for name in names if strata}
    return found
