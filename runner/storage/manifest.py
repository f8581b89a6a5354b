"""The manifest of a run: versions, data, prompts, prices, decisions, how it ended."""

import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from components.core.errors import ConfigError
from components.core.installed import version_of
from components.core.redaction import HIDDEN, redact
from components.core.usage import sum_of
from runner.storage import disk
from runner.storage.forms import misfit
from runner.storage.schema import Git, LearntManifest, Manifest, Spent

FILE = "manifest.json"
SCHEMA = 1
_SAME = (
    "shard", "limit", "prompts", "scorers", "identities", "servers", "dataset.fingerprint", "dataset.split",
    "dataset.ids",
)  # fmt: skip
_BEGUN = {
    "name", "choices", "dataset", "status", "varied", "seed", "epochs", "model_kind", "command", "notes",
}  # fmt: skip
_WITHIN = {
    "dataset": {"name", "split", "samples", "fingerprint"}, "counts": {"finished", "wanted", "errored"},
    "sandbox": {"tier"},
}  # fmt: skip
LIBRARIES = (
    "wardround", "aiohttp", "hydra-core", "litellm", "mlflow", "numpy", "omegaconf", "orjson", "pandas",
    "pydantic", "python-Levenshtein", "rapidfuzz", "sacrebleu",
)  # fmt: skip


def begin(folder: Path, facts: Manifest, config: str = "") -> Manifest:
    """Start or resume a folder's manifest, whose id stays, and write it. ``config``: what config.yaml will hold."""
    old = read(folder)
    manifest: Manifest = {
        "schema": SCHEMA,
        "id": old.get("id") or uuid.uuid4().hex,
        "status": "running",
        **facts,
        "memory": old.get("memory"),
        "config": [*(old.get("config") or [])[-1:], digest(config.encode())],
        "git": git_state(),
        "versions": versions(),
        "command": command_line(),
        "start": old.get("start") or now(),
        "end": None,
        "resumed": [*old.get("resumed", []), now()] if old else [],
        "sessions": old.get("sessions", []),
        "mlflow": old.get("mlflow"),
    }
    write(folder, manifest)
    return manifest


def digest(config: bytes) -> str:
    """The digest by which a manifest identifies a ``config.yaml``."""
    return hashlib.sha256(config).hexdigest()


def refuse_others(folder: Path, facts: Manifest) -> None:
    """Raises ConfigError, naming the difference, when a folder was started with other prompts, data, scorers, models or
    another part of the samples, whose content the config does not show."""
    old = read(folder)
    if not old.get("prompts") and not old.get("dataset"):
        return
    data = [{f"dataset.{key}": value for key, value in (one.get("dataset") or {}).items()} for one in (old, facts)]
    before, after = {**old, **data[0]}, {**facts, **data[1]}
    for name in _SAME:
        if (was := before.get(name)) != (now := after.get(name)):
            raise ConfigError(f"{folder} was started with another value of {name}: it was {was}, now it is {now}")


def read(folder: Path) -> Manifest:
    """The manifest of a run folder; empty when there is none. Raises ConfigError for a damaged one."""
    return cast(Manifest, _read(folder, Manifest))


def read_begun(folder: Path) -> Manifest:
    """The manifest of a started run. Raises ConfigError, with the missing fields, for a damaged or missing one."""
    found = read(folder)
    missing = _BEGUN - found.keys()
    for part, names in _WITHIN.items():
        there: Any = found.get(part) or names
        missing |= {f"{part}.{name}" for name in names.difference(there)}
    if missing:
        raise ConfigError(f"{folder / FILE} is not the manifest of a run: it lacks {', '.join(sorted(missing))}")
    return found


def read_learnt(folder: Path) -> LearntManifest:
    """The manifest of a memory or prompt set; empty when there is none. Raises ConfigError for a damaged one."""
    return cast(LearntManifest, _read(folder, dict))


def _read(folder: Path, form: type) -> Any:
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        problem = misfit(found, form)
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as error:
        problem = str(error)
    if problem:
        raise ConfigError(f"{path} is damaged ({problem}), so its run cannot be identified")
    return found


