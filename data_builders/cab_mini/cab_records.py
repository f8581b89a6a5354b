"""What the builders of cab_mini's file tasks share: the form of a record and of its options.

Layout as ClinicalAgent Bench: a JSON array per phase and task, paths relative to the folder cab_mini.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.text.structured import read_yaml
from data_builders.shipped import COMPONENTS

HERE = Path(__file__).parent
SHIPPED = COMPONENTS / "cab" / "datasets" / "cab_mini"
SIZES = {"test": 16, "train": 12}
LETTERS = "ABCDEF"
Record = dict[str, Any]


@dataclass(frozen=True)
class Built:
    """What one builder made: records by task and phase (without ids), and files by path."""

    tasks: dict[str, dict[str, list[Record]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


def table_of(name: str) -> Any:
    """One table of this folder."""
    return read_yaml(HERE / name)


def record(lines: Sequence[str], evaluation: Mapping[str, Any], **paths: str) -> Record:
    """One record. ``lines``: the instruction, whose first line names this record and no other."""
    return {"instruction": "\n".join(lines), "inputs": None, "eval": dict(evaluation), **paths}


def choice(question: str, options: Sequence[str], gold: str, note: Mapping[str, str], **paths: str) -> Record:
    """One choice record: the question, then one option per line as letter, full stop, text.

    Args:
        question: The first line.
        options: Texts in the order of their letters; all different.
        gold: The right one of them.
        note: More keys of the eval block, which scorers do not read.
        paths: Files and folders that the record names.
    """
    lines = [f"{letter}. {text}" for letter, text in zip(LETTERS, options, strict=False)]
    letter = LETTERS[list(options).index(gold)]
    return record([question, *lines], {"answer": gold, "answer_idx": letter, **note}, **paths)


def shuffled(options: Sequence[str], seed: str) -> list[str]:
    """The options in an order that depends on the seed only."""
    return random.Random(seed).sample(list(options), len(options))
