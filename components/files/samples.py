"""Samples of question sets: lettered options read from rows, what every sample of a task holds, and seeded draws."""

from collections.abc import Mapping, Sequence
from random import Random
from string import ascii_uppercase
from typing import Any, TypeVar

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
    """Read the row's ``options``: letter -> text, from A on without a gap, none empty. Raises ConfigError."""
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


T = TypeVar("T")


def draw(items: Sequence[T], n: int | None, seed: str) -> list[T]:
    """Choose ``n`` of the items (all, where there are no more, or ``n`` is None)."""
    if n is None or n >= len(items):
        return list(items)
    return [items[i] for i in sorted(Random(seed).sample(range(len(items)), n))]


def draw_split(items: Sequence[T], n: int | None, seed: str, split: str) -> list[T]:
    """Choose ``n`` of the items for the split test; for any other one as many of the rest."""
    chosen = draw(range(len(items)), n, seed)
    if split != "test":
        taken = set(chosen)
        chosen = draw([i for i in range(len(items)) if i not in taken], n, f"{seed}/{split}")
    return [items[i] for i in chosen]


def draw_in_proportion(groups: Mapping[str, Sequence[T]], n: int | None, seed: str) -> dict[str, list[T]]:
    """Choose ``n`` items in all, from each group its share (largest remainders, ties in the groups' order)."""
    total = sum(len(group) for group in groups.values())
    if n is None or n >= total:
        return {name: list(group) for name, group in groups.items()}
    shares = {name: divmod(n * len(group), total) for name, group in groups.items()}
    counts = {name: whole for name, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda name: -shares[name][1])
    for name in by_remainder[: n - sum(counts.values())]:
        counts[name] += 1
    return {name: draw(group, counts[name], f"{seed}/{name}") for name, group in groups.items()}
