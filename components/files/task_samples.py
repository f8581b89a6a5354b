"""Samples of the tasks of ClinicalAgent Bench: what all loaders put into them, whatever layout they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.cab.tasks import TASKS
from components.core.errors import ConfigError
from components.core.messages import Image
from components.core.types import Problem, Sample
from components.files.image_files import image_of

NO_RESULT = "If the database does not hold what is asked for, reply: No result."
DIALECTS = ("mimic_iv", "mimic_iii", "eicu")


@dataclass(frozen=True)
class Attached:
    """What a sample has beside its text: ``inputs`` kind -> name, the images in that order, ``files`` name -> path."""

    inputs: Mapping[str, str] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def attached(
    images: Sequence[Path] = (), database: Path | None = None, documents: Path | None = None, folder: str = ""
) -> Attached:
    """Attach files under short names: images by file name, a database by its stem, documents as ``folder`` or by
    their folder's name.

    A name that is taken gets a number in front. Raises ConfigError for an image that cannot be read.
    """
    kinds = [("image" if n == 1 else f"image_{n}", path, path.name) for n, path in enumerate(images, 1)]
    kinds += [("sql_database", database, database.stem)] if database is not None else []
    kinds += [("upload_files", documents, folder or documents.name)] if documents is not None else []
    inputs: dict[str, str] = {}
    files: dict[str, str] = {}
    for number, (kind, path, name) in enumerate(kinds, 1):
        inputs[kind] = name = f"{number}_{name}" if name in files else name
        files[name] = str(path.resolve())
    return Attached(inputs, tuple(image_of(path) for path in images), files)


def cab_sample(
    task: str,
    name: str,
    question: str,
    target: Any,
    *,
    choices: Mapping[str, str] | None = None,
    context: str = "",
    files: Attached | None = None,
    metadata: Mapping[str, Any] | None = None,
    strata: Mapping[str, str] | None = None,
    cluster: str | None = None,
) -> Sample:
    """A sample of a task, with the task's id in its metadata and task and dimension as strata."""
    files = files or Attached()
    return Sample(
        Problem(name, question, dict(choices or {}), context, files.images, files.inputs),
        target=target,
        metadata={"task": task, **(metadata or {})},
        cluster=cluster,
        strata={"task": task, "dimension": TASKS[task].dimension, **(strata or {})},
        files=files.files,
    )


def asked(question: str, ask: str) -> str:
    """A question with what is added to every one, on a line of its own."""
    return f"{question}\n{ask}".strip()


def check_split(title: str, split: str, splits: Sequence[str]) -> None:
    """Raise ConfigError when there is no such split."""
    if split not in splits:
        raise ConfigError(f"dataset.split: {title} has {', '.join(splits) or 'no split here'}; found {split!r}")
