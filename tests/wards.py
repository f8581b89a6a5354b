"""A small hospital database in the form of EHRSQL's MIMIC-III, and agents that run on it with scripted replies."""

import atexit
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from components.acting.solved import Entry, SolvedQuestions
from components.core.plain import Accept
from components.core.types import Problem, Sample, Trajectory
from components.ehr.scorer import Ehr as EhrScorer
from components.ehr.toolset import Ehr
from components.grammars.code_block import CodeBlock
from components.models.scripted import Scripted
from components.sandbox import Limits, Sandbox
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from tests.parts import Intact

TABLES = """
create table patients (row_id integer primary key, subject_id integer, gender text, dob text, dod text);
insert into patients values (1, 11, 'f', '2040-01-01 00:00:00', null), (2, 12, 'm', '2050-05-05 00:00:00', null);
create table admissions (row_id integer primary key, subject_id integer, hadm_id integer, admittime text, age integer);
insert into admissions values (1, 11, 101, '2104-02-03 04:05:06', 64), (2, 11, 102, '2105-12-01 00:00:00', 65),
                              (3, 12, 103, '2105-06-07 08:09:10', 55);
create table d_labitems (row_id integer primary key, itemid integer, label text);
insert into d_labitems values (1, 900, 'sodium (terminate)');
"""
QUESTION = "how many admissions did patient 11 have?"
SEEDS = tuple(
    Entry(f"mimic_iii-{n}", "mimic_iii", f"{word} patients?", f"- {word}", f"answer = {n}", f"Finish[{n}]", f"select {n}", True)
    for n, word in enumerate(("first", "second", "third", "fourth", "fifth"), 1)
)  # fmt: skip
LEARNT = Entry(
    "learnt-0", "mimic_iii", "how many admissions did patient 12 have?", "- admissions", "answer = 12", "Finish[12]"
)
OTHER = Entry("learnt-1", "eicu", QUESTION, "- patient", "answer = 99", "Finish[99]")


@cache
def database() -> Path:
    """The file, made once."""
    folder = mkdtemp(prefix="wards-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder) / "mimic_iii.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(TABLES)
    return file


@cache
def sandbox() -> Sandbox:
    """The one in which all cells of the tests run."""
    return Sandbox(limits=Limits(wall_seconds=5.0))


def toolset(tools: Sequence[Any] = (), **changes: Any) -> Ehr:
    """The toolset over the small database."""
    folder = str(database().parent / "columns")
    return Ehr({tool.spec.name: tool for tool in tools}, sandbox(), folder, **changes)


def sample(answer: Sequence[str] | None = ("2",), may_abstain: bool = False) -> Sample:
    """The question."""
    facts = {"sql": "select count(*) from admissions where subject_id = 11", "sql_dialect": "mimic_iii"}
    target = {"answer": None if answer is None else list(answer)}
    metadata = {**facts, "may_abstain": may_abstain}
    return Sample(Problem("w1", QUESTION), target, metadata, files={"database": str(database())})


def memory(update: Any = "none") -> SolvedQuestions:
    """Five seeds, one nearer question, and one of another database."""
    return SolvedQuestions("m", (*SEEDS, LEARNT, OTHER), update)


@dataclass(frozen=True)
class Played:
    """An episode: its trajectory, its scores by name, and what the model was asked."""

    trajectory: Trajectory
    scores: dict[str, float | None]
    model: Scripted

    def asked(self, n: int) -> str:
        """The messages of the n-th call as one text."""
        return "\n".join(message.text for message in self.model.requests[n].messages)

    @property
    def purposes(self) -> list[str]:
        """The purposes of all requests, in order."""
        return [request.purpose for request in self.model.requests]

    @property
    def remarks(self) -> dict[str, Any]:
        """All remarks of the episode."""
        return {k: v for step in self.trajectory.steps for k, v in step.remarks.items()}


async def run_agent(
    agent: Any, replies: Any, grammar: Any = None, tools: Sequence[Any] = (), of: Sample | None = None,
    memory_: Any = None, **changes: Any,
) -> Played:  # fmt: skip
    """Run an agent to its end and score it. ``changes``: of the toolset."""
    model = Scripted(replies)
    door = Door({"main": model}, None, run_seed=0)
    parts = Parts(
        agent, Accept(), grammar or CodeBlock(), toolset(tools, **changes), Intact(), {"ehr": EhrScorer()},
        memory=memory_ or memory(),
    )  # fmt: skip
    trajectory, scores = await run_episode(parts, door, of or sample(), 0)
    assert trajectory.stop != "error", trajectory.error
    return Played(trajectory, {score.name: score.value for score in scores}, model)


def cell(code: str, *after: str) -> str:
    """A reply with one cell."""
    return "\n".join([f"```python\n{code}\n```", *after])
