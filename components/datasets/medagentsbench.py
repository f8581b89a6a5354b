"""MedAgentsBench: questions of medical sets that most models get wrong, read in their original layout."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.files.file_dataset import HOW, FileDataset, Part, explanation, row_letter, row_options
from components.files.rows import Row, json_lines
from components.text.answers import letter_of

_FILES = {"test_hard": "test_hard.jsonl", "train": "train.jsonl"}


@dataclass(frozen=True)
class MedAgentsBench(FileDataset[tuple[str, Row]]):
    """Questions that most models get wrong, of medical question sets (MedAgentsBench), with 2 to 10 options, A to J.

    Source: Tang et al. 2025, arXiv 2503.07459 (Apache-2.0, questions by their sources' licences;
    ``gersteinlab/medagents-benchmark``). Sets upstream: medqa, medmcqa, mmlu, mmlu-pro, pubmedqa, medbullets, medexqa,
    medxpertqa-r, medxpertqa-u, afrimedqa. ``path`` holds one folder per set, the stratum ``task``; ``sets``: all that
    are there, or a list. ``test_hard`` is what is evaluated; ``train`` are questions to learn from, of those sets that
    have any. Sample ids hold the set and the ``realidx`` of the row.
    """

    path: str
    split: str = field(default="test_hard", kw_only=True)
    sets: Literal["all"] | tuple[str, ...] = "all"
    title = "MedAgentsBench"
    how = HOW.format("medagentsbench", "take the folder data of github.com/gersteinlab/medagents-benchmark", "...")

    def __post_init__(self) -> None:
        if not self.sets or (self.sets != "all" and len(set(self.sets)) < len(self.sets)):
            raise ConfigError(f"dataset.sets: all, or each set once and at least one; found {list(self.sets)}")

    @property
    def split_names(self) -> Sequence[str]:
        """The splits that any of the sets has."""
        return tuple(split for split in _FILES if self.paths(split))

    def paths(self, split: str) -> Mapping[str, Path]:
        """The files of the chosen sets that are there."""
        found = {file.parent.name: file for file in sorted(Path(self.path).glob(f"*/{_FILES[split]}"))}
        return found if self.sets == "all" else {name: found[name] for name in self.sets if name in found}

    def locate(self, split: str) -> list[Part]:
        """Return the files by set. Raises ConfigError when there are none, or a chosen set is missing."""
        test = self.paths("test_hard")
        missing = [name for name in self.sets if name not in test] if self.sets != "all" else []
        if missing or not test:
            raise ConfigError(f"no data file {self.path}/{missing[0] if missing else '*'}/test_hard.jsonl; {self.how}")
        return super().locate(split)

    def identify(self, digest: str) -> str:
        """Add the names of the sets."""
        return f"{'+'.join(self.paths(self.split))}-{digest}"

    def read(self, part: Part) -> Iterable[tuple[str, Row]]:
        """Read the rows of a set and their ids, numbered where a ``realidx`` is repeated. Raises ConfigError."""
        seen = Counter[str]()
        for row in json_lines(part.file):
            source = str(row.identifier("realidx"))
            seen[source] += 1
            again = f"-again{seen[source]}" if seen[source] > 1 else ""
            yield f"medagentsbench-{part.name}-{part.split}-{source}{again}", row
        if not seen:
            raise ConfigError(f"{part.file}: there is no question in it")

    def sample(self, item: tuple[str, Row], part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        name, row = item
        choices = row_options(row, most=10)
        letter = row_letter(row, "answer_idx", choices)
        if "answer" in row.values and letter_of(choices, row.text("answer")) not in (None, letter):
            raise row.error("answer", f"is the text of another option than {letter}, which answer_idx names")
        problem = Problem(name, row.text("question").strip(), choices)
        facts = {"task": part.name, "answer": choices[letter], **explanation(row, "answer_rationale")}
        return Sample(problem, letter, metadata=facts, strata={"task": part.name})
