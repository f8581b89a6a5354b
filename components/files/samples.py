"""Samples of question sets: lettered options read from rows, and what every sample of a task holds."""

from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from components.core.types import Problem, Sample
from components.files.attachments import Attached
from components.files.rows import Row

NO_RESULT = "If the database does not hold what is asked for, reply: No result."


def task_sample(
    task: str,
    dimension: str,
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
    """Make a sample of a task of ClinicalAgent Bench: its metadata hold the task, its strata task and dimension."""
    files = files or Attached()
    return Sample(
        Problem(name, question, dict(choices or {}), context, files.images, files.inputs),
        target=target,
        metadata={"task": task, **(metadata or {})},
        cluster=cluster,
        strata={"task": task, "dimension": dimension, **(strata or {})},
        files=files.files,
    )


def add_request(question: str, request: str) -> str:
    """Add a request, such as the form of the answer, to a question, on its own line."""
    return f"{question}\n{request}".strip()


def row_options(row: Row, most: int, least: int = 2) -> dict[str, str]:
    """Read the row's ``options``, an object letter -> text, A first and without a gap, none empty.

    Raises ConfigError.
    """
    options = row.named_texts("options")
    if not least <= len(options) <= most:
        counts = f"{least}" if least == most else f"{least} to {most}"
        raise row.error("options", f"must be {counts} options, found {len(options)}")
    if sorted(options) != list(ascii_uppercase[: len(options)]):
        raise row.error("options", f"must be lettered from A on, found {', '.join(options)}")
    if empty := [letter for letter in sorted(options) if not options[letter].strip()]:
        raise row.error("options", f"option {empty[0]} is empty")
    return {letter: options[letter] for letter in sorted(options)}


def row_letter(row: Row, key: str, options: Mapping[str, str]) -> str:
    """Read the letter of the right option. Raises ConfigError."""
    letter = row.text(key)
    if letter not in options:
        raise row.error(key, f"must be one of the options {', '.join(options)}, found {letter!r}")
    return letter


def explanation(row: Row, key: str) -> dict[str, str]:
    """Read ``explanation`` for a sample's metadata, where the row has such a text: for solved examples, never shown
    in a problem. Raises ConfigError."""
    text = row.optional_text(key)
    return {"explanation": text} if text else {}
