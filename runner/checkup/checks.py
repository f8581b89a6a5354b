"""What ``runner.doctor`` checks; each check is a function that returns lines. Keys are named, never shown."""

from __future__ import annotations

import gzip
import importlib.util
import os
import re
import shutil
import socket
import sqlite3
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from components.core.errors import ConfigError

if TYPE_CHECKING:
    from runner.config.catalogue import Catalogue, Choice

OK, MISSING, BAD = "ok", "-", "BAD"
_MIN_DISK = 1 << 30
_JOURNAL_SECONDS = 2.0
_EXTRAS = {
    "joblib": ("hydra_plugins.hydra_joblib_launcher", "jobs of a sweep in several processes"),
    "submitit": ("hydra_plugins.hydra_submitit_launcher", "jobs of a sweep on Slurm"),
    "ray": ("ray", "jobs of a sweep on Ray"),
    "optuna": ("optuna", "sweeps that search"),
    "dicom": ("pydicom", "images in DICOM files"),
    "ratescore": ("RaTEScore", "a scorer of free text with models of its own"),
    "embedding": ("sentence_transformers", "pictures of records by sentence embeddings"),
    "datasets": ("datasets", "data sets in Arrow files"),
    "text": ("presidio_analyzer", "identifiers by Presidio, entities by spaCy, toxicity by a linear model"),
}
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_TIMEOUT_SECONDS = 1.0
_DATA = "CLINICAL_DATA_DIR"
_INTERPOLATION = f"${{oc.env:{_DATA}}}"
_PATH = re.compile(rf"['\"]({re.escape(_INTERPOLATION)}[^'\"]*)")  # of a printed choice


@dataclass(frozen=True)
class Line:
    """The result for one thing; ``hint`` says what to do."""

    mark: str
    name: str
    found: str
    hint: str = ""


def size(n: float) -> str:
    """Bytes with a unit."""
    from rich.filesize import decimal

    return decimal(int(n))


def line(ok: object, name: str, found: str, hint: str = "", otherwise: str = MISSING) -> Line:
    """A line; its hint is only for the case that something is missing."""
    return Line(OK, name, found) if ok else Line(otherwise, name, found, hint)


def _catalogue() -> Catalogue:
    """Imported where it is used: a library that it needs may be what is missing."""
    from runner.config.catalogue import Catalogue

    return Catalogue()


def python() -> list[Line]:
    """The interpreter and the libraries that can change a result."""
    from runner.storage import manifest

    versions = dict(manifest.versions())
    lines = [line(sys.version_info >= (3, 11), "python", versions.pop("python"), "3.11 or newer is needed", BAD)]
    for name in manifest.LIBRARIES:
        lines.append(line(name in versions, name, versions.get(name, "not installed"), "make run installs it", BAD))
    return lines


def machine() -> list[Line]:
    """Disk, memory, processors."""
    free = shutil.disk_usage(".").free
    memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_AVPHYS_PAGES" in os.sysconf_names else 0
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return [
        line(free >= _MIN_DISK, "disk", f"{size(free)} free here", "runs and journal are written below outputs/"),
        Line(OK, "memory", f"{size(memory)} free" if memory else "not known"),
        Line(OK, "processors", str(processors)),
    ]


def sandbox() -> list[Line]:
    """What isolates code that models write, by the self-tests."""
    from components.sandbox import Sandbox

    try:
        report = Sandbox().report()
    except ConfigError as error:
        return [Line(MISSING, "tier", "none", str(error))]
    refused = [Line(MISSING, str(name), "refused", str(reason)) for name, reason in report["refused"].items()]
    return [Line(OK, "tier", f"{report['tier']}, as user {report['uid']}"), *refused]


def extras() -> list[Line]:
    """Optional packages, and how to get them."""
    lines = []
    for name, (module, what) in _EXTRAS.items():
        try:
            installed = importlib.util.find_spec(module) is not None
        except ModuleNotFoundError:  # of the package above it
            installed = False
        found = "installed" if installed else "not installed"
        lines.append(line(installed, name, found, f"for {what}: pip install 'wardround[{name}]'"))
    return lines


def store() -> list[Line]:
    """MLflow's database of the default tracking, read only: whether it opens, its schema, its size."""
    path = Path(str(_catalogue().find("tracking", "mlflow").own["uri"]).removeprefix("sqlite:///"))
    if not path.exists():
        return [Line(MISSING, str(path), "not there yet", "the first tracked run makes it")]
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)) as database:
            (version,) = database.execute("select version_num from alembic_version").fetchone()
            (runs,) = database.execute("select count(*) from runs").fetchone()
    except (sqlite3.Error, TypeError) as error:
        return [Line(MISSING, str(path), f"does not open: {error}", "move it away; then runner.report track FOLDER")]
    return [Line(OK, str(path), f"schema {version}, {runs:,} runs, {size(path.stat().st_size)}", "make ui shows it")]


