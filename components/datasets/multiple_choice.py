"""Published question sets with lettered options, read in their original layouts; the target is the right letter.

Where there is an explanation, ``metadata["explanation"]`` is for demonstrations. All raise ConfigError with file, line
and key.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.files.file_dataset import FileDataset, Part
from components.files.rows import Row, json_groups, json_lines
from components.files.samples import explanation, row_letter, row_options
from components.text.answers import letter_of, lettered

_UNPACK = "unpack the archive linked in the README of github.com/"
_HOW = "set CLINICAL_DATA_DIR to the folder that holds {}/, or {} and give dataset.path={}"


_EDITIONS: Mapping[int, Mapping[str, str]] = {
    4: {split: f"US/4_options/phrases_no_exclude_{split}.jsonl" for split in ("test", "train", "dev")}
    | {"pool": "US/4_options/fewshot_pool_from_test.jsonl"},
    5: {split: f"US/{split}.jsonl" for split in ("test", "train", "dev")}
    | {"pool": "US/fewshot_pool_from_test.jsonl", "train5": "US/fewshot_train5.jsonl"},
}


@dataclass(frozen=True)
class MedQA(FileDataset[tuple[int, Row]]):
    """Questions of the medical licensing examinations (MedQA, US), with 4 or 5 lettered options.

    Source: Jin et al. 2021, Applied Sciences, arXiv 2009.13081 (MIT; ``jind11/MedQA``). Test set of 1,273 questions;
    both editions hold the same questions with other letters, so the edition is part of the fingerprint. ``path`` holds
    the folder ``US``. ``pool`` are test items set apart for demonstrations in the small slice; ``train5`` (5 options)
    the five training questions of MedAgents' prompt. Sample ids are row numbers; the explanation is ``evidence_only``.
    """

    path: str
    options: int = 4
    how = _HOW.format("medqa", f"{_UNPACK}jind11/MedQA", ".../data_clean/questions")

    def __post_init__(self) -> None:
        if self.options not in _EDITIONS:
            raise ConfigError(f"dataset.options: there are editions with 4 and with 5 options, found {self.options!r}")

    @property
    def title(self) -> str:
        """Name and edition."""
        return f"MedQA with {self.options} options"

    @property
    def split_names(self) -> Sequence[str]:
        """The splits of the edition."""
        return tuple(_EDITIONS[self.options])

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        return {"medqa": Path(self.path) / _EDITIONS[self.options][split]}

    def identify(self, digest: str) -> str:
        """Add the edition."""
        return f"{self.options}-options-{digest}"

    def read(self, part: Part) -> Iterable[tuple[int, Row]]:
        """Read numbered rows."""
        return enumerate(json_lines(part.file), 1)

    def sample(self, item: tuple[int, Row], part: Part) -> Sample:
        """Make a question. Raises ConfigError when the row is not one of this edition."""
        number, row = item
        choices = row_options(row, least=self.options, most=self.options)
        letter = row_letter(row, "answer_idx", choices)
        step = {"step": row.text("meta_info")} if "meta_info" in row.values else {}
        facts = {"task": "medqa", "answer": choices[letter], "options": self.options}
        return Sample(
            Problem(f"medqa-{part.split}-{number}", row.text("question"), choices),
            target=letter,
            metadata={**facts, **explanation(row, "evidence_only")},
            strata={"task": "medqa", "dimension": "knowledge", **step},
        )


_MEDMCQA = {"dev": "dev.json", "train": "train.json", "pool": "fewshot_pool_from_dev.json"}


@dataclass(frozen=True)
class MedMcqa(FileDataset[Row]):
    """Questions of Indian medical entrance examinations in 21 subjects (MedMCQA), four options, one of them right.

    Source: Pal et al. 2022, CHIL, PMLR 174:248-260 (MIT; ``medmcqa/medmcqa``): JSON Lines despite the files' names. The
    answers of the test set are not public, so papers evaluate the 4,183 questions of dev. ``path`` holds ``dev.json``
    and ``train.json``. ``pool`` are dev items set apart for demonstrations in the small slice.
    """

    path: str
    split: str = field(default="dev", kw_only=True)
    title = "MedMCQA"
    split_names = tuple(_MEDMCQA)
    how = _HOW.format("medmcqa", f"{_UNPACK}medmcqa/medmcqa", "...")

    def __post_init__(self) -> None:
        self._check(self.split)

    def _check(self, split: str) -> None:
        if split == "test":
            raise ConfigError(
                f"dataset.split: MedMCQA has {', '.join(_MEDMCQA)}; found 'test'; "
                "the official test set comes without answers: papers evaluate dev"
            )

    def locate(self, split: str) -> list[Part]:
        """Return the file of a split. Raises ConfigError, also for the split that has no answers."""
        self._check(split)
        return super().locate(split)

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        return {"medmcqa": Path(self.path) / _MEDMCQA[split]}

    def read(self, part: Part) -> Iterable[Row]:
        """Read JSON Lines."""
        return json_lines(part.file)

    def sample(self, item: Row, part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        right = item.values.get("cop")
        if type(right) is not int or not 1 <= right <= 4:
            raise item.error("cop", f"must be 1 to 4, where 1 is opa (some copies count from 0), found {right!r:.80}")
        choices = lettered(item.text(key) for key in ("opa", "opb", "opc", "opd"))
        letter = "ABCD"[right - 1]
        return Sample(
            Problem(f"medmcqa-{item.text('id')}", item.text("question").strip(), choices),
            target=letter,
            metadata={"task": "medmcqa", "answer": choices[letter], **explanation(item, "exp")},
            strata={"task": "medmcqa", "subject": item.text("subject_name").strip()},
        )


MirageSet = Literal["medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu"]


@dataclass(frozen=True)
class Mirage(FileDataset[tuple[str, str, Row]]):
    """Five medical question sets (MIRAGE) with 2 to 4 options, all without context; the stratum ``task`` is the set.

    Source: Xiong et al. 2024, Findings of ACL, arXiv 2402.13178 (public-domain notice of the US National Center for
    Biotechnology Information; questions MIT, those of BioASQ CC BY 2.5; ``Teddy-XiongGZ/MIRAGE``): medqa 1,273, medmcqa
    4,183, pubmedqa 500, bioasq 618 and mmlu 1,089 questions with 4, 4, 3, 2 and 4 options. Its metric is the mean of
    the five accuracies. ``path`` holds ``benchmark.json``, ``sets`` chooses among its sets. Ids hold those of the file.
    """

    path: str
    sets: tuple[MirageSet, ...] = ("medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu")
    title = "MIRAGE"
    split_names = ("test",)
    how = _HOW.format("mirage", "take benchmark.json from github.com/Teddy-XiongGZ/MIRAGE", "FOLDER")

    def __post_init__(self) -> None:
        if not self.sets or len(set(self.sets)) < len(self.sets):
            raise ConfigError(f"dataset.sets: each set once, at least one; found {list(self.sets)}")

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file for all sets."""
        return {"mirage": Path(self.path) / "benchmark.json"}

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
    how = _HOW.format("medagentsbench", "take the folder data of github.com/gersteinlab/medagents-benchmark", "...")

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
        """Return the files by set. Raises ConfigError when there are none, or a chosen set is not there."""
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
        return Sample(
            Problem(name, row.text("question").strip(), choices),
            target=letter,
            metadata={"task": part.name, "answer": choices[letter], **explanation(row, "answer_rationale")},
            strata={"task": part.name},
        )
