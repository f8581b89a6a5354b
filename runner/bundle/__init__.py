"""Bundles: all that a run or a sweep needs to be played again elsewhere, in one file, without key or network."""

import gzip
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml

from components.core.errors import ConfigError
from components.core.redaction import secret_variables
from components.prompts import load as load_prompts
from runner.bundle import archive, entries, places
from runner.bundle.licences import may_go_along
from runner.bundle.shelves import own_sets, prompt_files, shelf
from runner.storage import manifest
from runner.storage.records import FILE as RECORDS
from runner.storage.resume import CONFIG, is_complete, setting

_KEPT = (manifest.FILE, RECORDS, "metrics.json", "report.md", "texts-*.jsonl.gz")


@dataclass
class _Load:
    """What goes into the bundle, and what is said of it."""

    members: dict[str, bytes | Path] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    entries: dict[bytes, bytes] = field(default_factory=dict)
    opened: set[Path] = field(default_factory=set)
    said: list[str] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)


def pack(folders: Sequence[Path], target: Path, with_data: bool) -> list[str]:
    """Write a bundle of finished runs. Returns what to say of it. Raises ConfigError, and then writes nothing.

    Every run is played once more from its journal, which tells what it asked and that it can be replayed.
    ``with_data``: trajectories of data that are not open may go along, and open data whatever their licence.
    """
    if target.suffix != ".zip":
        raise ConfigError(f"bundle {target}: a bundle is a zip, call it {target.with_suffix('.zip')}")
    runs = [(folder, _config(folder)) for folder in folders]
    for folder, _ in runs:
        if not is_complete(folder):
            how = setting("run.resume", folder)
            raise ConfigError(f"{folder} is not complete, or has errored samples: {how} resumes it")
        _permit(folder, manifest.read(folder), with_data)
    load, labels = _Load(), labels_of(folders)
    played = [(folder, cfg, _listen(folder, cfg, load)) for folder, cfg in runs]
    for label, (folder, cfg, heard) in zip(labels, played, strict=True):
        if heard.privacy != "open" and not with_data:
            raise ConfigError(_held(folder, heard.privacy))
        _add_run(load, label, folder, cfg, heard, with_data)
    load.members[entries.FILE] = entries.written(load.entries)
    head = {
        "name": runs[0][1]["name"],
        "runs": load.runs,
        "git": manifest.git_state(),
        "versions": manifest.versions(),
        "asks_for": load.asked,
        "holds": "trajectories of data that are not open" if _closed(load) else "open data",
    }
    refuse_keys(load.members, named_keys([cfg for _, cfg in runs]))
    archive.write(target, head, load.members)
    return _told(target, load, with_data)


def _listen(folder: Path, cfg: Mapping[str, Any], load: _Load) -> Any:
    from runner.bundle.heard import listen

    heard = listen(folder, cfg)
    for key in heard.entries.keys() & load.entries.keys():
        if heard.entries[key] != load.entries[key]:
            raise ConfigError(f"{folder}: its journal holds another reply than that of a run before: pack them apart")
    load.entries |= heard.entries
    load.opened |= heard.opened
    return heard


def _add_run(load: _Load, label: str, folder: Path, cfg: Mapping[str, Any], heard: Any, with_data: bool) -> None:
    """A run's files, prompts and memory, and its data where they may go along."""
    notes = manifest.read(folder)
    for pattern in _KEPT:
        load.members |= {f"runs/{label}/{path.name}": path for path in sorted(folder.glob(pattern))}
    own = own_sets(heard.prompts)
    load.members |= prompt_files(heard.prompts)
    brought = {key: shelf(text) for key, text in places.texts(cfg) if text in own and key.endswith("prompts")}
    brought |= _data(load, cfg, notes, heard.privacy, with_data)
    packed = places.portable(cfg, brought)
    if heard.memory is not None:
        digest = heard.memory.name
        files = [path for path in sorted(heard.memory.rglob("*")) if path.is_file()]
        load.members |= {f"memory/{digest}/{path.relative_to(heard.memory).as_posix()}": path for path in files}
        packed["memory"] = {**packed["memory"], "path": f"{places.BUNDLE}memory/{digest}"}
    packed["run"] = {
        **cfg["run"],
        "journal": None,
        "replay": False,
        "resume": None,
        "memory": "outputs/.memory",
        "preflight": False,
    }
    packed["tracking"] = {"uri": None, "artifacts": None, "traces": "none", "ui": None, "permits": []}
    load.members[f"runs/{label}/{CONFIG}"] = yaml.safe_dump(packed, sort_keys=False, allow_unicode=True).encode()
    for key, text in places.texts(packed):
        if text.startswith((places.BELOW, places.NAMED)):
            load.asked[key] = text
    load.runs.append({
        "label": label,
        "fingerprint": (notes.get("dataset") or {}).get("fingerprint"),
        "own": {shelf(name).removeprefix("prompts/"): name for name in sorted(own)},
        "prompts": {shelf(name).removeprefix("prompts/"): load_prompts(name).digest for name in heard.prompts},
    })  # fmt: skip


