"""ClinicalAgent Bench: any of its 18 tasks, in its own file layout ``{split}/{task}.json``.

Source: Liao et al. 2024, arXiv 2410.17657; 14,879 test samples; hub name ``BlueZeros/ClinicalAgentBench``.
Licences are those of the sources: mimic_iii, eicu, ehr_halt and emrqa rest on credentialed data.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from components.cab.tasks import TASKS
from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.attachments import attach, path_below
from components.files.file_dataset import FolderDataset, Part, draw, task_sample
from components.files.rows import Row, content_key, json_records
from components.text.answers import letter_of, split_options

_DIALECTS = ("mimic_iv", "mimic_iii", "eicu")
_SQL_TASKS = {"ehrsql": "mimic_iv", "mimic_iii": "mimic_iii", "eicu": "eicu"}
_MEDCALC = ("Output Type", "Low Limit", "Upper Limit")
_PATHS = ("images", "sql_database", "upload_files")


def record_sample(row: Row, task: str, split: str, root: Path) -> Sample:
    """Make the sample of a record of ``task``; paths are resolved below ``root``. Raises ConfigError."""
    task = row.one_of("dataset", TASKS) if row.values.get("dataset") else task
    name, instruction, context = row.identifier("id"), row.optional_text("instruction"), row.optional_text("inputs")
    if not instruction:
        instruction, context = context, ""
    if not instruction:
        raise row.error("instruction", "instruction and inputs are both empty")
    gold = row.values.get("eval")
    if not isinstance(gold, dict):
        raise row.error("eval", f"must be an object, found {gold!r:.80}")
    images, databases, documents = ([path_below(root, row, key, one) for one in _names(row, key)] for key in _PATHS)
    files = attach(images, next(iter(databases), None), next(iter(documents), None))
    question, choices = instruction, dict[str, str]()
    target: Any = {key: value for key, value in gold.items() if key != "sql"}
    if TASKS[task].form in ("choice", "tolerant_choice"):
        question, choices = split_options(instruction)
        target = _choice(row, task, choices, gold)
    else:
        _check_key(row, task, gold)
    metadata: dict[str, Any] = {"record": name}
    strata = {"output_type": str(gold["Output Type"])} if "Output Type" in gold else {}
    if database := files.inputs.get("sql_database"):
        dialect = database if database in _DIALECTS else _SQL_TASKS.get(task)
        if dialect is None:
            why = f"the base name must be one of {', '.join(_DIALECTS)}, found {database!r}"
            raise row.error("sql_database", why)
        strata["database"] = metadata["sql_dialect"] = dialect
    if isinstance(gold.get("sql"), str):
        metadata["sql"] = gold["sql"]
    return task_sample(
        task,
        TASKS[task].dimension,
        f"{task}-{split}-{name}",
        question,
        target,
        choices=choices,
        context=context,
        files=files,
        metadata=metadata,
        strata=strata,
        cluster=next(iter([*_names(row, "images"), *_names(row, "upload_files")]), None),
    )


def _names(row: Row, key: str) -> Sequence[str]:
    """The paths under a key: none, one text, or a list (of one, but for images)."""
    value = row.values.get(key)
    names = [value] if isinstance(value, str) else value or []
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise row.error(key, f"must be a path or a list of paths, found {value!r:.80}")
    if key != "images" and len(names) > 1:
        raise row.error(key, f"must be one path, found {len(names)}")
    return names


def _check_key(row: Row, task: str, gold: Mapping[str, Any]) -> None:
    """Raise ConfigError where an answer, or a calculation's kind or limits, are not of the form of the task."""
    form, answer = TASKS[task].form, gold.get("answer")
    listed = answer if isinstance(answer, list) else ()
    if form == "values":
        wanted, valid = "a list of texts", all(isinstance(one, str | int | float) for one in listed)
    elif form == "entities":
        wanted = "a list of objects with entity_name"
        valid = all(isinstance(one, dict) and isinstance(one.get("entity_name"), str) for one in listed)
    else:
        wanted, valid = "a text", isinstance(answer, str | int | float) and not isinstance(answer, bool)
    of_kind = isinstance(answer, list) == wanted.startswith("a list") and answer != ""
    if form != "no_result" and not (valid and of_kind):
        raise row.error("eval", f"answer must be {wanted}, found {answer!r:.80}")
    if form != "medcalc":
        return
    if missing := [key for key in _MEDCALC if key not in gold]:
        raise row.error("eval", f"{', '.join(missing)} missing; it has {', '.join(gold)}")
    kind, *limits = (gold[key] for key in _MEDCALC)
    if kind not in ("decimal", "integer", "date"):
        raise row.error("eval", f"Output Type must be decimal, integer or date, found {kind!r:.80}")
    try:
        low, high = map(float, limits)
    except (TypeError, ValueError):
        low = high = math.nan
    if kind == "decimal" and not -math.inf < low <= high < math.inf:
        pair = f"{limits[0]!r:.40} and {limits[1]!r:.40}"
        raise row.error("eval", f"Low Limit and Upper Limit must be numbers, the lower first, found {pair}")


