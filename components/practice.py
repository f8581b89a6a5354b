"""The verbs of what is done once, before an evaluation, on training samples."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from components import types as t
from components.protocols import Agent, Episode, Memory
from components.types import Sample


class Practice(Protocol):
    """Opens episodes on training samples for a stage, without verifier and, but for what the stage gives, memory."""

    @property
    def agent(self) -> Agent: ...

    async def play(
        self, sample: Sample, solve: Callable[[Episode], Awaitable[t.Answer | t.Refusal | t.Failure]],
        memory: Memory | None = None,
    ) -> t.Played:  # fmt: skip
        """One episode; ``memory`` is what it may look up."""


@runtime_checkable
class Stage(Protocol):
    """Done once, before an evaluation, on training samples; beside scorers the only reader of targets."""

    async def run(self, practice: Practice, samples: Sequence[Sample]) -> Mapping[str, Any]:
        """The files of what was learnt: relative name -> JSON value. Deterministic given the journal."""


@runtime_checkable
class Source(Protocol):
    """A memory as a config names it: the files of a folder, which ``stage`` makes on training samples.

    ``path`` names a folder or its digest, None: the one that this config makes. ``split`` None: the
    first that the source ``prefers``, else any that is not evaluated; ``samples``: at most so many, None = all.
    """

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
        """What was learnt, as it is shown; ``digest`` is that of the folder's files. None: nothing was.

        Raises ConfigError.
        """
