"""Which records prompts are refined on: for training, for validation, and evaluated ones to compare on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.core.errors import ConfigError
from components.core.learning import StageContext
from components.core.task_text import task_text
from components.core.types import Sample
from components.files.seeded_draw import drawn


def record_of(sample: Sample) -> str:
    """What samples have in common that must not be parted: the record, or where there is none the sample."""
    return sample.cluster or sample.problem.id


@dataclass(frozen=True)
class Parts:
    """Samples of a split for training and validation, and evaluated ones to compare on; no two parts share a record."""

    split: str
    train: Sequence[Sample]
    validation: Sequence[Sample]
    compared: Sequence[Sample]

    @property
    def records(self) -> dict[str, list[str]]:
        """The records of each part."""
        parts = {"train": self.train, "validation": self.validation, "compared": self.compared}
        return {name: list(dict.fromkeys(map(record_of, part))) for name, part in parts.items()}


def parts_of(bench: StageContext, split: str | None, train: int, validation: int, compare: int) -> Parts:
    """Draw the parts by whole records. Raises ConfigError when there are too few, one is evaluated too, or two parts
    hold the same task."""
    seed = f"{bench.seed}/refine_prompts"
    name, samples = bench.training(split)
    records = list(dict.fromkeys(map(record_of, samples)))
    asked = train + validation
    if asked > len(records):
        raise ConfigError(
            f"{train} training and {validation} validation records are asked"
            f" for, and the split {name!r} has {len(records)}"
        )
    chosen = drawn(records, asked, seed)
    training = set(drawn(chosen, train, f"{seed}/train"))
    evaluated = list(dict.fromkeys(map(record_of, bench.evaluated)))
    if both := sorted(set(chosen) & set(evaluated)):
        raise ConfigError(f"record {both[0]!r} is evaluated and in the split {name!r}; nothing is learnt from it")
    learnt = [one for one in samples if record_of(one) in training]
    texts = {task_text(one.problem) for one in learnt}
    tested = [one for one in samples if record_of(one) in set(chosen) - training]
    if twin := next((one for one in tested if task_text(one.problem) in texts), None):
        raise ConfigError(
            f"sample {twin.problem.id!r} for validation says the same as one for training: records of the split"
            f" {name!r} repeat each other; choose another seed, or fewer records"
        )
    compared = set(drawn(evaluated, compare, f"{seed}/compare"))
    return Parts(
        name,
        learnt,
        tested,
        [one for one in bench.evaluated if record_of(one) in compared],
    )