def _choice(row: Row, task: str, choices: Mapping[str, str], gold: Mapping[str, Any]) -> str | dict[str, Any]:
    """The right letter, or accepted refusals; answer and letter as they are where the options cannot be read."""
    answer, letter = gold.get("answer"), gold.get("answer_idx")
    if TASKS[task].form == "tolerant_choice" and isinstance(answer, list):
        if not answer or not all(isinstance(one, str) and one.strip() for one in answer):
            raise row.error("eval", f"answer must be a list of texts, found {answer!r:.80}")
        return {"accepted": answer}
    if not isinstance(answer, str) or not answer.strip():
        raise row.error("eval", f"answer must be an option's text, found {answer!r:.80}")
    if letter is not None and not isinstance(letter, str):
        raise row.error("eval", f"answer_idx must be a letter, found {letter!r:.80}")
    if not choices:
        if not letter:
            raise row.error("eval", "answer_idx is missing, and the instruction does not end in lines 'A. text'")
        return {"answer": answer, "answer_idx": letter}
    letter = letter or letter_of(choices, answer)
    if letter is None or letter not in choices:
        raise row.error("eval", f"answer_idx must be one of {', '.join(choices)}, found {letter!r}")
    if letter_of({letter: choices[letter]}, answer) is None:
        raise row.error("eval", f"answer {answer!r:.80} is not option {letter}: {choices[letter]!r:.80}")
    return letter


@dataclass(frozen=True)
class Cab(FolderDataset[Row]):
    """Samples task by task in the tasks' published order, with paths resolved below the data's root.

    ``tasks`` names tasks or is ``all``: those whose file is there. ``per_task`` chooses so many of each, with ``seed``.
    Options at the end of an instruction become choices; where they cannot be read the question stays whole and the
    target is {answer, answer_idx}. Raises ConfigError with file, record and key.
    """

    tasks: Literal["all"] | tuple[str, ...] = "all"
    per_task: Annotated[int, Ge(1)] | None = None
    seed: int = 0
    privacy: Privacy = field(default="credentialed", kw_only=True)
    title = "this folder"
    how = "take the data set BlueZeros/ClinicalAgentBench from its hub and give dataset.path=.../ClinicalAgentBench"

    def __post_init__(self) -> None:
        unknown = [task for task in self.tasks if task not in TASKS] if self.tasks != "all" else []
        if unknown or not self.tasks:
            raise ConfigError(f"dataset.tasks: must be all or some of {', '.join(TASKS)}; found {self.tasks!r}")
        super().__post_init__()

    @property
    def split_names(self) -> Sequence[str]:
        """The splits whose folders are there."""
        return tuple(split for split in ("test", "train", "ablations") if (self.root / split).is_dir())

    splits = split_names  # also those that lack a file, which is an error

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per task; without ``tasks`` of those that are there."""
        files = {task: self.root / split / f"{task}.json" for task in TASKS}
        if self.tasks == "all":
            return {task: file for task, file in files.items() if file.is_file()}
        return {task: file for task, file in files.items() if task in self.tasks}

    def locate(self, split: str) -> list[Part]:
        """Return the files of the tasks. Raises ConfigError when a requested one is missing."""
        if not self.root.is_dir():
            raise ConfigError(f"dataset.path: there is no folder {self.root}; {self.how}")
        files = self.paths(split)
        missing = [task for task, file in files.items() if not file.is_file()]
        if split in self.split_names and (missing or not files):
            folder = self.root / split
            have = ", ".join(task for task in TASKS if (folder / f"{task}.json").is_file()) or "none"
            raise ConfigError(f"dataset.tasks: {folder} has no file of {', '.join(missing or TASKS)}; it has {have}")
        return super().locate(split)

    def contents(self, split: str) -> Sequence[Path]:
        """Name the files of the records, and all files that these name."""
        parts = self.locate(split)
        records = [row for part in parts for row in json_records(part.file)]
        first = {(key, name): row for row in reversed(records) for key in _PATHS for name in _names(row, key)}
        named = {path_below(self.root, row, key, name) for (key, name), row in first.items()}
        within = {file for path in named for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()}
        return [*(part.file for part in parts), *sorted(within)]

    def identify(self, digest: str) -> str:
        """Add the choice of records."""
        return content_key("" if self.per_task is None else f"{self.per_task}/{self.seed}", digest)

    def read(self, part: Part) -> Iterable[Row]:
        """Read the chosen records of a task."""
        return draw(list(json_records(part.file)), self.per_task, f"{self.seed}/{part.split}/{part.name}")

    def sample(self, item: Row, part: Part) -> Sample:
        """Make the sample of a record. Raises ConfigError."""
        return record_sample(item, part.name, part.split, self.root)
