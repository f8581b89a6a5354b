"""A run folder, or that of a stage, as MLflow shows it: names, params, tags, metrics, notes, columns. Pure functions,
without MLflow."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

import orjson

from components.core.learning import Made
from components.text.words import written_out
from runner.storage import manifest
from runner.storage.integrity import Damaged
from runner.storage.records import FILE
from runner.storage.resume import metrics_of as stored_metrics
from runner.storage.schema import Manifest, MlflowEntry

if TYPE_CHECKING:
    from runner.results.intervals import MetricJSON

MAX_NOTE = 7_800  # MLflow cuts tags at 8,000 characters
_LATE = ("errors", "cost", "tokens", "calls", "time")  # groups that are never the headline
_STATUS = {"running": "KILLED", "interrupted": "KILLED", "budget": "KILLED", "partial": "KILLED", "failed": "FAILED",
           "errors": "FAILED"}  # fmt: skip
_ALWAYS = ("seed", "limit", "epochs")
_BASES = "settings"  # the group of conf that agents choose themselves
_READ = {str: ("status", "name", "start"), dict: ("choices", "varied", "dataset", "git", "prompts", "mlflow", "files")}
_VALUE = re.compile(r"[-+.\deE/]+|true|false|null|", flags=re.IGNORECASE)
_COLUMNS = 7  # that fit next to each other in the table of runs
_VERSIONS = "sets"  # in the folder of a stage, every version that was tried: many files, which stay there
_MAX_VALUE = 500
_STAGE_TAGS = ("begun", "model_kind", "status", "command")
_USAGE = {"calls": "calls/{}", "input_tokens": "tokens/{}/input", "output_tokens": "tokens/{}/output",
          "cost_usd": "cost/{}"}  # fmt: skip

Figure: TypeAlias = tuple[str, int, float]
"""A metric: name, step, value."""


@dataclass(frozen=True)
class Job:
    """A run folder's manifest and metrics. ``metrics`` is empty while the run is not finished."""

    folder: Path
    manifest: Manifest
    metrics: Mapping[str, MetricJSON]

    @property
    def id(self) -> str:
        """The folder's own id (see ``remember``)."""
        return (self.manifest["mlflow"] or {})["id"]

    @property
    def status(self) -> str:
        """The run's state as one of MLflow's."""
        return _STATUS.get(self.manifest.get("status", ""), "FINISHED")

    @property
    def privacy(self) -> str:
        """The class of its data."""
        return (self.manifest.get("dataset") or {}).get("privacy", "unknown")

    @property
    def simulated(self) -> bool:
        """Whether a simulated model was run."""
        return self.manifest.get("model_kind") == "simulated"

    @property
    def start(self) -> int | None:
        """When the run began, in milliseconds since the epoch."""
        return _milliseconds(self.manifest.get("start"))

    @property
    def end(self) -> int | None:
        """When it ended, or finished its last sample."""
        records = self.folder / FILE
        return _milliseconds(self.manifest.get("end") or (records.stat().st_mtime if records.exists() else None))

    @property
    def varied(self) -> dict[str, Any]:
        """What the sweep varies; for a single run what the command line set."""
        return manifest.swept_of(self.manifest) or dict(self.manifest.get("varied") or {})

    @property
    def name(self) -> str:
        """What varies, a choice by its name, a number with its field; without variation the agent and the model."""
        choices = self.manifest.get("choices") or {}
        texts = [(key.rpartition(".")[2], as_text(value)) for key, value in self.varied.items()]
        words = [f"{key}={text}" if _VALUE.fullmatch(text) else text for key, text in texts]
        words = words or [as_text(choices[group]) for group in ("agent", "model") if choices.get(group)]
        return " ".join(words)[:80] or as_text(self.manifest.get("name", "run"))

    @property
    def headline(self) -> list[str]:
        """Names of the metrics: the score that decides, the scorers' others, cost and time."""
        decides = self.manifest.get("decides")
        return sorted(self.metrics, key=lambda name: (name != decides, name.split("/")[0] in _LATE))


def remember(folder: Path, facts: MlflowEntry) -> MlflowEntry:
    """Add facts to the manifest's ``mlflow`` entry, whose id the folder has wherever it is sent. Returns the entry.
    Raises OSError, without a manifest."""
    if not (notes := manifest.read(folder)):
        raise FileNotFoundError(f"{folder / manifest.FILE} does not exist")
    old = notes.get("mlflow") or {}
    notes["mlflow"] = entry = MlflowEntry(id=uuid4().hex) | old | facts
    if entry != old:
        manifest.write(folder, notes)
    return entry


