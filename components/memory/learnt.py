"""What a stage learnt: solved tasks, found by BM25, and lessons on each tool.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657, §3.4 and §4.1 of docs/papers/reflectool.md; files in the
layout of the published code. Departure: the task is searched once per episode, not at every step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote

import orjson
from annotated_types import Ge

from components.acting.solved import TASKS, SolvedQuestions, own_seeds, own_tasks, solved_task
from components.core.errors import ConfigError
from components.core.learning import LEARNT, Stage
from components.core.protocols import Memory
from components.core.task_text import Chain
from components.core.traits import MemoryTraits, SourceTraits
from components.core.types import Demonstration
from components.files.rows import read_json
from components.text.bm25 import Bm25


@dataclass(frozen=True)
class Learnt:
    """A memory by its config (a ``components.core.learning.Source``).

    ``per`` task: one memory for each task (the stratum ``task`` of a sample), of at most ``samples`` training samples
    each; all: one for all of them. ``long_term``: show the nearest of at most ``max_items`` solved tasks (null = all),
    as solved after the reflection (``reflected``) or before it; without any, the demonstrations of the prompt set
    ``prompts`` are shown. ``experience``: show the lessons of ``step`` (null = the last).
    """

    prefers = ("train",)

    stage: Stage
    path: str | None = None
    split: str | None = None
    samples: Annotated[int, Ge(1)] | None = 200
    per: Literal["task", "all"] = "task"
    long_term: bool = True
    reflected: bool = True
    experience: bool = True
    max_items: Annotated[int, Ge(0)] | None = None
    step: Annotated[int, Ge(0)] | None = None
    prompts: str | None = None

    @property
    def traits(self) -> SourceTraits:
        """It holds solved tasks, and lessons on tools where ``experience`` is set."""
        return SourceTraits(holds=(TASKS,), per_task=self.per == "task", teaches=self.experience)

    @property
    def needed(self) -> bool:
        """Whether solved tasks or lessons are shown."""
        return self.long_term or self.experience

    def open(self, folder: Path | None, digest: str) -> Memory:
        """Read what the switches show. Raises ConfigError for a folder that is not a memory."""
        fixed: Sequence[Demonstration] = ()
        if self.prompts is not None:  # solved tasks, else solved questions of databases
            fixed = own_tasks(self.prompts) or SolvedQuestions("", own_seeds(self.prompts)).search("")
        if not self.long_term and fixed:
            shown = orjson.dumps([[one.problem, one.solution] for one in fixed])
            digest = sha256(digest.encode() + shown).hexdigest()[:16]
        whole = self._read(folder, digest, fixed)
        places = {} if folder is None else {unquote(one.name): one for one in sorted(folder.glob("tasks/*/"))}
        if places and self.per == "all":
            raise ConfigError(f"memory.per=all: {folder} holds a memory for each task; choose memory.per=task")
        return replace(whole, tasks={task: self._read(place, digest, fixed) for task, place in places.items()},
                       notes=self._notes(folder, places))  # fmt: skip

    def _read(self, folder: Path | None, digest: str, fixed: Sequence[Demonstration]) -> "LearntMemory":
        """What a folder holds: solved tasks, and the lessons after ``step`` successes, or the last ones."""
        items, lessons = list[Mapping[str, Any]](), dict[str, Sequence[str]]()
        if folder is not None:
            for path in sorted((folder / "long_term").glob("example_*.json"), key=_number):
                items.append(read_json(path))
                if not _is_item(items[-1]):
                    fields = "the texts id and contents, task, and pairs in act_obs"
                    raise ConfigError(f"{path}: an item of a memory has {fields}")
            home = folder / "experience"
            snapshots = {_number(path): path for path in home.glob("step-*.json") if self.experience and self.step != 0}
            if snapshots:
                reached = [n for n in snapshots if self.step is None or n <= self.step]
                if not reached:
                    raise ConfigError(f"memory.step={self.step}: {home} begins with step {min(snapshots)}")
                lessons = read_json(snapshots[max(reached)])
                if not isinstance(lessons, dict):
                    raise ConfigError(f"{snapshots[max(reached)]}: must be an object, action -> list of texts")
        shown = items[: self.max_items] if self.long_term else ()
        return LearntMemory(digest, tuple(shown), lessons, self.reflected, fixed)

    def _notes(self, folder: Path | None, places: Mapping[str, Path]) -> Sequence[str]:
        """How much was learnt for each task, and where that was less than ``step``. Raises ConfigError."""
        if folder is None:
            return ()
        tried = read_json(folder / LEARNT) if (folder / LEARNT).is_file() else {}
        rows = tried.values() if isinstance(tried, dict) else [None]
        if not all(isinstance(row, dict) and {"tried", "solved"} <= row.keys() for row in rows):
            raise ConfigError(f"{folder / LEARNT}: should hold, for each task, the numbers tried and solved")
        counts = ", ".join(f"{task} {n['solved']} of {n['tried']}" for task, n in tried.items())
        notes = [f"training samples solved and kept, for each task: {counts}"] if counts else []
        if self.experience and self.step:
            files = {
                task: (place / "experience").glob("step-*.json") for task, place in (places or {"": folder}).items()
            }
            reached = {task: max(map(_number, found), default=0) for task, found in files.items()}
            short = [f"{n}{f' for {task}' if task else ''}" for task, n in reached.items() if n < self.step]
            if short:
                notes.append(f"memory.step={self.step}: there were fewer successes to learn from: {', '.join(short)}")
        return notes


@dataclass(frozen=True)
class LearntMemory:
    """A memory that is only read (``components.core.protocols.Memory``): the nearest solved tasks, else the ``fixed``
    demonstrations. ``tasks``: task -> the entries learnt for it alone."""

    digest: str
    items: Sequence[Mapping[str, Any]]
    lessons: Mapping[str, Sequence[str]]
    reflected: bool
    fixed: Sequence[Demonstration] = ()
    tasks: "Mapping[str, LearntMemory]" = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def traits(self) -> MemoryTraits:
        """Its notes and parts, and what the solved tasks ask, so that none of it is evaluated."""
        return MemoryTraits(notes=self.notes, texts=self.texts, tasks=self.tasks)

    @property
    def texts(self) -> Sequence[str]:
        """What the solved tasks ask."""
        return [*(str(item["contents"]) for item in self.items), *(t for one in self.tasks.values() for t in one.texts)]

    def search(self, problem: str) -> Sequence[Demonstration]:
        """The solved tasks that share a term with this one, the nearest first; without any the fixed ones."""
        hits = self._index.search(problem, len(self.items)) if self.items else ()
        return [self._shown[hit.id] for hit in hits] or self.fixed

    def experience(self, tool: str) -> Sequence[str]:
        """The lessons on a tool."""
        return self.lessons.get(tool, ())

    @cached_property
    def _shown(self) -> Mapping[str, Demonstration]:
        return {one["id"]: solved_task(one["contents"], chain_of(one, self.reflected), id=one["id"])
                for one in self.items}  # fmt: skip

    @cached_property
    def _index(self) -> Bm25:
        return Bm25.over((item["id"], item["contents"]) for item in self.items)


def chain_of(item: Mapping[str, Any], reflected: bool) -> Chain:
    """The steps of an item: of its last attempt, or of the one before it without the reflection on it."""
    steps = item["act_obs"] if reflected else item["task"]["prev_act_obs"][-1]
    chain = [(str(did), str(saw)) for did, saw in steps]
    return chain[:-1] if not reflected and chain and chain[-1][0].startswith("Reflection") else chain


def _is_item(item: object) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("task"), dict):
        return False
    chains = [item.get("act_obs"), *(item["task"].get("prev_act_obs") or ())]
    pairs = [step for chain in chains if isinstance(chain, list) for step in chain]
    return (
        all(isinstance(chain, list) for chain in chains)
        and all(isinstance(item.get(key), str) for key in ("id", "contents"))
        and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    )


def _number(path: Path) -> int:
    digits = path.stem.replace("step-", "").replace("example_", "")
    if not digits.isdecimal():
        raise ConfigError(f"{path}: its name should end in a number")
    return int(digits)
