"""What people said of a model's grades, beside these: lines for the report of a run that has such scores."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from runner.rating.command import FILE
from runner.results.table import interval, number, plain

_GRADED = "judged/"  # how scores by a rubric begin: judged/RUBRIC/FIELD/CATEGORY


def beside(folder: Path, metrics: Mapping[str, Any]) -> list[str]:
    """A line per field that a model graded: its kappa with each rater of this run or of its sweep, and theirs.

    ``metrics``: those of the run, by name. Raises ConfigError for ratings that cannot be read.
    """
    fields = dict.fromkeys(tuple(name.split("/")[1:3]) for name in metrics if name.startswith(_GRADED))
    said = []
    for rubric in dict.fromkeys(rubric for rubric, _ in fields):
        if (told := _ratings(folder, rubric)) is None:
            said.append(
                f"{_GRADED}{rubric}: a model's grades, not checked by people here: runner.report annotate {rubric}"
            )
            continue
        for field in (field for of, field in fields if of == rubric):
            said += [f"{_GRADED}{rubric}/{name}: {text}" for name, text in _lines(told, field)]
    return said


def _ratings(folder: Path, rubric: str) -> dict[str, Any] | None:
    """What raters said by a rubric; None where there are no ratings, or none of what the model graded."""
    places = (home / "ratings" / rubric / FILE for home in (folder, folder.parent))
    if (path := next((place for place in places if place.is_file()), None)) is None:
        return None
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return told if told["judge"] else None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is damaged ({error!r}): runner.report ratings writes it again") from None


def _lines(told: Mapping[str, Any], field: str) -> Iterator[tuple[str, str]]:
    """Name and agreement of a field, or of each of its categories where several may be picked."""
    first = next(iter(told["judge"].values()))
    for name, of in first.items():
        if name == field or name.startswith(f"{field}/"):
            models = [f"{_kappa(found[name])} with {plain(rater)}" for rater, found in told["judge"].items()]
            theirs = [f"{_kappa(told['agreement'][name])} of raters with each other"] if told["agreement"] else []
            yield name, f"kappa of the model {', '.join([*models, *theirs])}; {of['n']} items"


def _kappa(one: Mapping[str, Any]) -> str:
    around = interval(one)
    return f"{number(one['kappa'])} ({around})" if around else number(one["kappa"])
