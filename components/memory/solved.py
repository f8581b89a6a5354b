"""Long-term memory of solved questions: the project's own, and those that an agent solved on training questions.

Source: Shi et al. 2024 (EHRAgent), arXiv 2401.07128; docs/ehragent.md. Departure: by default the memory is built
before the evaluation, on training questions; the published one takes in test questions, judged by their gold
answers, while it is tested (``update: gold``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, ClassVar

import orjson
from annotated_types import Ge

from components.demonstrations import FixedTasks, own_tasks
from components.errors import ConfigError
from components.practice import Stage
from components.protocols import Memory
from components.solved import FILE, MEMORY, SEEDS, TASKS, Entry, SolvedQuestions, Update, own_seeds

_MARK = "the memory grew while it was tested, by {how}: questions were asked one after the other"
_HOW = {"gold": "the gold answers of the questions asked", "executed": "what had run to its end"}


@dataclass(frozen=True)
class Solved:
    """A memory by its config (a ``components.practice.Source``).

    ``learn`` False: only the demonstrations of ``prompts``. ``update``: see ``SolvedQuestions``; a memory that
    grows begins with the demonstrations alone, as published.
    """

    holds: ClassVar[Sequence[str]] = (MEMORY, SEEDS, TASKS)

    stage: Stage
    path: str | None = None
    split: str | None = None
    samples: Annotated[int, Ge(1)] | None = 40
    learn: bool = True
    update: Update = "none"
    prompts: str = "ehr_demonstrations"

    @property
    def prefers(self) -> Sequence[str]:
        """What is made for learning first."""
        return ("train", "valid")

    @property
    def grows(self) -> bool:
        """Whether questions have to be asked one after the other."""
        return self.update != "none"

    @property
    def needed(self) -> bool:
        """Whether training questions are to be solved first."""
        return self.learn and not self.grows

    def open(self, folder: Path | None, digest: str) -> Memory:
        """The demonstrations, and what was learnt. Raises ConfigError for a folder without it."""
        if not self.learn and (tasks := own_tasks(self.prompts)):
            return FixedTasks(tasks)
        seeds = own_seeds(self.prompts)
        found = _read(folder / FILE) if folder is not None else ()
        whole = sha256(orjson.dumps([[asdict(one) for one in seeds], self.update])).hexdigest()[:16]
        notes = [_MARK.format(how=_HOW[self.update])] if self.grows else []
        if self.needed and not found:
            notes.append("solved questions: none was learnt; the project's own demonstrations are shown")
        return SolvedQuestions(whole if folder is None else digest, (*seeds, *found), self.update, tuple(notes))


def _read(path: Path) -> tuple[Entry, ...]:
    try:
        return tuple(Entry(**values) for values in orjson.loads(path.read_bytes()))
    except FileNotFoundError:
        raise ConfigError(f"memory.path: {path.parent} holds no {path.name}; memory=solved makes it") from None
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{path}: not a list of solved questions, perhaps cut off: {error}") from None
