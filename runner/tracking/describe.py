"""What MLflow is told of a run folder: names, params, tags, metrics, notes. Pure functions, no MLflow."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson

from runner.results.intervals import MetricJSON
from runner.results.kinds import better, improved
from runner.results.rows import headline
from runner.storage.records import FILE
from runner.storage.schema import Manifest

_LATE = ("errors", "cost", "tokens", "calls", "time")  # groups that are never the headline
_STATUS = {"running": "KILLED", "interrupted": "KILLED", "budget": "KILLED", "partial": "KILLED", "failed": "FAILED",
           "errors": "FAILED"}  # fmt: skip
_EXTRA = ("seed", "limit", "epochs", "model.name", "model.temperature", "agent.grammar", "agent.prompts", "verifier.n")
_NOTE = 7_800  # MLflow cuts tags at 8,000 characters
_COLUMNS = 7  # that fit beside each other in the table of runs


@dataclass(frozen=True)
class Job:
    """A run folder's manifest and metrics. ``metrics`` is empty while the run is not finished."""

    folder: Path
    manifest: Manifest
    metrics: Mapping[str, MetricJSON]

    @property
    def id(self) -> str:
        """The folder's own id (see ``identify``)."""
        return str((self.manifest.get("mlflow") or {})["id"])

    @property
    def status(self) -> str:
        """The run's state in MLflow's words."""
        return _STATUS.get(str(self.manifest.get("status", "")), "FINISHED")

    @property
    def start(self) -> int | None:
        """When the run began, in milliseconds since the epoch."""
        return moment(self.manifest.get("start"))

    @property
    def end(self) -> int | None:
        """When it ended, or finished its last sample."""
        records = self.folder / FILE
        last = records.stat().st_mtime if records.exists() else None
        return moment(self.manifest.get("end") or last)

    @property
    def varied(self) -> dict[str, Any]:
        """What the sweep varies; for a single run what the command line set."""
        found = dict(self.manifest.get("varied") or {})
        swept = self.manifest.get("swept") or ()
        return {key: found[key] for key in swept if key in found} or found

    @property
    def name(self) -> str:
        """What varies, short; without variation the agent and the model."""
        choices = self.manifest.get("choices") or {}
        words = [_word(key, value) for key, value in self.varied.items()]
        words = words or [_value(choices[group]) for group in ("agent", "model") if choices.get(group)]
        return " ".join(words)[:80] or str(self.manifest.get("name", "run"))

    @property
    def headline(self) -> list[str]:
        """Names of the metrics: the score that decides, the scorers' others, cost and time."""
        decides = self.manifest.get("decides")
        return sorted(self.metrics, key=lambda name: (name != decides, name.split("/")[0] in _LATE))


def identify(folder: Path) -> str:
    """The id that the folder keeps wherever it is sent, stored in its manifest on first use.

    Raises OSError when there is no manifest.
    """
    manifest = _json(folder / "manifest.json")
    known = manifest.get("mlflow") or {}
    if "id" not in known:
        known = remember(folder, {"id": uuid4().hex})
    return str(known["id"])


