"""MedAgentsBench: the questions of medical question sets that most models get wrong, to compare agents.

Source: Tang et al. 2025, arXiv 2503.07459 (Apache-2.0, questions by their sources' licences;
``gersteinlab/medagents-benchmark``), read in the original folders ``{set}/test_hard.jsonl``. Sets upstream: medqa,
medmcqa, mmlu, mmlu-pro, pubmedqa, medbullets, medexqa, medxpertqa-r, medxpertqa-u, afrimedqa.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.choice_rows import explanation_of, row_letter, row_options
from components.files.rows import Row, files_digest, json_lines
from components.files.task_samples import check_split
from components.text.answers import letter_of

_FILES: Mapping[str, str] = {"test_hard": "test_hard.jsonl", "train": "train.jsonl"}
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds medagentsbench/, or take the folder data of "
    "github.com/gersteinlab/medagents-benchmark and give dataset.path=..."
)


@dataclass(frozen=True)
class MedAgentsBench:
    """Questions with 2 to 10 options, A to J; the target is the right letter, the stratum ``task`` the set.

    ``path`` holds one folder per set; ``sets``: all that are there, or a list. ``test_hard`` is what is evaluated;
    ``train`` are questions to learn from, of those sets that have any. Sample ids hold the set and the ``realidx`` of
    the row. ``metadata["explanation"]``, where there is one, is for demonstrations. Raises ConfigError with file,
    line and key.
    """

    path: str
    split: str = "test_hard"
    sets: Literal["all"] | tuple[str, ...] = "all"
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if not self.sets or (self.sets != "all" and len(set(self.sets)) < len(self.sets)):
            raise ConfigError(f"dataset.sets: all, or each set once and at least one; found {list(self.sets)}")

    @property
    def splits(self) -> Sequence[str]:
        """The splits that any of the sets has."""
        return tuple(split for split in _FILES if self._there(split))

    @cached_property
    def fingerprint(self) -> str:
        """Names of the sets and content of the evaluated split's files."""
        files = self._files(self.split)
        return f"{'+'.join(files)}-{files_digest(*files.values())}"

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, set by set. Raises ConfigError."""
        return (sample for name, file in self._files(split).items() for sample in _samples(name, split, file))

    def _there(self, split: str) -> dict[str, Path]:
        """The files of a split by set: those of the chosen sets that are there."""
        found = {file.parent.name: file for file in sorted(Path(self.path).glob(f"*/{_FILES[split]}"))}
        return found if self.sets == "all" else {name: found[name] for name in self.sets if name in found}

    def _files(self, split: str) -> dict[str, Path]:
        """The files of a split by set. Raises ConfigError when there are none, or a chosen set is not there."""
        test = self._there("test_hard")
        missing = [name for name in self.sets if name not in test] if self.sets != "all" else []
        if missing or not test:
            raise ConfigError(f"no data file {self.path}/{missing[0] if missing else '*'}/test_hard.jsonl; {_HOW}")
        check_split("MedAgentsBench", split, self.splits)
        return self._there(split)


def _samples(name: str, split: str, file: Path) -> Iterator[Sample]:
    """The questions of a set; where a ``realidx`` stands again, its id says which time it is. Raises ConfigError."""
    seen = Counter[str]()
    for row in json_lines(file):
        source = _source(row)
        seen[source] += 1
        again = f"-again{seen[source]}" if seen[source] > 1 else ""
        choices = row_options(row, most=10)
        letter = row_letter(row, "answer_idx", choices)
        if "answer" in row.values and letter_of(choices, row.text("answer")) not in (None, letter):
            raise row.error("answer", f"is the text of another option than {letter}, which answer_idx names")
        yield Sample(
            Problem(f"medagentsbench-{name}-{split}-{source}{again}", row.text("question").strip(), choices),
            target=letter,
            metadata={"task": name, "answer": choices[letter], **explanation_of(row, "answer_rationale")},
            strata={"task": name},
        )
    if not seen:
        raise ConfigError(f"{file}: there is no question in it")


def _source(row: Row) -> str:
    """The number or name of a row in the set that it is from. Raises ConfigError."""
    value = row.values.get("realidx")
    return str(value) if type(value) is int else row.text("realidx")
