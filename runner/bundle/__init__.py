"""Bundles: all that a run or a sweep needs to be run again elsewhere, in one file, without key or network."""

import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ConfigError
from components.core.moved import renew
from components.core.redaction import secret_variables
from components.prompts import load, place_of
from runner.bundle import archive, settings
from runner.bundle.differences import HOME
from runner.bundle.inputs import Inputs, inputs_of, may_include
from runner.results.runs import config_of
from runner.storage import manifest
from runner.storage.records import FILE as RECORDS
from runner.storage.resume import CONFIG, is_complete, setting
from runner.storage.schema import Manifest

_FILES = (manifest.FILE, RECORDS, "metrics.json", "report.md", "texts-*.jsonl.gz")
_INCLUDED = re.compile(r"_shared/[\w./-]+\.jinja")  # in a template
_RUN = {"journal": None, "replay": False, "resume": None, "memory": "outputs/.memory", "preflight": False}
_TRACKING: dict[str, Any] = {"uri": None, "artifacts": None, "traces": "none", "ui": None, "permits": []}


@dataclass
class _Contents:
    """What goes into a bundle. ``required``: key -> path that the command line of a replay must name."""

    with_data: bool
    members: dict[str, bytes | Path] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    entries: dict[bytes, bytes] = field(default_factory=dict)
    required: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    closed: bool = False

    def permit(self, folder: Path, privacy: str) -> None:
        """Note the class of a run's data. Raises ConfigError where they may not be packed."""
        if privacy != "open" and not self.with_data:
            raise ConfigError(
                f"{folder}: its data are {privacy}, and records, texts and journal quote them: no bundle was made;"
                " if its recipients may see such data: --with-data"
            )
        self.closed |= privacy != "open"

    def add_run(self, label: str, folder: Path, cfg: Mapping[str, Any], inputs: Inputs) -> None:
        """Add a run's files, prompts, memory and calls, and its data where they may be passed on. Raises ConfigError
        for another reply to the same call, and for data not open."""
        if any(self.entries.get(key, payload) != payload for key, payload in inputs.entries.items()):
            raise ConfigError(f"{folder}: its journal has another reply than an earlier run; pack them separately")
        self.permit(folder, inputs.privacy)
        self.entries |= inputs.entries
        notes = manifest.read(folder)
        for pattern in _FILES:
            self.members |= {f"runs/{label}/{path.name}": path for path in sorted(folder.glob(pattern))}
        custom = sorted(name for name in set(inputs.prompts) if is_custom(name))
        self.members |= prompt_files(inputs.prompts)
        named = ((k, name) for k, name in settings.texts(cfg) if k.endswith("prompts") and name in custom)
        packed = {k: f"prompts/{packed_name(name)}" for k, name in named}
        config = settings.portable(cfg, packed | self._add_data(cfg, notes, inputs))
        if inputs.memory is not None:
            digest, files = inputs.memory.name, [path for path in inputs.memory.rglob("*") if path.is_file()]
            self.members |= {f"memory/{digest}/{path.relative_to(inputs.memory).as_posix()}": path for path in files}
            config["memory"] = {**config["memory"], "path": f"{settings.BUNDLE}memory/{digest}"}
        config |= {"run": {**cfg["run"], **_RUN}, "tracking": _TRACKING, "protocol": None}
        self.members[f"runs/{label}/{CONFIG}"] = yaml.safe_dump(config, sort_keys=False, allow_unicode=True).encode()
        self.required |= {
            k: text for k, text in settings.texts(config) if text.startswith((settings.BELOW, settings.NAMED))
        }
        self.runs.append({
            "label": label,
            "fingerprint": (notes.get("dataset") or {}).get("fingerprint"),
            "own": {packed_name(name): name for name in custom},
            "prompts": {packed_name(name): load(name).digest for name in inputs.prompts},
        })  # fmt: skip

    def _add_data(self, cfg: Mapping[str, Any], notes: Manifest, inputs: Inputs) -> dict[str, str]:
        """Add the dataset's files that may be passed on. Returns where in the bundle they are, by key."""
        found = settings.local_paths(cfg).items()
        named = {key: path for key, path in found if key.startswith("dataset.") and path.exists()}
        if not named:
            return {}
        allowed, why = may_include(notes, inputs.privacy, self.with_data, named)
        packed = {}
        for key, path in named.items() if allowed else ():
            root = path.absolute()
            files = sorted(one for one in inputs.files if one.is_relative_to(root))
            self.members |= {f"data/{key}/{one.relative_to(root.parent).as_posix()}": one for one in files}
            if files:
                packed[key] = f"data/{key}/{root.name}"
        self.notes.append(f"data: {', '.join(named)}: {why}")
        return packed


