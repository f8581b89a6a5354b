"""A small record database with the six actions over it, for agents and tools that work on health records."""

import atexit
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from components.acting.solved import Entry, SolvedQuestions
from components.core.messages import ToolSpec
from components.core.tools import Offer
from components.core.types import Observation, Problem, Sample, Trajectory
from components.ehr import actions as actions
from components.ehr.metadata import metadata
from components.ehr.toolset import EhrState
from components.grammars.bracket_json import BracketText
from components.models.scripted import Scripted
from tests.attempts import Attempt
from tests.components.ehr.ward import in_memory

TOOLS = (
    actions.LoadDB(), actions.FilterDB(), actions.GetValue(), actions.SQLInterpreter(), actions.Calendar(),
    actions.Calculate(),
)  # fmt: skip
TABLES = {
    "admissions": (
        ["SUBJECT_ID", "HADM_ID", "ADMITTIME", "DISCHTIME"],
        ["int", "int", "text", "text"],
        [
            [1, 11, "2104-01-02 10:00:00", "2104-01-05 10:00:00"],
            [1, 12, "2105-03-02 10:00:00", "2105-03-09 10:00:00"],
            [2, 13, "2105-12-30 10:00:00", None],
        ],
    ),
    "prescriptions": (
        ["HADM_ID", "DRUG", "DOSE"],
        ["int", "text", "float"],
        [[11, "aspirin", 81.0], [12, "heparin [5,000 units]", 2.5], [12, "aspirin", 100.0], [13, "insulin", None]],
    ),
}
QUESTION = Problem("q", "Which drugs were given in the last admission of patient 1?", context="never shown here")
PLAN = """Observation: none yet
LoadDB[admissions]
Observation: admissions: 3 rows.
FilterDB[SUBJECT_ID=2]
Observation: The current table is down to 1 row.
GetValue[HADM_ID]
Observation: 13
Finish[#3]"""
METADATA = ToolSpec("metadata", "")
SOLVED = Entry("mimic_iii-1", "mimic_iii", "In which admission was patient 2?", "- One table.", actions=PLAN, seed=True)
OTHER = Entry("eicu-1", "eicu", "Which drugs?", actions="Finish[none]", seed=True)


@cache
def database() -> Path:
    """The tables as a SQLite file."""
    folder = mkdtemp()
    atexit.register(rmtree, folder)
    file = Path(folder) / "small.sqlite"
    with sqlite3.connect(file) as connection:
        for name, (columns, _, rows) in TABLES.items():
            connection.execute(f"create table {name} ({', '.join(columns)})")
            connection.executemany(f"insert into {name} values ({', '.join('?' * len(columns))})", rows)
    connection.close()
    return file


def counting(n: int) -> str:
    """A statement that gives the numbers from 1 to n, a row each."""
    return f"with recursive c(i) as (select 1 union all select i + 1 from c where i < {n}) select i from c"


def no_code() -> Any:
    raise AssertionError("no code is run here")


def state(name: str = "mimic_iii") -> EhrState:
    """A fresh state over the small database."""
    return EhrState(metadata(name), database(), in_memory(TABLES), no_code)


@dataclass(frozen=True)
class Known:
    """The control ``metadata``."""

    spec: ToolSpec = METADATA
    effect: str = "pure"

    async def __call__(self, context: Any) -> Observation:
        facts = {"database": "mimic_iii", "overview": "Two tables.", "columns": "admissions: HADM_ID", "clock": "2105"}
        return Observation("Two tables.", facts)


@dataclass(frozen=True)
class Records(Attempt):
    """The desk: the actions, a memory with one solved question of this database and one of another."""

    held: Callable[[], EhrState] = state
    problem: Problem = QUESTION
    memory: Any = field(default_factory=lambda: SolvedQuestions("", (OTHER, SOLVED)))
    fields: Sequence[str] = ()

    def open(self, sample: Sample) -> Offer:
        tools = {tool.spec.name: tool for tool in TOOLS}
        return Offer(tools, self.held(), {"metadata": Known()}, {name: () for name in self.fields})


async def solving(agent: Any, replies: Any, desk: Records | None = None) -> tuple[Any, Scripted, Trajectory]:
    """Run an agent on the question and return its result."""
    episode, model, trajectory = (desk or Records()).episode(replies, BracketText(), agent)
    return await agent.solve(episode), model, trajectory