def journal() -> list[Line]:
    """The segments of the default journal, read only, and which are damaged, as far as two seconds go."""
    from runner.storage.journal_files import has_writer

    folder = Path(_catalogue().defaults["run"]["journal"])
    paths = sorted(folder.glob("[0-9]*.segment"), reverse=True)
    if not paths:
        return [Line(MISSING, str(folder), "not there yet", "the first run makes it")]
    end, n_read, n_live, damaged = time.monotonic() + _JOURNAL_SECONDS, 0, 0, list[str]()
    for path in paths:
        if time.monotonic() > end:
            break
        n_read += 1
        if has_writer(path):
            n_live += 1
            continue
        try:
            with gzip.open(path) as file:
                while file.read(1 << 20):
                    continue
        except (OSError, EOFError, zlib.error):  # its process was killed
            damaged.append(path.name)
    total = size(sum(path.stat().st_size for path in paths))
    found = f"{len(paths)} segments, {total}, {n_read} checked, {n_live} being written, {len(damaged)} damaged"
    hint = f"{', '.join(damaged[:3])}: whole entries count, the others are asked again"
    return [line(not damaged, str(folder), found, hint)]


def keys() -> list[Line]:
    """The variables that the choices of model read: whether they are set."""
    lines = []
    for model in _providers():
        named = dict.fromkeys([str(model.node.get("api_key_env") or ""), *_VARIABLE.findall(model.description)])
        for variable in (name for name in named if name.endswith(("_KEY", "_KEY_ID"))):
            optional, is_set = model.node.get("key_optional") is True, bool(os.environ.get(variable))
            hint = "" if optional else f"for model={model.name}: export {variable}=..."
            found = "set" if is_set else "not set, not needed" if optional else "not set"
            lines.append(line(is_set or optional, variable, found, hint))
    return lines


def endpoints(online: bool) -> list[Line]:
    """Whether the addresses in the choices of model answer; those of other machines only with ``online``."""
    lines = []
    for model in _providers():
        variables = [name for name in _VARIABLE.findall(model.description) if name.endswith("_BASE")]
        urls = [model.node.get("api_base"), *map(os.environ.get, variables)]
        lines += [_endpoint(f"model={model.name}", str(url), online) for url in urls if url]
    return lines


def _endpoint(name: str, url: str, online: bool) -> Line:
    """What is not an address is not shown: it may hold a password."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        return Line(MISSING, name, "its address is none", "https://HOST[:PORT]/... is one")
    if not online and host not in ("localhost", "127.0.0.1", "::1"):
        return Line(MISSING, name, f"{host}:{port} not tried", "--online tries it")
    try:
        socket.create_connection((host, port), timeout=_TIMEOUT_SECONDS).close()
        return line(True, name, f"{host}:{port} answers")
    except OSError:
        hint = f"start the server, or {name} model.api_base=http://HOST:PORT/v1"
        return Line(MISSING, name, f"{host}:{port} does not answer", hint)


def _providers() -> Iterator[Choice]:
    """The choices of model that dated models are based on, which have the same keys and addresses."""
    return (choice for name, choice in _catalogue().choices("model").items() if "/" not in name)


def data() -> list[Line]:
    """The folder of the data, and which choices of dataset have their files, with their class."""
    root = os.environ.get(_DATA, "")
    found = "is a folder" if (exists := os.path.isdir(root)) else "is not a folder" if root else "not set"
    hint = f"export {_DATA}=/path/to/your/data, for data that are not shipped"
    folder = line(exists, _DATA, found, hint)
    return [folder, *(_dataset(choice, root if exists else "") for choice in _catalogue().choices("dataset").values())]


def _dataset(choice: Choice, root: str) -> Line:
    node, privacy = choice.node, choice.node.get("privacy", "open")
    bases = [key for base in node.get("defaults", ()) if isinstance(base, Mapping) for key in base.items()]
    base = next((name for key, name in bases if str(key).startswith("/dataset@")), None)
    if base is not None:
        return line(True, choice.name, f"{privacy}; made of another, {base} if none is named")
    if node.get("path") in (None, "???"):
        shipped = node.get("shipped") or "shipped" in choice.description or "made by the project" in choice.description
        return line(shipped, choice.name, f"{privacy}; {'shipped' if shipped else 'no path'}", "dataset.path=...")
    paths = [path.replace(_INTERPOLATION, root) for path in _PATH.findall(str(node))]
    missing = [path.removeprefix(root) for path in paths if not root or not os.path.exists(path)]
    problem = f"no ${_DATA}{missing[0]}" if missing else _problem(_resolved(node, root))
    return line(not problem, choice.name, f"{privacy}; {problem or 'there'}", "or dataset.path=...")


def _resolved(node: Any, root: str) -> Any:
    """A choice with the folder of the data in it; what it takes from other groups is left out."""
    if isinstance(node, Mapping):
        resolved = {str(key): _resolved(value, root) for key, value in node.items() if key != "defaults"}
        return {key: value for key, value in resolved.items() if "${" not in str(value)}
    return node.replace(_INTERPOLATION, root) if isinstance(node, str) else node


def _problem(node: Mapping[str, Any]) -> str:
    """Why a dataset cannot be loaded; empty where its first sample can, or, if it computes a cache first, its split."""
    from components.core.protocols import Dataset
    from runner.config.build import part

    try:
        dataset = part(node, "dataset", (), Dataset)  # type: ignore[type-abstract]
        if dataset.splits and dataset.split not in dataset.splits:
            return f"no files of its split {dataset.split}"
        if "cache" not in node:
            next(iter(dataset.load(dataset.split)), None)
    except ConfigError as error:
        return str(error).partition("\n")[0]
    return ""
