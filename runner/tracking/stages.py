"""What is sent of a standalone stage: figures, settings, tags, and files where texts may leave."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.learning import Made
from runner.tracking.describe import MAX_NOTE, safe
from runner.tracking.store import Figure

_VERSIONS = "sets"  # in the folder of a stage, every version that was tried: many files, which stay there
_MAX_VALUE = 500
_STAGE_TAGS = ("begun", "model_kind", "status", "command")
_USAGE = {"calls": "calls/{}", "input_tokens": "tokens/{}/input", "output_tokens": "tokens/{}/output",
          "cost_usd": "cost/{}"}  # fmt: skip


@dataclass(frozen=True)
class StageFacts:
    """What is sent of a stage. Where texts may not leave: no files, and a note that does not quote a model."""

    figures: list[Figure]
    params: dict[str, str]
    tags: dict[str, str]
    files: list[Path]


def stage_facts(
    made: Made, notes: Mapping[str, Any], config: Mapping[str, Any], choices: Mapping[str, str], texts: bool
) -> StageFacts:
    """What is sent of a stage. ``texts``: whether texts of its data may leave."""
    own = {f"stage.{key}": value for key, value in (config.get("stage") or {}).items() if not key.startswith("_")}
    settings = {**choices, "seed": config.get("seed"), **own}
    tags = {key: str(notes[key])[:_MAX_VALUE] for key in _STAGE_TAGS if notes.get(key)}
    return StageFacts(
        figures=[*_usage_figures(notes.get("usage") or {}), *_round_figures(made)],
        params={safe(key): str(value)[:_MAX_VALUE] for key, value in settings.items()},
        tags={**tags, "folder": str(made.folder), "mlflow.note.content": _stage_note(made, texts)},
        files=_stage_files(made.folder) if texts else [],
    )


def _usage_figures(usage: Mapping[str, Mapping[str, Any]]) -> list[Figure]:
    """Calls, tokens and cost by purpose, where they are known."""
    return [
        (safe(name.format(purpose)), 0, float(of[key]))
        for purpose, of in usage.items()
        for key, name in _USAGE.items()
        if of[key] is not None
    ]


def _round_figures(made: Made) -> list[Figure]:
    """The stage's own figures by round; MLflow takes only finite numbers."""
    figures = [(safe(name), n, float(value)) for name, values in made.figures.items() for n, value in values]
    return [figure for figure in figures if math.isfinite(figure[2])]


def _stage_note(made: Made, texts: bool) -> str:
    """What the stage reported at its end, which may quote a model, and its folder; without texts only the folder."""
    reported = [f"    {line}" for line in made.said] if texts else []
    return "\n".join([*reported, "", f"Whole: `{made.folder}`"])[:MAX_NOTE]


def _stage_files(folder: Path) -> list[Path]:
    """All files of a stage but hidden ones and the versions that it tried."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return [path for path in paths if _VERSIONS not in path.relative_to(folder).parent.parts]
