"""A small database of a ward, and a context with a scripted model."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.messages import Message
from components.core.types import Problem
from components.files.attachments import SampleFiles

SCRIPT = """
CREATE TABLE patients(subject_id INT PRIMARY KEY, gender TEXT);
CREATE TABLE prescriptions(row_id INT, subject_id INT, drug TEXT, starttime TIMESTAMP(0),
    FOREIGN KEY(subject_id) REFERENCES patients(subject_id));
INSERT INTO patients VALUES (1, 'f'), (2, 'm');
INSERT INTO prescriptions VALUES (0, 1, 'heparin', '2100-12-30 08:00:00'), (1, 2, 'aspirin', '2100-01-01 08:00:00');
"""


def ward(folder: Path, name: str = "mimic_iv", script: str = SCRIPT) -> Path:
    """A folder with the database in it."""
    (folder / name).mkdir(parents=True)
    with closing(sqlite3.connect(folder / name / f"{name}.sqlite")) as made:
        made.executescript(script)
    return folder / name


@dataclass
class Speaking:
    """A context whose model gives these replies in turn."""

    state: Any = field(default_factory=SampleFiles)
    replies: list[str] = field(default_factory=list)
    problem: Problem = field(default_factory=lambda: Problem("p", "q"))
    asked: list[Sequence[Message]] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    samplings: list[Any] = field(default_factory=list)

    async def ask(self, messages: Sequence[Message], purpose: str = "tool", sampling: Any = None, role: str = "tool"):
        assert purpose == "tool"
        self.asked.append(messages)
        self.roles.append(role)
        self.samplings.append(sampling)
        return Message("assistant", self.replies.pop(0))