def remember(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Add facts to the manifest's ``mlflow`` entry; the file is replaced at once. Returns the entry."""
    path = folder / "manifest.json"
    manifest = _json(path)
    manifest["mlflow"] = entry = {**(manifest.get("mlflow") or {}), **facts}
    fresh = path.with_suffix(".json.tmp")
    fresh.write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    fresh.replace(path)
    return entry


def job_of(folder: Path) -> Job:
    """Read a run folder. Raises OSError when there is no manifest."""
    identify(folder)
    path = folder / "metrics.json"
    metrics = _json(path).get("metrics", {}) if path.exists() else {}
    manifest: Manifest = orjson.loads((folder / "manifest.json").read_bytes())
    return Job(folder, manifest, metrics)


def params_of(job: Job, config: Mapping[str, Any]) -> dict[str, str]:
    """Resolved choices, every varied value and the few settings that are always asked for."""
    found: dict[str, Any] = dict(job.manifest.get("choices") or {})
    found |= {key: value for key, value in job.varied.items() if key not in found}
    found |= {key: _at(config, key) for key in _EXTRA if key not in found}
    return {safe(key): _value(value) for key, value in found.items() if value is not None}


def tags_of(job: Job) -> dict[str, str]:
    """What a result can be traced back to."""
    manifest = job.manifest
    git: Mapping[str, Any] = manifest.get("git") or {}
    dataset = manifest.get("dataset") or {}
    tags = {
        "folder_id": job.id,
        "folder": str(job.folder),
        "model_kind": manifest.get("model_kind"),
        "dataset_fingerprint": dataset.get("fingerprint"),
        "memory_digest": manifest.get("memory"),
        "git_commit": git.get("commit"),
        "git_dirty": git.get("dirty"),
        "mlflow.source.git.commit": git.get("commit"),
        "mlflow.source.name": manifest.get("command"),
        "mlflow.note.content": _note(job),
    }
    tags |= {f"prompts.{name}": digest for name, digest in (manifest.get("prompts") or {}).items()}
    return {safe(key): _value(value) for key, value in tags.items() if value not in (None, "", {})}


def metrics_of(job: Job) -> dict[str, float]:
    """Finite values, headline first; then the intervals under a prefix of their own."""
    values = {safe(name): job.metrics[name].get("value") for name in job.headline}
    for name in job.headline:
        metric = job.metrics[name]
        ends = {"low": metric.get("ci_low"), "high": metric.get("ci_high")}
        values |= {safe(f"uncertainty/{name}_{end}"): value for end, value in ends.items()}
    return {name: _rounded(value) for name, value in values.items() if value is not None and math.isfinite(value)}


def _rounded(value: float) -> float:
    """Six digits, since MLflow's tables show what they get; metrics.json has the whole."""
    return float(f"{value:.6g}") if abs(value) < 1e5 else round(float(value), 1)


def moment(value: Any) -> int | None:
    """A time of the manifest (ISO 8601, or seconds since the epoch) in milliseconds."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value).timestamp()
    return None if value is None else int(value * 1000)


def safe(name: str) -> str:
    """A name that MLflow accepts: one bad name makes it reject the whole batch."""
    name = re.sub(r"[^\w\-. :/]", "_", name, flags=re.ASCII)
    return re.sub(r"/+", "/", name).strip("/ ")[:250] or "_"


def columns(jobs: Sequence[Job], named: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """The params and metrics to show beside each other: what varies, what is ``named``, headlines, cost and time."""
    varied, room = list(dict.fromkeys(key for job in jobs for key in job.varied)), _COLUMNS
    names = headline([job.metrics for job in jobs], room - min(len(varied), 3), [job.manifest for job in jobs], named)
    return varied[:3], names


def table(jobs: Sequence[Job], named: Sequence[str] = ()) -> str:
    """The results of a sweep as Markdown, best first, as many rows as a note can hold; ``named`` scores stand first."""
    _, metrics = columns(jobs, named)
    best = metrics[0] if metrics else ""
    values = [_number(job.metrics.get(best, {}).get("value")) for job in jobs]
    direction = better(best, [job.manifest for job in jobs])
    gains = [-math.inf if value is None else improved(value, direction) for value in values]
    ranked = [jobs[n] for n in sorted(range(len(jobs)), key=lambda n: -gains[n])]
    lines = [_simulated(jobs) + _row(["run", *metrics, "status"]), _row(["---"] * (len(metrics) + 2))]
    for n, job in enumerate(ranked):
        mark = " (simulated)" if _is_simulated(job) else ""
        line = _row([job.name + mark, *(_cell(job.metrics.get(name, {})) for name in metrics), job.status.lower()])
        if sum(map(len, lines)) + len(lines) + len(line) > _NOTE:
            lines.append(f"\n... and {len(ranked) - n} more runs")
            break
        lines.append(line)
    return "\n".join(lines)


def _note(job: Job) -> str:
    """The banner of a run's page."""
    dataset = job.manifest.get("dataset") or {}
    facts = f"{dataset.get('name', '')} {dataset.get('split', '')}, {dataset.get('samples', '?')} samples"
    return f"{_simulated([job])}{job.name}: {facts.strip()}. Whole run: `{job.folder}`"


def _simulated(jobs: Iterable[Job]) -> str:
    if any(map(_is_simulated, jobs)):
        return "**Simulated model: such figures say nothing about a real one.**\n\n"
    return ""


def _is_simulated(job: Job) -> bool:
    return bool(job.manifest.get("model_kind") == "simulated")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(metric: Mapping[str, Any]) -> str:
    value, low, high = (_number(metric.get(key)) for key in ("value", "ci_low", "ci_high"))
    if value is None:
        return "-"
    if low is None or high is None:
        return f"{value:.4g} ({metric['no_interval']})" if metric.get("no_interval") else f"{value:.4g}"
    return f"{value:.3g} [{low:.3g}, {high:.3g}]"


def _number(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _word(key: str, value: Any) -> str:
    """A choice by its name, a number with its field: ``verifier.n=3`` -> n=3."""
    short = _value(value)
    speaks = re.fullmatch(r"[-+.\deE/]+|true|false|null|", short, flags=re.IGNORECASE) is None
    return short if speaks else f"{key.rsplit('.', 1)[-1]}={short}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value[:_NOTE]
    if isinstance(value, list | tuple):
        return ",".join(_value(one) for one in value)
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()[:_NOTE]


def _at(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(path.read_bytes())
    return found
