"""A memory that grows while it is tested: samples one after the other, each with what was learnt before it.

The order is drawn from the run's seed. What a sample teaches stands in the remarks of its steps (``learnt``), so that a
resumed run knows it from the records; a repetition of the samples (epoch) learns from itself alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Protocol, runtime_checkable

from components.acting.solved import learnt_in
from components.core.types import Sample, Trajectory
from runner.episode.ending import before_judging
from runner.storage import records

ONE_BY_ONE = (
    "memory.update: the memory grows from question to question, so {} cannot part them; leave it out, "
    "or choose a memory that does not grow (memory.update=none)"
)
Place = tuple[str, int]


@runtime_checkable
class GrowingMemory(Protocol):
    """A memory that can take in what was learnt; ``grows``: whether it does."""

    @property
    def grows(self) -> bool: ...

    def hold(self, learnt: Iterable[Mapping[str, Any]]) -> None: ...


class Growth:
    """What the samples of a run have taught, by their places in its order."""

    def __init__(self, memory: GrowingMemory, samples: Sequence[Sample], seed: int, folder: Path) -> None:
        self.memory = memory
        self.samples = sorted(samples, key=lambda sample: sample.problem.id)
        Random(f"{seed}/memory/order").shuffle(self.samples)
        self._rank = {sample.problem.id: n for n, sample in enumerate(self.samples)}
        self._learnt: dict[Place, list[Mapping[str, Any]]] = {
            (record["sample_id"], record["epoch"]): _remarked(record["steps"]) for record in records.read(folder)
        }

    def before(self, sample: Sample, epoch: int) -> None:
        """The memory as it was before a sample."""
        rank = self._rank[sample.problem.id]
        earlier = [one for one in self.samples[:rank] if (one.problem.id, epoch) in self._learnt]
        self.memory.hold(entry for one in earlier for entry in self._learnt[one.problem.id, epoch])

    def after(self, sample: Sample, epoch: int, trajectory: Trajectory) -> None:
        """Keep what a sample taught, and note its place in the order."""
        self._learnt[sample.problem.id, epoch] = learnt_in(trajectory)
        if steps := before_judging(trajectory).steps:
            steps[-1].remarks["order"] = self._rank[sample.problem.id]


def _remarked(steps: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What stored steps say was learnt."""
    return [step["remarks"]["learnt"] for step in steps if "learnt" in step.get("remarks", {})]
