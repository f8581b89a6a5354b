"""Long-term memory of solved questions: the demonstrations that every method begins with, and what an agent solved.

Source: Shi et al. 2024 (EHRAgent), arXiv 2401.07128; docs/papers/ehragent.md. The article stores what was solved
successfully while it is tested; read without gold, that is what the agent ended by itself, its last run without an
error (``update: executed``). The published code asks the gold answers of the questions under test (``update: gold``).
Departure: ``learn`` solves training questions before the evaluation, judged by their gold answers, which no baseline
gets.
"""

from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import orjson
from annotated_types import Ge

from components.acting.solved import (
    FILE,
    MEMORY,
    SEEDS,
    TASKS,
    TRAINED,
    Entry,
    FixedTasks,
    SolvedQuestions,
    Update,
    own_seeds,
    own_tasks,
)
from components.core.errors import ConfigError
from components.core.learning import Stage
from components.core.protocols import Memory
from components.core.traits import SourceTraits

_MARK = "the memory grew during the evaluation, by {how}: questions were asked one after the other"
_HOW = {
    "gold": "the gold answers of the questions asked",
    "executed": "what the agent itself had ended without an error",
}


@dataclass(frozen=True)
class Solved:
    """A memory by its config (a ``components.core.learning.Source``). It begins with the first ``shots`` demonstrations
    of ``prompts`` for each database, those that the baselines show. ``update``: see ``SolvedQuestions``. ``learn``:
    training questions are solved first, at most ``samples`` of ``split``, or ``path`` names a memory so made; it does
    not grow then. Raises ConfigError for settings without use."""

    prefers = ("train", "valid")

    stage: Stage
    path: str | None = None
    split: str | None = None
    samples: Annotated[int, Ge(1)] | None = None
    learn: bool = False
    update: Update = "none"
    shots: Annotated[int, Ge(0)] = 4
    prompts: str = "ehr_demonstrations"

    def __post_init__(self) -> None:
        if self.learn and self.grows:
            raise ConfigError(
                f"memory.learn=true with memory.update={self.update}: a memory grows, or solves training questions "
                f"first; for the latter choose memory={TRAINED}"
            )
        settings = {"path": self.path, "split": self.split, "samples": self.samples}
        if unused := next((name for name, value in settings.items() if value is not None and not self.learn), None):
            raise ConfigError(
                f"memory.{unused}={settings[unused]!r}: no training question is solved first; choose memory={TRAINED}"
            )
        if self.learn or not own_tasks(self.prompts):
            own_seeds(self.prompts, self.shots)

    @property
    def traits(self) -> SourceTraits:
        """What agents find in it: nothing but the demonstrations, for those that show no more, where none is added."""
        holds = (MEMORY,) if self.learn or self.grows else (MEMORY, SEEDS, TASKS)
        return SourceTraits(holds=holds, grows=self.grows)

    @property
    def grows(self) -> bool:
        """Whether questions have to be asked one after the other."""
        return self.update != "none"

    @property
    def needed(self) -> bool:
        """Whether training questions are to be solved first."""
        return self.learn

    def open(self, folder: Path | None, digest: str) -> Memory:
        """The demonstrations and the learnt entries. Raises ConfigError for a folder without it."""
        if not self.learn and (tasks := own_tasks(self.prompts)):
            return FixedTasks(tasks)
        seeds = own_seeds(self.prompts, self.shots)
        found: tuple[Entry, ...] = ()
        if folder is not None:
            try:
                found = tuple(Entry(**values) for values in orjson.loads((folder / FILE).read_bytes()))
            except FileNotFoundError:
                raise ConfigError(f"memory.path: {folder} holds no {FILE}; memory={TRAINED} makes it") from None
            except (ValueError, TypeError) as error:
                raise ConfigError(
                    f"{folder / FILE}: not a list of solved questions, perhaps cut off: {error}"
                ) from None
        whole = sha256(orjson.dumps([[asdict(one) for one in seeds], self.update])).hexdigest()[:16]
        notes = [_MARK.format(how=_HOW[self.update])] if self.grows else []
        if self.needed and not found:
            notes.append("solved questions: none was learnt; the project's own demonstrations are shown")
        return SolvedQuestions(whole if folder is None else digest, (*seeds, *found), self.update, tuple(notes))
