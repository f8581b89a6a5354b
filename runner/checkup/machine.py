"""This machine: the interpreter and its libraries, disk, memory, processors, what holds code, what is optional."""

import importlib.util
import os
import shutil
import sys

from components.core.errors import ConfigError
from runner.checkup.line import BAD, LACKS, OK, Line, size, that

_LEAST_DISK = 1 << 30
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


def python() -> list[Line]:
    """The interpreter and the libraries that can change a result."""
    from runner.storage import manifest

    versions = dict(manifest.versions())
    lines = [that(sys.version_info >= (3, 11), "python", versions.pop("python"), "3.11 or newer is needed", BAD)]
    for name in manifest.LIBRARIES:
        lines.append(that(name in versions, name, versions.get(name, "not installed"), "make run installs it", BAD))
    return lines


def machine() -> list[Line]:
    """Disk, memory, processors."""
    free = shutil.disk_usage(".").free
    memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_AVPHYS_PAGES" in os.sysconf_names else 0
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return [
        that(free >= _LEAST_DISK, "disk", f"{size(free)} free here", "runs and journal are written below outputs/"),
        Line(OK, "memory", f"{size(memory)} free" if memory else "not known"),
        Line(OK, "processors", str(processors)),
    ]


def sandbox() -> list[Line]:
    """What holds code that models write, by the self-tests."""
    from components.sandbox import Sandbox

    try:
        told = Sandbox().report()
    except ConfigError as error:
        return [Line(LACKS, "tier", "none", str(error))]
    lines = [Line(OK, "tier", f"{told['tier']}, as user {told['uid']}")]
    return lines + [Line(LACKS, str(name), "refused", str(reason)) for name, reason in told["refused"].items()]


def extras() -> list[Line]:
    """What is optional, and how to get it."""
    lines = []
    for name, (module, what) in _EXTRAS.items():
        there = _installed(module)
        how = f"for {what}: pip install 'wardround[{name}]'"
        lines.append(that(there, name, "installed" if there else "not installed", how))
    return lines


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package above it
        return False
