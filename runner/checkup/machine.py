"""What this machine has: Python, processors, disk, sandbox, extras, store and journal."""

import gzip
import importlib.util
import os
import shutil
import sqlite3
import sys
import time
import zlib
from contextlib import closing
from pathlib import Path

from components.core.errors import ConfigError
from runner.checkup.checks import BAD, MISSING, OK, Line, catalogue, line, size

_MIN_DISK = 1 << 30

_JOURNAL_SECONDS = 2.0

_EXTRAS = {
    "joblib": ("hydra_plugins.hydra_joblib_launcher", "jobs of a sweep in several processes"),
    "submitit": ("hydra_plugins.hydra_submitit_launcher", "jobs of a sweep on Slurm"),
    "ray": ("ray", "jobs of a sweep on Ray"),
    "optuna": ("optuna", "sweeps that search"),
    "dicom": ("pydicom", "images in DICOM files"),
    "mcp": ("mcp", "tools of MCP servers, and toolsets as MCP servers"),
    "ratescore": ("RaTEScore", "a scorer of free text with models of its own"),
    "embedding": ("sentence_transformers", "pictures of records by sentence embeddings"),
    "datasets": ("datasets", "data sets in Arrow files"),
    "text": ("presidio_analyzer", "identifiers by Presidio, entities by spaCy, toxicity by a linear model"),
}


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
    path = Path(str(catalogue().find("tracking", "mlflow").own["uri"]).removeprefix("sqlite:///"))
    if not path.exists():
        return [Line(MISSING, str(path), "not there yet", "the first tracked run creates it")]
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

    folder = Path(catalogue().defaults["run"]["journal"])
    paths = sorted(folder.glob("[0-9]*.segment"), reverse=True)
    if not paths:
        return [Line(MISSING, str(folder), "not there yet", "the first run creates it")]
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
    hint = f"{', '.join(damaged[:3])}: complete entries are used, the other calls are sent again"
    return [line(not damaged, str(folder), found, hint)]
