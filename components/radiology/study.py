"""A RadABench sample as toolset and conditions read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.core.errors import ConfigError
from components.core.types import Sample
from components.radiology.tasks import TASKS, Task
from components.radiology.vocabulary import Vocabulary, entity_of


@dataclass(frozen=True)
class Study:
    """The patient record behind a sample, its task, and the vocabulary of its file."""

    record: Mapping[str, Any]
    task: Task
    vocabulary: Vocabulary

    @property
    def pair(self) -> tuple[str, str]:
        """Anatomy and modality of the record."""
        return self.record["Anatomy"], self.record["Modality"]

    def own(self, entity: str) -> str:
        """The record's value of an entity of ``vocabulary.ENTITIES``."""
        return entity_of(self.record, entity)


def study_of(sample: Sample) -> Study:
    """Read a sample. Raises ConfigError when it is not one of RadABench's."""
    data = sample.metadata
    try:
        return Study(data["record"], TASKS[data["chain"]], data["vocabulary"])
    except KeyError:
        raise ConfigError(
            f"sample {sample.problem.id!r} has no patient record to image: toolset=radiology and its conditions"
            " work with dataset=radabench_mini or dataset=radabench"
        ) from None
