"""Custom questions: a CSV or JSON Lines file with a row per question, whose columns are named in YAML."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.file_dataset import FileDataset, Part
from components.files.rows import Row, csv_records, json_lines
from components.text.answers import letter_of, letter_options
from components.text.words import meant

ALL = "all"
_MOST = 26
_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class Columns:
    """Which column holds what; null: none. ``options``: a column per option, or one that holds a list (JSON Lines)."""

    question: str = "question"
    answer: str = "answer"
    options: str | Sequence[str] | None = None
    id: str | None = None
    context: str | None = None
    split: str | None = None
    cluster: str | None = None
    explanation: str | None = None
    strata: Sequence[str] = ()
    card: Sequence[str] = ()


@dataclass(frozen=True)
class Table(FileDataset[tuple[int, Row]]):
    """Multiple choice where there are options, decisions where ``decisions`` are named, else open questions. The answer
    of a multiple-choice question is the letter or the text of an option. Options that are empty in a row are left out,
    so rows may have different numbers of them. Without a column of splits all rows are the split ``all``. Raises
    ConfigError with file, line and column."""

    path: str | None = None
    split: str = field(default=ALL, kw_only=True)
    columns: Columns = field(default_factory=Columns)
    decisions: Sequence[str] = ()
    privacy: Privacy = field(default="phi", kw_only=True)
    how = "dataset.path names a .csv, .jsonl or .ndjson file with a row per question"

    def __post_init__(self) -> None:
        if self.decisions and self.columns.options is not None:
            raise ConfigError(
                "dataset.decisions: questions have options or are decided, not both; set only one of them"
            )

    @property
    def title(self) -> str:
        """The file."""
        return str(self.path)

    @cached_property
    def split_names(self) -> Sequence[str]:
        """The values of the column of splits, in the file's order."""
        (file,) = self.paths(ALL).values()
        if not file.is_file():
            near = meant(file.name, (one.name for one in file.parent.glob("*") if one.is_file()))
            raise ConfigError(f"dataset.path: the file {file} does not exist; {near}{self.how}")
        found = tuple(dict.fromkeys(self._split_of(row) for row in self._rows(file)))
        if not found:
            raise ConfigError(f"dataset.path: {self.title} has no rows; {self.how}")
        return found

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file for all splits."""
        if self.path is None:
            raise ConfigError(f"dataset.path is missing; {self.how}")
        return {"table": Path(self.path)}

    def read(self, part: Part) -> Iterator[tuple[int, Row]]:
        """Read the rows of a split with their numbers. Raises ConfigError for an id that is duplicated."""
        seen: dict[str, str] = {}
        for number, row in enumerate(self._rows(part.file), 1):
            if self._split_of(row) == part.split:
                name = self._id(number, row)
                if (place := seen.setdefault(name, row.place)) != row.place:
                    raise row.error(self.columns.id or "id", f"{name!r} is also at {place}")
                yield number, row

    def sample(self, item: tuple[int, Row], part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        number, row = item
        named = self.columns
        choices, answer = self._options(row), self._text(row, named.answer)
        if choices and answer not in choices:
            letter = letter_of(choices, answer)
            if letter is None:
                why = f"must be one of {', '.join(choices)} or the text of one option, found {answer!r:.80}"
                raise row.error(named.answer, why)
            answer = letter
        elif not choices and self.decisions and answer not in self.decisions:
            raise row.error(named.answer, f"must be {', '.join(self.decisions)}, found {answer!r:.80}")
        metadata: dict[str, object] = {"decisions": list(self.decisions)} if self.decisions else {}
        if explanation := self._maybe(row, named.explanation):
            metadata["explanation"] = explanation
        context = self._maybe(row, named.context) or ""
        self._cell(row, named.question)
        return Sample(
            Problem(self._id(number, row), row.text(named.question), choices, context=context),
            target=answer,
            metadata=metadata,
            cluster=self._maybe(row, named.cluster),
            strata={name: self._maybe(row, name) or "none" for name in named.strata},
            card={name: _number(text) for name in named.card if (text := self._maybe(row, name)) is not None},
        )

    def _rows(self, file: Path) -> Iterable[Row]:
        kind = file.suffix.lower()
        if kind not in (".csv", *_LINES):
            raise ConfigError(f"{file}: found a file that ends in {kind!r}; {self.how}")
        return json_lines(file) if kind in _LINES else csv_records(file, fill=True)

    def _split_of(self, row: Row) -> str:
        return ALL if self.columns.split is None else self._text(row, self.columns.split)

    def _id(self, number: int, row: Row) -> str:
        return self._maybe(row, self.columns.id) or f"row-{number}"

    def _options(self, row: Row) -> Mapping[str, str]:
        wanted = self.columns.options
        if wanted is None:
            return {}
        if isinstance(wanted, str):
            self._cell(row, wanted)
        texts = row.texts(wanted) if isinstance(wanted, str) else [self._maybe(row, name) or "" for name in wanted]
        choices = letter_options(text.strip() for text in texts if text.strip())
        where = wanted if isinstance(wanted, str) else ", ".join(wanted)
        if not 2 <= len(choices) <= _MOST:
            raise row.error(where, f"must be 2 to {_MOST} options, found {len(choices)}")
        return choices

    def _text(self, row: Row, column: str) -> str:
        if (text := self._maybe(row, column)) is None:
            raise row.error(column, "must not be empty")
        return text

    def _maybe(self, row: Row, column: str | None) -> str | None:
        """A cell as text; None for an empty one, or no column. Raises ConfigError for a column that is not there."""
        value = None if column is None else self._cell(row, column)
        if isinstance(value, dict | list):
            raise row.error(str(column), f"must be a text or a number, found {value!r:.80}")
        return ("" if value is None else str(value).strip()) or None

    def _cell(self, row: Row, column: str) -> object:
        """A cell. Raises ConfigError, which names the setting, for a column that is not there."""
        if column not in row.values:
            named = vars(self.columns).items()
            key = next(key for key, of in named if column in ([of] if isinstance(of, str) else of or ()))
            file = row.place if Path(self.title).suffix.lower() in _LINES else self.title  # a CSV has one header
            there = f"{meant(column, row.values)}there are {', '.join(map(str, row.values))}"
            raise ConfigError(f"dataset.columns.{key}: {file} has no column {column!r}; {there}")
        return row.values[column]


def _number(text: str) -> str | float:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text
