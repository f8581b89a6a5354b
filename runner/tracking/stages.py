"""The folder of a standalone stage as a run in MLflow: its settings, its figures, usage by purpose, its files."""

import math
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from components.core.learning import Made
from runner.tracking.describe import MAX_NOTE, safe
from runner.tracking.store import connect, texts_may_leave, view_url

_VERSIONS = "sets"  # every version that was tried: many files, which stay in the folder
_MAX_VALUE = 500
_TAGS = ("begun", "model_kind", "status", "command")
_USAGE = {"calls": "calls/{}", "input_tokens": "tokens/{}/input", "output_tokens": "tokens/{}/output",
          "cost_usd": "cost/{}"}  # fmt: skip


def send(made: Made, config: Mapping[str, Any], choices: Mapping[str, str]) -> str:
    """Send the folder; sending it again updates the same run. Returns the address."""
    folder = made.folder
    notes = orjson.loads((folder / "manifest.json").read_bytes())
    texts = texts_may_leave(config, str((notes.get("dataset") or {}).get("privacy", "unknown")))
    tracker, id = connect(config), sha256(f"{folder.absolute()}\0{notes['begun']}".encode()).hexdigest()[:32]
    run_id = tracker.stage(id, f"{choices.get('stage', 'stage')} {folder.name}")
    figures = usage_figures(notes.get("usage") or {})
    figures += [
        (name, n, value) for name, values in made.figures.items() for n, value in values if math.isfinite(value)
    ]
    params = {safe(key): str(value)[:_MAX_VALUE] for key, value in settings(config, choices).items()}
    tags = {key: str(notes[key])[:_MAX_VALUE] for key in _TAGS if notes.get(key)}
    tags |= {"folder": str(folder), "mlflow.note.content": note(made, texts)}
    tracker.log(run_id, [(safe(name), n, float(value)) for name, n, value in figures], params, tags)
    tracker.client.set_terminated(run_id, "FAILED" if made.empty else "FINISHED")
    if texts:
        tracker.upload(run_id, files_of(folder), folder)
    return view_url(config, tracker.experiment_id, run_id=run_id)


def settings(config: Mapping[str, Any], choices: Mapping[str, str]) -> dict[str, Any]:
    """The choices, the seed and the stage's own settings."""
    own = {f"stage.{key}": value for key, value in (config.get("stage") or {}).items() if not key.startswith("_")}
    return {**choices, "seed": config.get("seed"), **own}


def usage_figures(usage: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, int, float]]:
    """Calls, tokens and cost by purpose, where they are known."""
    figures = [(name.format(purpose), 0, of[key]) for purpose, of in usage.items() for key, name in _USAGE.items()]
    return [figure for figure in figures if figure[2] is not None]


def note(made: Made, texts: bool) -> str:
    """What the stage reported at its end, which may quote a model; where texts may not leave only the folder."""
    lines = [f"    {line}" for line in made.said if texts]
    return "\n".join([*lines, "", f"Whole: `{made.folder}`"])[:MAX_NOTE]


def files_of(folder: Path) -> list[Path]:
    """All files but the versions."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return [path for path in paths if _VERSIONS not in path.relative_to(folder).parent.parts]
