"""Resuming a run folder: which one, whether it is complete, and that nothing was changed that can change a score."""

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ConfigError
from components.core.moved import as_first_named, refuse_imported
from components.core.redaction import HIDDEN, redact
from components.text.structured import parse
from runner.storage import manifest, records

CONFIG = "config.yaml"
COMPLETE = "complete"
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # a tenth of the time where PyYAML has libyaml
_EMPTY = {"null", "0", "false", '""', "[]", "{}"}
# Settings that cannot change a score. Of the toolset's demonstrations memory.prompts decides what agents see, and the
# switches of a profile are compared where they are used.
_FREE = {"run", "tracking", "hydra", "compare", "budget.run", "budget.ask_above_usd", "toolset.demonstrations"}
_FREE_OF_A_MODEL = {
    "max_connections", "api_base", "api_key_env", "key_optional", "timeout_seconds", "retries", "max_reply_mb",
    "transport", "permits", "requests_per_minute", "tokens_per_minute", "latency_seconds", "context", "retired",
}  # fmt: skip


def folder_for(cfg: Mapping[str, Any], wanted: Path, named: bool) -> Path:
    """The folder of a single run: what ``run.resume`` names, else a new one. Raises ConfigError. ``wanted`` is the
    configured folder, ``named``: the command line named it."""
    resume = cfg["run"]["resume"]
    if resume is None:
        if named and (wanted / records.FILE).exists():
            how = setting("run.resume", wanted)
            raise ConfigError(f"{wanted} contains a run already; resume it with {how}, or name another folder")
        return wanted if named else make_unused(wanted)
    folder = Path(resume)
    if resume == "last":
        runs, jobs = _runs_in(wanted.parent, "*"), _runs_in(wanted.parent, "*/*")
        newest = _newest([*runs, *jobs])
        if newest in jobs and (line := _line_of(newest)):
            raise ConfigError(f"run.resume=last: the newest folder below {wanted.parent} is a sweep{line}")
        if (single := _newest(runs)) is None:
            line = _line_of(_newest(_runs_in(wanted.parent.parent, "*/*")))
            raise ConfigError(f"run.resume=last: there is no run folder below {wanted.parent}{line}")
        folder = single
    if not folder.is_dir():
        raise ConfigError(f"run.resume={resume}: there is no run folder {folder}")
    if not any((folder / name).is_file() for name in (CONFIG, manifest.FILE, records.FILE)):
        raise ConfigError(f"run.resume={resume}: {folder} is not a run folder: it has no {CONFIG}")
    try:
        refuse_changes(folder, cfg)
    except ConfigError as error:
        raise ConfigError(f"{error}{_line_of(folder)}") from None
    return folder


def refuse_in_sweep(resume: str | None, home: Path) -> None:
    """Raises ConfigError for ``run.resume`` in a sweep, whose new folder is ``home``, with the line that resumes the
    earlier one."""
    if resume is not None:
        jobs = _runs_in(home.parent, "*/*") if resume == "last" else _runs_in(Path(resume), "*")
        how = _line_of(_newest(jobs)) or "; a sweep resumes when hydra.sweep.dir is that of the earlier one"
        raise ConfigError(f"run.resume is for a single run{how}")


def _runs_in(folder: Path, pattern: str) -> list[Path]:
    """The folders of runs, such as jobs of sweeps, that are so deep in a folder, and in no other run."""
    found = (path.parent for path in folder.glob(f"{pattern}/{CONFIG}"))
    return [run for run in found if not (run.parent / CONFIG).is_file()]


def _newest(runs: Sequence[Path]) -> Path | None:
    """The run that began last; those that were refused before a sample was finished come after all others."""

    def began(run: Path) -> bool:
        notes = manifest.read(run)
        counts = notes.get("counts")
        return notes.get("status") != "refused" or bool(counts and counts["finished"])

    ordered = sorted(runs, key=lambda run: ((run / CONFIG).stat().st_mtime_ns, run.name), reverse=True)
    return next(filter(began, ordered), ordered[0] if ordered else None)


def _line_of(run: Path | None) -> str:
    """The end of a message: the line that resumes a run, or the sweep that it is a job of, where its manifest has the
    one that began it."""
    notes = {} if run is None else manifest.read(run)
    words = shlex.split(str(notes.get("command", "")))
    if run is None or not words:
        return ""
    key, folder = "run.resume", run
    if sweep := notes.get("sweep"):
        key, folder = "hydra.sweep.dir", next((home for home in run.parents if home.name == sweep), run.parent)
    places = ("run.resume=", "hydra.run.dir=", "hydra.sweep.dir=")
    kept = [manifest.shell_word(word) for word in words if not word.startswith(places)]
    return f"; to resume {folder}: {' '.join([*kept, setting(key, folder)])}"