def job_of(folder: Path) -> Job:
    """Read a run folder. Raises OSError, without a manifest, and Damaged for one that no run wrote so."""
    notes: Mapping[str, Any] = manifest.read(folder)
    if bad := [key for kind, keys in _READ.items() for key in keys if not isinstance(notes.get(key), kind | None)]:
        raise Damaged(f"{folder / manifest.FILE} is damaged: {bad[0]} is {str(notes[bad[0]])[:80]!r}; restore it")
    remember(folder, {})
    return Job(folder, manifest.read(folder), stored_metrics(folder).get("metrics", {}))


def params_of(job: Job, config: Mapping[str, Any]) -> dict[str, str]:
    """Resolved choices, what the command line set, and seed, limit and epochs; without settings that follow from a
    choice, as the bases of agents do: MLflow's comparison preselects the first three that differ, by name."""
    choices, params = job.manifest.get("choices") or {}, {key: config.get(key) for key in _ALWAYS}
    params |= (job.manifest.get("varied") or {}) | {
        group: of for group, of in choices.items() if group.partition("/")[0] != _BASES
    }
    return {safe(key): as_text(value) for key, value in params.items() if value is not None}


def tags_of(job: Job) -> dict[str, str]:
    """What a result can be traced back to."""
    notes = job.manifest
    dataset = notes.get("dataset") or {}
    git: Mapping[str, Any] = notes.get("git") or {}
    facts = f"{dataset.get('name', '')} {dataset.get('split', '')}, {dataset.get('samples', '?')} samples"
    tags = {
        "folder_id": job.id,
        "folder": str(job.folder),
        "model_kind": notes.get("model_kind"),
        "dataset_fingerprint": dataset.get("fingerprint"),
        "memory_digest": notes.get("memory"),
        "git_commit": git.get("commit"),
        "git_dirty": git.get("dirty"),
        "mlflow.source.git.commit": git.get("commit"),
        "mlflow.source.name": notes.get("command"),
        "mlflow.note.content": f"{_warning([job])}{job.name}: {facts.strip()}. Whole run: `{job.folder}`",
    }
    tags |= {f"prompts.{name}": digest for name, digest in (notes.get("prompts") or {}).items()}
    return {safe(key): as_text(value) for key, value in tags.items() if value not in (None, "", {})}


def metrics_of(job: Job) -> dict[str, float]:
    """Finite values, headline first; then the intervals under a prefix of their own."""
    metrics = [(name, job.metrics[name]) for name in job.headline]
    values = {safe(name): metric.get("value") for name, metric in metrics}
    for name, metric in metrics:
        values[safe(f"uncertainty/{name}_low")] = metric.get("ci_low")
        values[safe(f"uncertainty/{name}_high")] = metric.get("ci_high")
    finite = {name: float(value) for name, value in values.items() if value is not None and math.isfinite(value)}
    # six digits, since MLflow's tables show all they get; metrics.json has the whole
    return {name: float(f"{value:.6g}") if abs(value) < 1e5 else round(value, 1) for name, value in finite.items()}


