"""What a stage learnt: solved tasks, found by BM25, and lessons on each tool.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657, §3.4 and §4.1 of docs/reflectool.md; files in the
layout of the published code. Departure: the task is searched once per episode, not at every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import orjson
from annotated_types import Ge

from components.bm25 import Bm25
from components.errors import ConfigError
from components.practice import Stage
from components.protocols import Memory
from components.task_text import Chain, chain_text
from components.types import Demonstration

SHIPPED = Path(__file__).parent / "fixed"


@dataclass(frozen=True)
class Learnt:
    """A memory by its config (a ``components.practice.Source``).

    ``long_term``: show the ``k`` nearest of at most ``max_items`` solved tasks (null = all), as solved after
    the reflection (``reflected``) or before it; without, the first ``k`` examples of the shipped set or folder
    ``fixed``, if any. ``experience``: show the lessons of ``step`` (null = the last).
    """

    stage: Stage
    path: str | None = None
    split: str | None = None
    samples: Annotated[int, Ge(1)] | None = 200
    long_term: bool = True
    reflected: bool = True
    experience: bool = True
    k: Annotated[int, Ge(0)] = 1
    max_items: Annotated[int, Ge(0)] | None = None
    step: Annotated[int, Ge(0)] | None = None
    fixed: str | None = None

    @property
    def prefers(self) -> Sequence[str]:
        """Learnt on what is meant for training."""
        return ("train",)

    @property
    def needed(self) -> bool:
        """Whether solved tasks or lessons are shown."""
        return (self.long_term and self.k > 0) or self.experience

    def open(self, folder: Path | None, digest: str) -> Memory:
        """Read what the switches show. Raises ConfigError for a folder that is no memory."""
        items: Sequence[Mapping[str, Any]] = ()
        if self.long_term and folder is not None and (folder / "long_term").is_dir():
            items = read_items(folder / "long_term")[: self.max_items]
        elif not self.long_term and self.fixed is not None:
            items = read_items(SHIPPED / self.fixed if (SHIPPED / self.fixed).is_dir() else Path(self.fixed))
            if not items:
                raise ConfigError(f"memory.fixed={self.fixed!r}: there is no example_1.json in it")
            digest = sha256(digest.encode() + orjson.dumps(items)).hexdigest()[:16]
        lessons = read_experience(folder / "experience", self.step) if self.experience and folder is not None else {}
        notes = _short(folder, self.step) if self.experience and folder is not None and self.step else ()
        return Recalled(digest, tuple(items), lessons, self.k, self.reflected, self.long_term, notes)


@dataclass(frozen=True)
class Recalled:
    """A memory that is only read (``components.protocols.Memory``); ``ranked``: the nearest, else the first."""

    digest: str
    items: Sequence[Mapping[str, Any]]
    lessons: Mapping[str, Sequence[str]]
    k: int
    reflected: bool
    ranked: bool = True
    notes: Sequence[str] = ()
    _found: dict[str, Sequence[Demonstration]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def texts(self) -> Sequence[str]:
        """What the solved tasks ask, so that none of it is evaluated."""
        return [str(item["contents"]) for item in self.items]

    def search(self, problem: str) -> Sequence[Demonstration]:
        """The ``k`` nearest solved tasks that share a term with this one."""
        if problem not in self._found:
            self._found[problem] = tuple(self._shown(item) for item in self._nearest(problem))
        return self._found[problem]

    def experience(self, tool: str) -> Sequence[str]:
        """The lessons on a tool."""
        return self.lessons.get(tool, ())

    def _nearest(self, problem: str) -> Sequence[Mapping[str, Any]]:
        if not self.ranked:
            return self.items[: self.k]
        return [self._by_id[hit.id] for hit in self._index.search(problem, self.k)] if self.k else ()

    def _shown(self, item: Mapping[str, Any]) -> Demonstration:
        return Demonstration(item["contents"], chain_text(chain_of(item, self.reflected)), {"id": item["id"]})

    @cached_property
    def _by_id(self) -> Mapping[str, Mapping[str, Any]]:
        return {item["id"]: item for item in self.items}

    @cached_property
    def _index(self) -> Bm25:
        return Bm25.over((item["id"], item["contents"]) for item in self.items)


def chain_of(item: Mapping[str, Any], reflected: bool) -> Chain:
    """The steps of an item: of its last attempt, or of the one before it without the reflection on it."""
    steps = item["act_obs"] if reflected else item["task"]["prev_act_obs"][-1]
    chain = [(str(did), str(saw)) for did, saw in steps]
    return chain[:-1] if not reflected and chain and chain[-1][0].startswith("Reflection") else chain


def read_items(folder: Path) -> list[Mapping[str, Any]]:
    """The items ``example_N.json`` in the order of N. Raises ConfigError."""
    if not folder.is_dir():
        raise ConfigError(f"memory: there is no folder {folder}; it should hold example_1.json and so on")
    items: list[Mapping[str, Any]] = []
    for path in sorted(folder.glob("example_*.json"), key=lambda path: _number(path)):
        item = _read(path)
        if not _is_item(item):
            raise ConfigError(f"{path}: an item of a memory has the texts id and contents, task, and pairs in act_obs")
        items.append(item)
    return items


def read_experience(folder: Path, step: int | None) -> Mapping[str, Sequence[str]]:
    """The lessons after ``step`` successes, or the last ones; none at step 0. Raises ConfigError."""
    snapshots = {_number(path): path for path in folder.glob("step-*.json")}
    if step == 0 or (step is None and not snapshots):
        return {}
    reached = [n for n in snapshots if step is None or n <= step]
    if not reached:
        raise ConfigError(f"memory.step={step}: {folder} begins with step {min(snapshots, default='none')}")
    found = _read(snapshots[max(reached)])
    if not isinstance(found, dict):
        raise ConfigError(f"{snapshots[max(reached)]}: must be an object, action -> list of texts")
    return found


def _short(folder: Path, step: int) -> Sequence[str]:
    """What to say where fewer successes were had than ``step``."""
    reached = max((_number(path) for path in (folder / "experience").glob("step-*.json")), default=0)
    return (f"memory.step={step}: there were {reached} successes to learn from",) if reached < step else ()


def _is_item(item: object) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("task"), dict):
        return False
    chains = [item.get("act_obs"), *(item["task"].get("prev_act_obs") or ())]
    pairs = [step for chain in chains if isinstance(chain, list) for step in chain]
    whole = all(isinstance(chain, list) for chain in chains)
    return whole and all(isinstance(item.get(key), str) for key in ("id", "contents")) and all(map(_is_pair, pairs))


def _is_pair(step: object) -> bool:
    return isinstance(step, list) and len(step) == 2


def _number(path: Path) -> int:
    digits = path.stem.replace("step-", "").replace("example_", "")
    if not digits.isdecimal():
        raise ConfigError(f"{path}: its name should end in a number")
    return int(digits)


def _read(path: Path) -> Any:
    try:
        return orjson.loads(path.read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON, perhaps cut off: {error}") from None