def parts_of(cfg: Mapping[str, Any]) -> int | None:
    """The number of parts that a job is run in; None: it is run whole."""
    n: int | None = cfg["run"]["shards"]
    return None if n == 1 else n


def refuse_parts(cfg: Mapping[str, Any]) -> None:
    """Raises ConfigError for a single run that a file divides into parts."""
    if (n := parts_of(cfg)) is not None:
        raise ConfigError(f"run.shards={n} makes a sweep of {n} parts, which needs -m; add -m or remove run.shards")


def is_complete(folder: Path) -> bool:
    """Whether nothing is left to do in a run folder: no sample errored, and no records or metrics were lost."""
    notes = manifest.read(folder)
    counts = notes.get("counts")
    if notes.get("status") != COMPLETE or (counts and counts["errored"]):
        return False
    finished = counts["finished"] if counts else 0
    return not finished or (records.count(folder) >= finished and bool(metrics_of(folder)))


def metrics_of(folder: Path) -> dict[str, Any]:
    """The content of ``metrics.json``; empty where it is lost or damaged."""
    try:
        found = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("metrics"), dict) else {}


def refuse_changes(folder: Path, cfg: Mapping[str, Any]) -> None:
    """Raises ConfigError, naming the differences, when the folder was started with another config, and for a config
    that the run did not write."""
    if not (path := folder / CONFIG).exists():
        return
    raw, known = path.read_bytes(), manifest.read(folder).get("config")
    if known and manifest.digest(raw) not in known:
        raise ConfigError(
            f"{path} was changed after the run ({manifest.FILE} has its digest): restore it, or name another folder"
        )
    try:
        begun, problem = parse(raw.decode("utf-8")), "it holds no config"
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        begun, problem = None, str(error)
    if not isinstance(begun, dict):
        raise ConfigError(f"{path} is damaged, so the run cannot be compared: {problem}")
    refuse_imported(begun)
    if changes := differences(begun, cfg):
        more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
        raise ConfigError(f"{folder} was started with another config: {'; '.join(changes[:3])}{more}")


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The settings that can change a score and differ: ``key was x, now is y``. A key that a later version has added is
    not a difference while it is empty."""
    return differences_of(score_settings(old), score_settings(new))


def differences_of(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The same of settled settings."""
    after = {key: text for key, text in after.items() if key in before or text not in _EMPTY}
    return [
        f"{key} was {before.get(key, 'not there')}, now is {after.get(key, 'not there')}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def score_settings(cfg: Mapping[str, Any]) -> dict[str, str]:
    """The settings that can change a score: dotted key -> value as text, without secrets."""
    settings = {}
    for key, text in _flat(as_first_named(cfg)).items():
        group, *inner = key.split(".")
        named = inner[1:] if group == "models" else inner
        free = group in _FREE or ".".join([group, *inner[:1]]) in _FREE or (group == "profile" and inner != ["name"])
        if not free and not (group in ("model", "models") and named and named[0] in _FREE_OF_A_MODEL):
            settings[key] = text
    return settings


def quote_path(path: Path) -> str:
    """A path as a value on the command line, where commas, = and brackets mean something."""
    near = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    plain = all((c.isascii() and c.isalnum()) or c in "_-/.+" for c in str(near))
    return str(near) if plain else '"' + str(near).replace('"', '\\"') + '"'


def setting(key: str, path: Path) -> str:
    """A setting that names a path, as a word that can be pasted into a shell."""
    return shlex.quote(f"{key}={quote_path(path)}")


def config_text(cfg: Mapping[str, Any]) -> str:
    """A config as text for ``config.yaml``: values that are secrets are hidden, keys are not."""
    return yaml.dump(without_secrets(cfg), Dumper=_DUMPER, sort_keys=False, allow_unicode=True)


def without_secrets(value: Any, key: str = "") -> Any:
    """A config, or the value of a key, with its secrets hidden."""
    if isinstance(value, Mapping):
        return {k: without_secrets(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(v, key) for v in value]
    if not isinstance(value, str) or not value:
        return value
    plain = redact(value)
    secret_by_key = plain == value and value not in redact(f"{key}={value}")
    return HIDDEN if secret_by_key else plain


def _flat(value: Any, key: str = "") -> dict[str, str]:
    """Dotted key -> value as text, without secrets."""
    if isinstance(value, Mapping) and value:
        inner = [_flat(v, f"{key}.{step}" if key else str(step)) for step, v in value.items()]
        return {k: v for flat in inner for k, v in flat.items()}
    return {key: json.dumps(without_secrets(value, key.rpartition(".")[2]), default=str, ensure_ascii=False)}


def make_unused(wanted: Path) -> Path:
    """Make the folder, or the next one that does not exist: two runs may begin in one second."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    for n in count(1):
        folder = wanted if n == 1 else wanted.with_name(f"{wanted.name}-{n}")
        with suppress(FileExistsError):
            folder.mkdir()
            break
    return folder