def _milliseconds(value: str | float | None) -> int | None:
    """A time of the manifest (ISO 8601, or seconds since the epoch) in milliseconds."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value).timestamp()
    return None if value is None else int(value * 1000)


def safe(name: str) -> str:
    """A name that MLflow accepts: one bad name makes it reject the whole batch."""
    name = re.sub(r"[^\w\-. :/]", "_", name, flags=re.ASCII)
    return re.sub(r"/+", "/", name).strip("/ ")[:250] or "_"


def columns(jobs: Sequence[Job], named: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """The params and metrics to show next to each other: what varies, what is ``named``, headlines, cost and time."""
    from runner.results.rows import headline  # statistics and tables: after the first call

    varied = list(dict.fromkeys(key for job in jobs for key in job.varied))[:3]
    manifests = [job.manifest for job in jobs]
    return varied, headline([job.metrics for job in jobs], _COLUMNS - len(varied), manifests, named)


def shared_view(jobs: Sequence[Job], tag: str, named: Sequence[str] = ()) -> str:
    """The view of a sweep as MLflow stores it: its jobs, best first, with what varies and the headline metrics."""
    from runner.results.kinds import better

    varied, metrics = columns(jobs, named)
    selected = [f"params.`{safe(name)}`" for name in varied] + [f"metrics.`{safe(name)}`" for name in metrics]
    if any(job.manifest.get("model_kind") != "live" for job in jobs):
        selected.append("tags.`model_kind`")
    view = {
        "searchFilter": f"tags.level = 'job' AND tags.sweep = '{tag}'",
        "orderByKey": f"metrics.`{safe(metrics[0])}`" if metrics else "attributes.start_time",
        "orderByAsc": bool(metrics) and better(metrics[0], [job.manifest for job in jobs]) == "lower",
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "runsHiddenMode": "SHOW_ALL",
        "selectedColumns": selected,
    }
    return orjson.dumps(view).decode()


def table(jobs: Sequence[Job], named: Sequence[str] = ()) -> str:
    """The results of a sweep as Markdown, best first, as many rows as a note can hold; ``named`` scores come first."""
    from runner.results.cells import markdown
    from runner.results.kinds import as_gain, better

    _, metrics = columns(jobs, named)
    best = metrics[0] if metrics else ""
    direction = better(best, [job.manifest for job in jobs])

    def rank(job: Job) -> float:
        value = job.metrics.get(best, {}).get("value")
        return -as_gain(value, direction) if value is not None and math.isfinite(value) else math.inf

    rows = []
    for job in sorted(jobs, key=rank):
        name = f"{job.name} (simulated)" if job.simulated else job.name
        rows.append([name, *(_cell(job.metrics.get(metric, {})) for metric in metrics), job.status.lower()])
    lines = markdown(["run", *metrics, "status"], rows).splitlines()
    n = bisect_right([*accumulate(len(line) + 1 for line in lines)], MAX_NOTE)
    more = f"\n\n... and {len(lines) - n} more runs" if n < len(lines) else ""
    return _warning(jobs) + "\n".join(lines[:n]) + more


def _warning(jobs: Iterable[Job]) -> str:
    simulated = any(job.simulated for job in jobs)
    return "**Simulated model: such figures say nothing about a real one.**\n\n" if simulated else ""


def _cell(metric: MetricJSON) -> str:
    value, low, high = metric.get("value"), metric.get("ci_low"), metric.get("ci_high")
    if value is None or not math.isfinite(value):
        return "-"
    if low is None or high is None:
        return f"{value:.4g} ({metric['no_interval']})" if metric.get("no_interval") else f"{value:.4g}"
    return f"{value:.3g} [{low:.3g}, {high:.3g}]"


def as_text(value: Any) -> str:
    """A value as a param or tag, its control characters as escapes."""
    if isinstance(value, str):
        return written_out(value)[:MAX_NOTE]
    if isinstance(value, list | tuple):
        return ",".join(as_text(one) for one in value)
    return written_out(orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode())[:MAX_NOTE]


@dataclass(frozen=True)
class StageFacts:
    """The data of a stage to send. Where texts may not leave: no files, and a note that does not quote a model."""

    figures: list[Figure]
    params: dict[str, str]
    tags: dict[str, str]
    files: list[Path]


def stage_facts(
    made: Made, notes: Mapping[str, Any], config: Mapping[str, Any], choices: Mapping[str, str], texts: bool
) -> StageFacts:
    """The data of a stage to send. ``texts``: whether texts of its data may be sent."""
    custom = {f"stage.{key}": value for key, value in (config.get("stage") or {}).items() if not key.startswith("_")}
    settings = {**choices, "seed": config.get("seed"), **custom}
    tags = {key: as_text(str(notes[key]))[:_MAX_VALUE] for key in _STAGE_TAGS if notes.get(key)}
    reported = [f"    {line}" for line in made.lines] if texts else []
    note = as_text("\n".join([*reported, "", f"Whole: `{made.folder}`"]))
    used = [
        (safe(name.format(purpose)), 0, float(of[key]))
        for purpose, of in (notes.get("usage") or {}).items()
        for key, name in _USAGE.items()
        if of[key] is not None
    ]
    own = [(safe(name), n, float(value)) for name, values in made.figures.items() for n, value in values]
    paths = sorted(path for path in made.folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return StageFacts(
        figures=used + [figure for figure in own if math.isfinite(figure[2])],
        params={safe(key): as_text(str(value))[:_MAX_VALUE] for key, value in settings.items()},
        tags={**tags, "folder": as_text(str(made.folder)), "mlflow.note.content": note},
        files=[one for one in paths if texts and _VERSIONS not in one.relative_to(made.folder).parent.parts],
    )
