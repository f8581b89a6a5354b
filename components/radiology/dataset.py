"""RadABench: synthetic patient records, each with a question for each of eleven tasks.

Source: Zheng et al. 2024, arXiv 2412.09529; hub name QiaoyuZheng/RadABench-Data (2,200 records, 24,200
questions). ``radabench_mini`` ships with the project and has the same layout.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import orjson
from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.file_dataset import draw
from components.radiology.study import LISTS, Entry, Vocabulary, parse_records
from components.radiology.switches import Switches
from components.radiology.tasks import TASKS
from components.text.structured import read_yaml

_MANIFEST = "manifest.json"  # of a synthesis, next to its records
_SHIPPED = Path(__file__).parent
_TERMS = _SHIPPED / "radabench_mini" / "terms.yaml"


@dataclass(frozen=True)
class RadABench:
    """Samples ``<record>/<chain>`` in file order, with the patient's information as context.

    ``path`` is a file of records (split ``test``) or a folder of such files (splits by file name); ``shipped`` a folder
    next to this file, ``hub`` a data set on the Hugging Face hub (optional extra ``datasets``); the first that is set
    counts. ``files`` names the splits' files in a folder. ``records``: the size of a seeded sample of the evaluated
    split's records, each with all its questions.
    """

    path: str | None = None
    shipped: str | None = None
    hub: str | None = None
    split: str = "test"
    files: Mapping[str, str] | None = None
    records: Annotated[int, Ge(1)] | None = None
    seed: int = 0
    switches: Switches = field(default_factory=Switches)
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The names of the splits. Raises ConfigError when there is no data."""
        return ("test", "train") if self._hub else tuple(self._files())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the evaluated split's file (from the hub: of its records as JSON)."""
        return sha256(self._content(self.split)[0]).hexdigest()

    def load(self, split: str) -> Iterable[Sample]:
        """Read a split. Raises ConfigError, naming record and key, when a file is not as it should be."""
        entries, vocabulary = _parsed(*self._content(split))
        if split == self.split:
            if self.records is not None and self.records > len(entries):
                raise ConfigError(f"records: {self.records} are requested, and split {split!r} has {len(entries)}")
            entries = draw(entries, self.records, f"{self.seed}/records")
        return (self._sample(entry, chain, vocabulary) for entry in entries for chain in entry.questions)

    @property
    def _hub(self) -> str | None:
        return self.hub if self.path is None and self.shipped is None else None

    def _content(self, split: str) -> tuple[bytes, str]:
        """The records of a split as JSON, and where they are from. Raises ConfigError."""
        if self._hub:
            return _hub_bytes(self._hub, split), f"{self._hub} ({split})"
        files = self._files()
        if split not in files:
            raise ConfigError(f"dataset.split={split!r} does not exist; the splits are {list(files)}")
        if not files[split].is_file():
            raise ConfigError(f"{str(files[split])!r}, the file of split {split!r}, does not exist")
        return files[split].read_bytes(), str(files[split])

    def _sample(self, entry: Entry, chain: str, vocabulary: Vocabulary) -> Sample:
        """One question, with the patient's information as text."""
        question, answer = entry.questions[chain]
        record, task, patient = entry.record, TASKS[chain], entry.record["Information"]
        sex, size = patient["Sex"].lower(), f"{patient['Height']} cm, {patient['Weight']} kg"
        lines = [
            f"Patient: {patient['Age']} years, {sex}, {size}",
            f"History: {patient['History']}",
            f"Complaint: {patient['Complaint']}",
        ]
        if self.switches.indicator_name == "start_for_indicator_tasks" and "7" in chain:
            name = record["Indicator"]["Name"]
            lines.append(f"Indicator of interest ($IndicatorName$, known from the start): {name}")
        card: dict[str, str | float] = {"sex": sex, "gold chain, steps": len(task.chain)}
        with suppress(ValueError):  # an age that is not a number of years is left out
            card["age, years"] = float(patient["Age"])
        place = {"anatomy": record["Anatomy"], "modality": record["Modality"]}
        return Sample(
            problem=Problem(f"{entry.id}/{chain}", question, context="\n".join(lines)),
            target={"chain": chain, "answer": answer},
            metadata={"record": record, "chain": chain, "vocabulary": vocabulary},
            cluster=entry.id,
            strata={"complexity": task.complexity, "task": task.name, **place},
            card=card,
            gold_steps=task.steps,
        )

    def _files(self) -> dict[str, Path]:
        """Split -> file. Raises ConfigError."""
        if self.path is None and self.shipped is None:
            raise ConfigError(
                "no data: give dataset.path=FILE_OR_FOLDER with RadABench's JSON, or"
                " dataset.hub=QiaoyuZheng/RadABench-Data; dataset=radabench_mini needs neither"
            )
        root = Path(self.path).expanduser() if self.path is not None else _SHIPPED / str(self.shipped)
        if root.is_file():
            return {"test": root}
        if not root.is_dir():
            raise ConfigError(f"dataset.path={str(root)!r} does not exist")
        if self.files:
            return {split: root / name for split, name in self.files.items()}
        found = [path for path in sorted(root.glob("*.json")) if path.name != _MANIFEST]
        if not found:
            raise ConfigError(f"dataset.path={str(root)!r} holds no .json file")
        return {"test": found[0]} if len(found) == 1 else {file.stem: file for file in found}


@lru_cache(maxsize=4)
def _parsed(data: bytes, where: str) -> tuple[Sequence[Entry], Vocabulary]:
    """The records of a file's content, with the project's own terms by list name."""
    terms = {name: tuple(map(str, found)) for name, found in read_yaml(_TERMS).items() if name in LISTS}
    return parse_records(data, where, terms)


@lru_cache(maxsize=2)
def _hub_bytes(hub: str, split: str) -> bytes:
    """Fetch a hub split as the JSON of a file. Raises ConfigError when it cannot be had."""
    try:
        library = import_module("datasets")
    except ImportError:
        raise ConfigError(
            f"dataset.hub={hub!r} needs the optional extra 'datasets': pip install 'wardround[datasets]';"
            " or give dataset.path=FILE_OR_FOLDER"
        ) from None
    try:
        rows = library.load_dataset(hub, split=split)
    except (OSError, ValueError) as error:
        raise ConfigError(f"dataset.hub={hub!r}, split {split!r}: {error}") from None
    return orjson.dumps(entries_of(rows))


def entries_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows of a table as the object of a file: a row is a record, or a whole file with records as columns. Cells may
    hold JSON text; empty cells, which a table has where records differ, are left out."""
    found: dict[str, Any] = {}
    for number, row in enumerate(rows):
        cells = {key: _cell(value) for key, value in row.items() if value is not None}
        if "case" in cells or "Anatomy" in cells:
            found[str(cells.pop("id", number))] = cells
        else:
            found.update(cells)
    return found


def _cell(value: Any) -> Any:
    """A cell without what is empty in it, decoded where it is JSON text."""
    if isinstance(value, str) and value[:1] == "{":
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    if isinstance(value, dict):
        return {key: _cell(inner) for key, inner in value.items() if inner is not None}
    return value