def pack(folders: Sequence[Path], target: Path, with_data: bool) -> list[str]:
    """Write a bundle of finished runs. Returns the lines to print. Raises ConfigError, and then writes nothing. Every
    run is replayed from its journal, to find the calls that it used and to check that it can be replayed.
    ``with_data``: trajectories of data that are not open may be included, and open data whatever their licence."""
    if target.suffix != ".zip":
        raise ConfigError(f"bundle {target}: a bundle is a zip file; name it {target.with_suffix('.zip')}")
    configs, contents = [renew(config_of(folder)) for folder in folders], _Contents(with_data)
    for folder, cfg in zip(folders, configs, strict=True):
        if not isinstance(cfg.get("run"), dict):
            raise ConfigError(f"{folder / CONFIG} is damaged: it is not the config of a run")
        if not is_complete(folder):
            how = setting("run.resume", folder)
            raise ConfigError(f"{folder} is not complete, or has errored samples: {how} resumes it")
        contents.permit(folder, (manifest.read(folder).get("dataset") or {}).get("privacy", "open"))
    stored = {str(path): path for folder in folders for pattern in _FILES for path in folder.glob(pattern)}
    refuse_keys(stored, configs)  # before they are run again, which would hide keys and so differ
    used = [inputs_of(folder, cfg) for folder, cfg in zip(folders, configs, strict=True)]
    for run in zip(labels_of(folders), folders, configs, used, strict=True):
        contents.add_run(*run)
    contents.members[archive.JOURNAL] = archive.journal_lines(contents.entries)
    head = {
        "name": configs[0]["name"],
        "runs": contents.runs,
        "git": manifest.git_state(),
        "versions": manifest.versions(),
        "asks_for": contents.required,
        "holds": "trajectories of data that are not open" if contents.closed else "open data",
    }
    refuse_keys(contents.members, configs)
    archive.write(target, head, contents.members)
    size = f"{len(folders)} run(s), {len(contents.entries):,} entries of the journal, prompts, records"
    closed = "            with trajectories of data that are not open: keep it where such data may be"
    return [
        f"bundle:     {target} ({target.stat().st_size:,} bytes)",
        f"holds:      {size}",
        *([closed] if contents.closed else []),
        *dict.fromkeys(contents.notes),
        *(f"asks for:   {key}, which was {text}" for key, text in sorted(contents.required.items())),
        f"replay:     python -m runner {setting('run.replay', target)}",
    ]


def labels_of(folders: Sequence[Path]) -> list[str]:
    """The names of the folders, numbered where two are the same or differ by case alone."""
    labels: dict[str, str] = {}
    for name in (folder.resolve().name for folder in folders):
        tries = (name, *(f"{name}-{n}" for n in range(2, len(folders) + 2)))
        label = next(label for label in tries if label.lower() not in labels)
        labels[label.lower()] = label
    return [*labels.values()]


def refuse_keys(members: Mapping[str, bytes | Path], configs: Sequence[Mapping[str, Any]]) -> None:
    """Raises ConfigError where a member contains the value of a secret variable, or of one that a config takes a key
    from, whatever it is called."""
    variables = {text for cfg in configs for key, text in settings.texts(cfg) if key.endswith(".api_key_env")}
    secrets = {name: value.encode() for name, value in secret_variables(variables).items()}
    for name, content in members.items() if secrets else ():
        text = content if isinstance(content, bytes) else content.read_bytes()
        text = gzip.decompress(text) if name.endswith(".gz") else text
        if variable := next((name for name, secret in secrets.items() if secret in text), None):
            raise ConfigError(f"{name} holds the value of {variable}: no bundle was made")


def is_custom(name: str) -> bool:
    """Whether a set is a folder of the user's own."""
    return (place := place_of(name)).parent.resolve() != HOME and place.is_dir()


def packed_name(name: str) -> str:
    """What a set is called in a bundle, below its prompts."""
    return f"own-{load(name).digest}" if is_custom(name) else name


def prompt_files(names: Sequence[str]) -> dict[str, bytes | Path]:
    """Member -> file of the sets and of what they include."""
    found: dict[str, bytes | Path] = {}
    unread: list[Path] = []
    for name in names:
        folder = place_of(name)
        unread += (paths := [*sorted(folder.glob("*.jinja")), *sorted(folder.glob("*.yaml"))])
        found |= {f"prompts/{packed_name(name)}/{path.name}": path for path in paths}
    while unread:
        for shared in _INCLUDED.findall(unread.pop().read_text(encoding="utf-8")):
            if f"prompts/{shared}" not in found and (HOME / shared).is_file():
                found[f"prompts/{shared}"] = HOME / shared
                unread.append(HOME / shared)
    return found
