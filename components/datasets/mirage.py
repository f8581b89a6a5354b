"""MIRAGE: five medical question sets in one file, read in its original layout."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.files.file_dataset import HOW, OneFile, Part, row_letter, row_options
from components.files.rows import Row, json_groups

MirageSet = Literal["medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu"]


@dataclass(frozen=True)
class Mirage(OneFile[tuple[str, str, Row]]):
    """Five medical question sets (MIRAGE) with 2 to 4 options, all without context; the stratum ``task`` is the set.

    Source: Xiong et al. 2024, Findings of ACL, arXiv 2402.13178 (public-domain notice of the US National Center for
    Biotechnology Information; questions MIT, those of BioASQ CC BY 2.5; ``Teddy-XiongGZ/MIRAGE``): medqa 1,273, medmcqa
    4,183, pubmedqa 500, bioasq 618 and mmlu 1,089 questions with 4, 4, 3, 2 and 4 options. Its metric is the mean of
    the five accuracies. ``path`` holds ``benchmark.json``, ``sets`` chooses among its sets. Ids hold those of the file.
    """

    sets: tuple[MirageSet, ...] = ("medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu")
    title = "MIRAGE"
    part = "mirage"
    file = "benchmark.json"
    split_names = ("test",)
    how = HOW.format("mirage", "take benchmark.json from github.com/Teddy-XiongGZ/MIRAGE", "FOLDER")

    def __post_init__(self) -> None:
        if not self.sets or len(set(self.sets)) < len(self.sets):
            raise ConfigError(f"dataset.sets: each set once, at least one; found {list(self.sets)}")

    def identify(self, digest: str) -> str:
        """Add the chosen sets."""
        return f"{'+'.join(sorted(self.sets))}-{digest}"

    def read(self, part: Part) -> Iterable[tuple[str, str, Row]]:
        """Read set, id and row of the chosen sets. Raises ConfigError for a set that the file does not hold."""
        missing = set[str](self.sets)
        for name, item, row in json_groups(part.file):
            missing.discard(name)
            if name in self.sets:
                yield name, item, row
        if missing:
            raise ConfigError(f"{part.file}: {min(missing)}: there is no such set, or it is empty")

    def sample(self, item: tuple[str, str, Row], part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        task, name, row = item
        choices = row_options(row, most=4)
        letter = row_letter(row, "answer", choices)
        problem = Problem(f"mirage-{task}-{name}", row.text("question").strip(), choices)
        return Sample(problem, letter, metadata={"task": task, "answer": choices[letter]}, strata={"task": task})
