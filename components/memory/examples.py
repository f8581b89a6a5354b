"""Few-shot demonstrations as a memory: examples of the training split, or the project's own.

Source: docs/papers/medagents.md §2 (Tang et al. 2024, arXiv 2311.10537). Departure: where there is no training split,
or no rationale for what is in it, the project's own examples are shown, and that is said.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, ClassVar

import orjson
from annotated_types import Ge

from components.acting.examples import FILE, Example, as_examples, kind, own_examples
from components.core.errors import ConfigError
from components.core.learning import Stage
from components.core.protocols import Memory
from components.core.task_text import task_text
from components.core.traits import MemoryTraits, SourceTraits
from components.core.types import Demonstration
from components.files.rows import read_json
from components.text.bm25 import Bm25


@dataclass(frozen=True)
class Examples:
    """A memory by its config (a ``components.core.learning.Source``). ``reason``: only what has a rationale is shown.
    ``prompts``: the prompt set that holds the project's own examples."""

    traits: ClassVar[SourceTraits] = SourceTraits(holds=("examples",))
    prefers = ("train5", "dev", "train", "pool")  # made for demonstrations first; a pool is cut from what is evaluated
    needed = True  # an agent that asks for examples shows some

    stage: Stage
    path: str | None = None
    split: str | None = None
    samples: Annotated[int, Ge(1)] | None = None
    reason: bool = False
    prompts: str = "few_shot"

    def open(self, folder: Path | None, digest: str) -> Memory:
        """The examples that can be shown. Raises ConfigError for a folder that holds none of them."""
        found: tuple[Example, ...] = ()
        own = tuple(one for one in own_examples(self.prompts) if one.rationale or not self.reason)
        why = "no training split"
        if folder is None:
            digest = sha256(orjson.dumps([asdict(one) for one in own])).hexdigest()[:16]
        else:
            try:
                found = as_examples(read_json(folder / FILE), str(folder / FILE))
            except FileNotFoundError:
                raise ConfigError(f"memory.path: {folder} holds no {FILE}; memory=examples makes it") from None
            why = "" if found else "no training sample can be shown as a text"
        shown = tuple(one for one in found if one.rationale or not self.reason)
        if lacking := sorted({kind(one) for one in found} - {kind(one) for one in shown}):
            why = f"no rationale in the training split for questions with {', '.join(lacking)}"
        notes = [f"few-shot examples: {why}; the project's own are shown"] if why else []
        n, counts = getattr(self.stage, "n", 0), Counter((one.task, len(one.choices)) for one in shown)
        few = [f"{count} of {n} for {task or 'its questions'}" for (task, _), count in counts.items() if count < n]
        if few:
            notes.append(f"few-shot examples: only {', '.join(few)} can be shown")
        return ExampleMemory(digest, shown, own, tuple(notes))


@dataclass(frozen=True)
class ExampleMemory:
    """A memory that is only read (``components.core.protocols.Memory``); ``own`` are shown where no example fits."""

    digest: str
    examples: Sequence[Example]
    own: Sequence[Example]
    notes: Sequence[str] = ()

    @property
    def traits(self) -> MemoryTraits:
        """Its notes, and what the examples of the training split ask, so that none of it is evaluated."""
        return MemoryTraits(notes=self.notes, texts=[task_text(one.problem()) for one in self.examples])

    def search(self, problem: str) -> Sequence[Demonstration]:
        """All examples in their fixed order; of several tasks, those of the task nearest to the problem first. ``data``
        holds the example, and whether it is the project's ``own``."""
        near = {hit.id: n for n, hit in enumerate(self._tasks.search(problem, len(self._tasks)))}
        ranked = sorted(self.examples, key=lambda one: near.get(one.task, len(near)))
        return [
            Demonstration(task_text(one.problem()), one.answer, {"example": asdict(one), "own": own})
            for examples, own in ((ranked, False), (self.own, True))
            for one in examples
        ]

    def experience(self, tool: str) -> Sequence[str]:
        """Nothing: no lesson is learnt."""
        return ()

    @cached_property
    def _tasks(self) -> Bm25:
        """The tasks by the text of their examples; a single one needs no index."""
        texts: dict[str, list[str]] = {}
        for one in self.examples:
            texts.setdefault(one.task, []).append(task_text(one.problem()))
        return Bm25.over((task, "\n".join(lines)) for task, lines in texts.items() if len(texts) > 1)
