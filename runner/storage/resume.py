"""Going on in a run folder: which one, whether it is finished, and that nothing was changed that can change a score."""

import json
import shlex
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ConfigError
from components.core.moved import as_first_named
from components.core.redaction import HIDDEN, redact
from components.text.structured import parsed
from runner.storage import manifest, records

CONFIG = "config.yaml"
COMPLETE = "complete"
_FREE = {"run", "tracking", "hydra", "compare"}
_NOTHING = {"null", "0", "false", '""', "[]", "{}"}
_FREE_OF_A_MODEL = {
    "max_connections", "api_base", "api_key_env", "key_optional", "timeout_seconds", "retries", "transport", "permits",
    "requests_per_minute", "tokens_per_minute", "latency_seconds", "context", "retired",
}  # fmt: skip


def folder_for(cfg: Mapping[str, Any], wanted: Path, given: bool) -> Path:
    """The folder of a single run: what ``run.resume`` names, else a new one. Raises ConfigError.

    ``wanted`` is the configured folder, ``given`` says that the command line named it.
    """
    asked = cfg["run"]["resume"]
    if asked is None:
        return _new(wanted, given)
    folder = _last(wanted.parent) if asked == "last" else Path(asked)
    if not folder.is_dir():
        raise ConfigError(f"run.resume={asked}: there is no run folder {folder}")
    if not any((folder / name).is_file() for name in (CONFIG, manifest.FILE, records.FILE)):
        raise ConfigError(f"run.resume={asked}: {folder} is no run folder: it has no {CONFIG}")
    refuse_changes(folder, cfg)
    return folder


def parts_of(cfg: Mapping[str, Any]) -> int | None:
    """How many parts a job is to be played in; None: it is played whole."""
    n: int | None = cfg["run"]["shards"]
    return None if n == 1 else n


def refuse_parts(cfg: Mapping[str, Any]) -> None:
    """Raises ConfigError for a single run that a file wants in parts (a word of the command line makes it a sweep), and
    for a part of a stage."""
    if (n := parts_of(cfg)) is not None:
        raise ConfigError(f"run.shards={n} makes a sweep of {n} parts, which needs -m; or leave it out")
    if cfg.get("stage") is not None and cfg["run"].get("shard") is not None:
        raise ConfigError(f"run.shard={cfg['run']['shard']}: a stage is made as a whole; leave run.shard out")


def is_complete(folder: Path) -> bool:
    """Whether nothing is left to do in a run folder; errored samples are, and records or metrics that were lost."""
    notes = manifest.read(folder)
    counts = notes.get("counts", {})
    if notes.get("status") != COMPLETE or counts.get("errored"):
        return False
    finished = counts.get("finished", 0)
    return not finished or (records.count(folder) >= finished and _has_metrics(folder))


def _has_metrics(folder: Path) -> bool:
    try:
        found = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and isinstance(found.get("metrics"), dict)


def refuse_changes(folder: Path, cfg: Mapping[str, Any]) -> None:
    """Raises ConfigError, naming the differences, when the folder was begun with another config."""
    path = folder / CONFIG
    if path.exists() and (changes := differences(_kept(folder), cfg)):
        more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
        raise ConfigError(f"{folder} was begun with another config: {'; '.join(changes[:3])}{more}")


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What can change a score and is not the same: ``key was x, now is y``.

    A key that a later version has added, and that asks for nothing, is no difference.
    """
    before, after = settled(old), settled(new)
    after = {key: text for key, text in after.items() if key in before or text not in _NOTHING}
    return [
        f"{key} was {before.get(key, 'not there')}, now is {after.get(key, 'not there')}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def settled(cfg: Mapping[str, Any]) -> dict[str, str]:
    """What of a config can change a score: dotted key -> value as text, without secrets."""
    return {key: text for key, text in _flat(as_first_named(cfg)).items() if not _free(key)}


def quoted(path: Path) -> str:
    """A path as a value on the command line, where commas, = and brackets mean something."""
    near = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    plain = all((c.isascii() and c.isalnum()) or c in "_-/.+" for c in str(near))
    return str(near) if plain else '"' + str(near).replace('"', '\\"') + '"'


def setting(key: str, path: Path) -> str:
    """A setting that names a path, as a word that can be pasted into a shell."""
    return shlex.quote(f"{key}={quoted(path)}")


_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # a tenth of the time where PyYAML has libyaml


def written(cfg: Mapping[str, Any]) -> str:
    """A config as ``config.yaml`` holds it: values that are secrets are hidden, keys stay what they are."""
    return yaml.dump(_without_secrets(cfg), Dumper=_DUMPER, sort_keys=False, allow_unicode=True)


def _without_secrets(value: Any, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {k: _without_secrets(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_secrets(v, key) for v in value]
    if not isinstance(value, str) or not value:
        return value
    plain = redact(value)
    by_its_key = plain == value and value not in redact(f"{key}: {value}")
    return HIDDEN if by_its_key else plain


def _kept(folder: Path) -> dict[str, Any]:
    """The config that a folder was begun with. Raises ConfigError for one that the run did not write."""
    path = folder / CONFIG
    raw, known = path.read_bytes(), manifest.read(folder).get("config")
    if known and manifest.digest(raw) not in known:
        raise ConfigError(
            f"{path} is not as the run left it ({manifest.FILE} has its digest): put it back, or name another folder"
        )
    try:
        found = parsed(raw.decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is damaged, so nobody can tell whether this is the same run: {error}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{path} is damaged, so nobody can tell whether this is the same run: it holds no config")
    return found


def _flat(value: Any, key: str = "") -> dict[str, str]:
    """Dotted key -> value as text, without secrets."""
    if isinstance(value, Mapping) and value:
        inner = [_flat(v, f"{key}.{step}" if key else str(step)) for step, v in value.items()]
        return {k: v for flat in inner for k, v in flat.items()}
    return {key: json.dumps(_without_secrets(value, key.rpartition(".")[2]), default=str, ensure_ascii=False)}


def _free(key: str) -> bool:
    """Whether a key can't change a score."""
    steps = key.split(".")
    if steps[0] in _FREE or steps[:2] in (
        ["budget", "run"], ["budget", "ask_above_usd"],
        ["toolset", "demonstrations"],  # what is shown of it is memory.prompts
    ):  # fmt: skip
        return True
    if steps[0] == "profile" and steps[1:] != ["name"]:  # its switches are compared where they are used
        return True
    inner = steps[1:] if steps[0] == "model" else steps[2:] if steps[0] == "models" else []
    return bool(inner) and inner[0] in _FREE_OF_A_MODEL


def _new(wanted: Path, given: bool) -> Path:
    """A folder without a run in it: a free one for the default name, a refusal for one that was given."""
    if given and (wanted / records.FILE).exists():
        how = setting("run.resume", wanted)
        raise ConfigError(f"{wanted} holds a run already; resume it with {how}, or name another folder")
    return wanted if given else unused(wanted)


def unused(wanted: Path) -> Path:
    """The folder, made, or the next one that is not there yet: two runs may begin in one second."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    for n in count(1):
        folder = wanted if n == 1 else wanted.with_name(f"{wanted.name}-{n}")
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            continue
    raise AssertionError("count never ends")


def _last(parent: Path) -> Path:
    """The newest run folder in ``parent``."""
    runs = [path.parent for path in parent.glob(f"*/{CONFIG}")] if parent.is_dir() else []
    if not runs:
        raise ConfigError(f"run.resume=last: there is no run folder below {parent}")
    return max(runs, key=lambda folder: ((folder / CONFIG).stat().st_mtime_ns, folder.name))
