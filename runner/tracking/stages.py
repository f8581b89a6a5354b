"""What a stage of its own made, as a run in MLflow: what was asked for, its figures, what its calls took, its files."""

import math
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from components.core.learning import Made
from runner.tracking.describe import safe
from runner.tracking.store import Tracker, connect, texts_may_leave
from runner.tracking.views import view_url

_FACTS = "manifest.json"
_APART = "sets"  # every version that was tried: many files that the folder holds
_LONGEST, _NOTE = 500, 7_800  # letters of a value; of a note
_TOLD = ("begun", "model_kind", "status", "command")


def send(made: Made, config: Mapping[str, Any], choices: Mapping[str, str]) -> str:
    """Send what a stage left; sent again it changes what is there and doubles nothing. Returns the address."""
    notes = orjson.loads((made.folder / _FACTS).read_bytes())
    texts = texts_may_leave(config, str((notes.get("dataset") or {}).get("privacy", "unknown")))
    tracker, now = connect(config), int(time.time() * 1000)  # which loads mlflow
    from mlflow.entities import Metric, Param, RunTag

    name = f"{choices.get('stage', 'stage')} {made.folder.name}"
    run_id = tracker.stage(sha256(f"{made.folder.absolute()}\0{notes['begun']}".encode()).hexdigest()[:32], name)
    known = tracker.client.get_run(run_id).data
    sent = {
        (name, one.step, one.value) for name in known.metrics for one in tracker.client.get_metric_history(run_id, name)
    }
    params = {safe(key): str(value)[:_LONGEST] for key, value in _asked(config, choices).items()}
    figures = _used(notes.get("usage") or {})
    figures += [(name, n, value) for name, of in made.figures.items() for n, value in of if math.isfinite(value)]
    metrics = [(safe(name), n, float(value)) for name, n, value in figures]
    tracker.client.log_batch(
        run_id,
        [Metric(name, value, now, n) for name, n, value in metrics if (name, n, value) not in sent],
        [Param(key, value) for key, value in params.items() if key not in known.params],
        [RunTag(key, str(notes[key])[:_LONGEST]) for key in _TOLD if notes.get(key)]
        + [RunTag("folder", str(made.folder)), RunTag("mlflow.note.content", _note(made, texts))],
    )
    tracker.client.set_terminated(run_id, "FAILED" if made.empty else "FINISHED")
    if texts:
        _files(tracker, run_id, made.folder)
    return view_url(config, tracker.experiment_id, run_id=run_id)


def _asked(config: Mapping[str, Any], choices: Mapping[str, str]) -> dict[str, Any]:
    """The choices, the seed and the stage's own settings."""
    own = {f"stage.{key}": value for key, value in (config.get("stage") or {}).items() if not key.startswith("_")}
    return {**choices, "seed": config.get("seed"), **own}


def _used(usage: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, int, float]]:
    """What calls took, by purpose; what is not known is left out."""
    keys = {"calls": "calls/{}", "input_tokens": "tokens/{}/input", "output_tokens": "tokens/{}/output",
            "cost_usd": "cost/{}"}  # fmt: skip
    found = [(form.format(purpose), 0, of[key]) for purpose, of in usage.items() for key, form in keys.items()]
    return [one for one in found if one[2] is not None]


def _note(made: Made, texts: bool) -> str:
    """What was said at the end, which may quote a model; where texts may not leave only the folder."""
    said = [f"    {line}" for line in made.said if texts]
    return "\n".join([*said, "", f"Whole: `{made.folder}`"])[:_NOTE]


def _files(tracker: Tracker, run_id: str, folder: Path) -> None:
    """All files but the versions."""
    for path in sorted(folder.rglob("*")):
        below = path.parent.relative_to(folder)
        if path.is_file() and not path.name.startswith(".") and _APART not in below.parts:
            tracker.client.log_artifact(run_id, str(path), None if below == Path() else below.as_posix())
