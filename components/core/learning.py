"""Protocols of stages: work that is done once, before an evaluation, on training samples."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from components.core import types as t
from components.core.protocols import Agent, Episode, Memory
from components.core.types import Sample

LEARNT = "tasks.json"  # of a memory for each task: task -> how many training samples were tried and solved
Solve = Callable[[Episode], Awaitable[t.Answer | t.Refusal | t.Failure]]


def task_of(sample: Sample) -> str:
    """The task that a sample belongs to; empty where its dataset has none."""
    return sample.strata.get("task", "")


class Practice(Protocol):
    """Opens episodes on training samples for a stage, without a verifier, and with no memory except the stage's own."""

    @property
    def agent(self) -> Agent: ...

    async def run_sample(self, sample: Sample, solve: Solve, memory: Memory | None = None) -> t.EpisodeResult:
        """One episode; ``memory`` is what it may look up."""


@runtime_checkable
class Stage(Protocol):
    """Done once, before an evaluation, on training samples; apart from scorers the only reader of targets."""

    async def run(self, practice: Practice, samples: Sequence[Sample]) -> Mapping[str, Any]:
        """The learnt files: relative name -> JSON value. Deterministic given the journal."""


@runtime_checkable
class Source(Protocol):
    """A memory as a config names it: the files of a folder, which ``stage`` makes on training samples. ``path`` names a
    folder or its digest, None: the one that this config makes. ``split`` None: the first that the source ``prefers``,
    else any that is not evaluated; ``samples``: at most so many, None = all."""

    @property
    def path(self) -> str | None: ...

    @property
    def needed(self) -> bool:
        """Whether anything of what a stage makes is shown."""

    @property
    def stage(self) -> Stage: ...

    @property
    def split(self) -> str | None: ...

    @property
    def prefers(self) -> Sequence[str]: ...

    @property
    def samples(self) -> int | None: ...

    def open(self, folder: Path | None, digest: str) -> Memory:
        """The memory with the learnt files; ``folder`` None: none were learnt. ``digest`` is that of the folder's
        files. Raises ConfigError."""


class StageContext(Protocol):
    """The inputs of a standalone stage: the parts of the config, recorded models, and the runner's tests."""

    @property
    def agent(self) -> Agent: ...

    @property
    def seed(self) -> int: ...

    @property
    def evaluated(self) -> Sequence[Sample]:
        """All samples of the split that is evaluated, not only the sampled part."""

    @property
    def samples(self) -> Iterable[Sample]:
        """All samples of all splits."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """For a manifest: when, by which command, with which models, data and versions."""

    @property
    def begun(self) -> str:
        """A digest of what must not change while a stage is resumed: all of the config that can change a reply."""

    def training(self, split: str | None) -> tuple[str, Sequence[Sample]]:
        """A split to learn from (None: ``train``, else any that is not evaluated), without the evaluated samples.
        Raises ConfigError when there is none."""

    def known(self, samples: Sequence[Sample]) -> list[str]:
        """Digests of what an agent may see of samples, by which a manifest records what was learnt from
        (``texts``); also of what the prompts of the config were made from."""

    def study(self, samples: Sequence[Sample]) -> None:
        """Give models with a private answer key that of these samples."""

    async def run_sample(self, sample: Sample, agent: Agent, epoch: int = 0) -> t.EpisodeResult:
        """An agent on a sample, as an evaluation would run it, but without memory. Raises ModelError."""

    async def talk(self, name: str, solve: Solve) -> t.Trajectory:
        """An episode that is about no sample, and offers nothing; ``name`` is its place in the journal. Raises
        ModelError; a limit of the sample's budget is in how the trajectory ends."""

    def gain(
        self, mine: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]], metric: str
    ) -> Mapping[str, Any]:
        """Mean paired gain of mine over theirs (positive is better) with interval, p values and won, tied and lost
        clusters. Both hold ``sample_id``, ``epoch``, ``cluster``, ``strata``, ``stop`` and ``scores``."""


@dataclass(frozen=True)
class Made:
    """The result of a standalone stage: its folder, ``lines`` that report it, whether it is ``empty``, so that it
    failed. ``figures``: name -> values, each with the step (a round) that it belongs to."""

    folder: Path
    lines: Sequence[str] = ()
    empty: bool = False
    figures: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)


@runtime_checkable
class StandaloneStage(Protocol):
    """A standalone stage, chosen as ``stage``: it creates a folder that people read and other runs name. Started again
    it resumes: its calls are in the journal, its finished work in its folder."""

    @property
    def place(self) -> Path:
        """Its folder."""

    def check(self, context: StageContext) -> None:
        """Whether it can be made, before anything is. Raises ConfigError."""

    async def make(self, context: StageContext) -> Made:
        """Make it, or resume. Raises ConfigError, ModelError, RunLimitReached."""