def swept_of(notes: Mapping[str, Any]) -> dict[str, Any]:
    """What the run's sweep varied: dotted key and value; empty for a run of no sweep."""
    names, varied = notes.get("swept") or (), notes.get("varied") or {}
    return {key: value for key, value in varied.items() if is_one_of(key, names)}


def is_one_of(key: str, names: Collection[str]) -> bool:
    """Whether a dotted key is one of these, which may be last parts of keys."""
    return key in names or key.rpartition(".")[2] in names


def write(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Replace the manifest in one move."""
    folder.mkdir(parents=True, exist_ok=True)
    disk.replace(folder / FILE, json.dumps(manifest, indent=1, ensure_ascii=False, default=str) + "\n")


def spent(parts: Sequence[Spent]) -> Spent:
    """The sum of sessions or shards; None for what one of them does not know."""
    return {
        "usd": sum_of([part["usd"] for part in parts], 0),
        "input_tokens": sum_of([part["input_tokens"] for part in parts], 0),
        "output_tokens": sum_of([part["output_tokens"] for part in parts], 0),
    }


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def command_line(resume: str = "") -> str:
    """The command as it was given, without the interpreter's path and without secrets. With ``resume``, such as
    ``run.resume=FOLDER``, the one that continues the run: a program that is not on the PATH keeps its folder, and
    secrets are read from variables."""
    name, key = Path(sys.argv[0]).name, resume.partition("=")[0]
    kept = [word for word in sys.argv[1:] if not resume or not word.startswith((f"{key}=", "hydra.run.dir="))]
    words = [*map(shell_word, kept), shlex.quote(resume)] if resume else [shlex.quote(_hidden(word)) for word in kept]
    _, ours, below = ".".join(Path(sys.argv[0]).with_suffix("").parts).rpartition("runner")
    module = f"{ours}{below.removesuffix('.__main__')}" if ours and name.endswith(".py") else ""
    program, path = ("python", sys.executable) if module else (name, sys.argv[0])
    if resume and os.path.abspath(shutil.which(program) or "") != os.path.abspath(path):
        program = shlex.quote(path)
    return " ".join([f"{program} -m {module}" if module else program, *words])


def shell_word(word: str) -> str:
    """A word of a command line for a POSIX shell. In place of a value with a secret is a variable, named after its key,
    and what the shell reports where it is not set."""
    key, equals, value = (hidden := _hidden(word)).partition("=")
    if not equals or HIDDEN not in value:
        return shlex.quote(hidden)
    variable = "WARDROUND_" + re.sub(r"[^A-Z0-9_]", "_", key.lstrip("+~").upper())
    return f'{shlex.quote(key)}="${{{variable}:?set it to the value that is not shown here}}"'


def _hidden(word: str) -> str:
    """A word of a command line without secrets, which keeps the key of a setting."""
    key, equals, _ = word.partition("=")
    hidden = redact(word)
    return hidden if hidden.startswith(key + equals) or redact(key) != key else f"{key}={HIDDEN}"


@functools.cache
def versions() -> dict[str, str]:
    """Installed versions of what can change a result; a process keeps what it has imported."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    return found | {name: version for name in LIBRARIES if (version := version_of(name)) is not None}


@functools.cache
def git_state() -> Git:
    """Commit and dirtiness of the checkout that this process imported its code from; None outside of one."""
    home = Path(__file__).resolve().parents[2]
    if not (home / ".git").exists():
        return {"commit": None, "dirty": None}
    command = ["git", "-C", str(home), "status", "--porcelain=v2", "--branch", "-uno"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"})
    except OSError:
        return {"commit": None, "dirty": None}
    commit = re.search("^# branch.oid ([0-9a-f]+)$", done.stdout, re.MULTILINE)
    dirty = any(not line.startswith("#") for line in done.stdout.splitlines())
    return {"commit": commit[1], "dirty": dirty} if commit else {"commit": None, "dirty": None}