def _data(
    load: _Load, cfg: Mapping[str, Any], notes: Mapping[str, Any], privacy: str, with_data: bool
) -> dict[str, str]:
    """Where in the bundle the dataset's files are, by the key that names them; what may not go along is left out."""
    named = {key: path for key, path in places.outside(cfg).items() if key.startswith("dataset.") and path.exists()}
    if not named:
        return {}
    allowed, why = may_go_along(notes, privacy, with_data, named)
    brought = {}
    for key, path in named.items() if allowed else ():
        root = path.absolute()
        files = sorted(one for one in load.opened if one == root or root in one.parents)
        for one in files:
            load.members[f"data/{key}/{one.relative_to(root.parent).as_posix()}"] = one
        if files:
            brought[key] = f"data/{key}/{root.name}"
    load.said.append(f"data: {', '.join(named)}: {why}")
    return brought


def _config(folder: Path) -> dict[str, Any]:
    cfg = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    if not isinstance(cfg, dict) or not isinstance(cfg.get("run"), dict):
        raise ConfigError(f"{folder / CONFIG} is damaged: it is not the config of a run")
    return cfg


def labels_of(folders: Sequence[Path]) -> list[str]:
    """The names of the folders, told apart, be it by case alone."""
    found: list[str] = []
    for name in (folder.resolve().name for folder in folders):
        taken = {label.lower() for label in found}
        tries = (name, *(f"{name}-{n}" for n in range(2, len(folders) + 2)))
        found.append(next(label for label in tries if label.lower() not in taken))
    return found


def _permit(folder: Path, notes: Mapping[str, Any], with_data: bool) -> None:
    privacy = (notes.get("dataset") or {}).get("privacy", "open")
    if privacy != "open" and not with_data:
        raise ConfigError(_held(folder, privacy))


def _held(folder: Path, privacy: str) -> str:
    return (
        f"{folder}: its data are {privacy}, and records, texts and journal quote them: no bundle is made of it;"
        " if whoever gets the file may see such data: --with-data"
    )


def _closed(load: _Load) -> bool:
    notes = [orjson.loads(path.read_bytes()) for name, path in load.members.items()
             if isinstance(path, Path) and name.endswith(f"/{manifest.FILE}") and name.startswith("runs/")]  # fmt: skip
    return any((one.get("dataset") or {}).get("privacy", "open") != "open" for one in notes)


def named_keys(configs: Sequence[Mapping[str, Any]]) -> set[str]:
    """The variables that configs take keys from, whatever they are called."""
    return {text for cfg in configs for key, text in places.texts(cfg) if key.endswith(".api_key_env")}


def refuse_keys(members: Mapping[str, bytes | Path], named: Collection[str]) -> None:
    """Raises ConfigError where the value of a secret variable stands in a member. ``named``: more of them."""
    secrets = {name: value.encode() for name, value in secret_variables(named).items()}
    for name, content in members.items() if secrets else ():
        text = content if isinstance(content, bytes) else content.read_bytes()
        text = gzip.decompress(text) if name.endswith(".gz") else text
        if held := next((variable for variable, secret in secrets.items() if secret in text), None):
            raise ConfigError(f"{name} holds the value of {held}: no bundle is made")


def _told(target: Path, load: _Load, with_data: bool) -> list[str]:
    """What the bundle holds."""
    lines = [f"bundle:     {target} ({target.stat().st_size:,} bytes)"]
    lines.append(f"holds:      {len(load.runs)} run(s), {len(load.entries):,} entries of the journal, prompts, records")
    if with_data and _closed(load):
        lines.append("            with trajectories of data that are not open: keep it where such data may be")
    lines += dict.fromkeys(load.said)
    lines += [f"asks for:   {key}, which was {text}" for key, text in sorted(load.asked.items())]
    return [*lines, f"replay:     python -m runner {setting('run.replay', target)}"]
