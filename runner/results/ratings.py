"""Ratings by people next to a run or its sweep, and grades of a model that are shown next to such ratings alone."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.score_names import JUDGED

FILE = "ratings.json"
SEVERITY = "harm_severity"  # the rubric by which a model's grades alone say nothing
ONLY_RATED = JUDGED.format(SEVERITY, "", "").rstrip("/") + "/"


def find_ratings(folder: Path, run: object, rubric: str) -> tuple[Path, Mapping[str, Any]] | None:
    """The ratings by a rubric, next to a run or its sweep, of items of this run that a model graded too; None for none.
    ``run``: its id. Raises ConfigError for ratings that cannot be read."""
    for home in (folder, folder.parent):
        path = home / "ratings" / rubric / FILE
        if not path.is_file():
            continue
        try:
            ratings: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if ratings["judge"] and str(run) in ratings["graded"]:
                return path, ratings
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{path} is damaged ({error!r}): runner.report ratings writes it again") from None
    return None
