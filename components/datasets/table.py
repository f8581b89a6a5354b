"""Questions of one's own: a CSV or JSON Lines file with a row per question, whose columns are named in YAML."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.rows import Row, existing, files_digest, json_lines
from components.text.answers import letter_of, lettered

ALL = "all"
_MOST = 26
_LINES = (".jsonl", ".ndjson")
_LONG = "put texts as long as that in a .jsonl file, which takes them"
_HOW = "dataset.path names a .csv, .jsonl or .ndjson file with a row per question"


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
class Table:
    """Multiple choice where there are options, decisions where ``decisions`` are named, else open questions.

    The answer of a multiple-choice question is the letter or the text of an option. Options that are empty in a row are
    left out, so rows may have different numbers of them. Without a column of splits all rows are the split ``all``.
    Raises ConfigError with file, line and column.
    """

    path: str | None = None
    split: str = ALL
    columns: Columns = field(default_factory=Columns)
    decisions: Sequence[str] = ()
    privacy: Privacy = "phi"

    def __post_init__(self) -> None:
        if self.decisions and self.columns.options is not None:
            raise ConfigError("dataset.decisions: questions have options or are decided, not both; leave one out")

    @cached_property
    def splits(self) -> Sequence[str]:
        """What stands in the column of splits, in the file's order."""
        return tuple(dict.fromkeys(split for split, _, _ in self._rows()))

    @cached_property
    def fingerprint(self) -> str:
        """Content of the file."""
        return files_digest(self._file)

    @property
    def _file(self) -> Path:
        if self.path is None:
            raise ConfigError(f"dataset.path: there is none; {_HOW}")
        return existing(Path(self.path), _HOW)

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split in the file's order. Raises ConfigError."""
        if split not in self.splits:
            raise ConfigError(f"dataset.split: {self.path} has {', '.join(self.splits) or 'no rows'}; found {split!r}")
        seen: dict[str, str] = {}
        for of, number, row in self._rows():
            if of == split:
                sample = self._sample(row, number)
                if (place := seen.setdefault(sample.problem.id, row.place)) != row.place:
                    raise row.error(self.columns.id or "id", f"{sample.problem.id!r} stands at {place}, too")
                yield sample

    def _rows(self) -> Iterator[tuple[str, int, Row]]:
        """Split, number from 1, row."""
        file, column = self._file, self.columns.split
        kind = file.suffix.lower()
        if kind not in (".csv", *_LINES):
            raise ConfigError(f"{file}: found a file that ends in {kind!r}; {_HOW}")
        rows = json_lines(file) if kind in _LINES else _csv_rows(file)
        for number, row in enumerate(rows, 1):
            yield (ALL if column is None else _text(row, column)), number, row

    def _sample(self, row: Row, number: int) -> Sample:
        named = self.columns
        choices = self._options(row)
        answer = _text(row, named.answer)
        if choices:
            answer = self._letter(row, choices, answer)
        elif self.decisions and answer not in self.decisions:
            raise row.error(named.answer, f"must be {', '.join(self.decisions)}, found {answer!r:.80}")
        metadata: dict[str, object] = {"decisions": list(self.decisions)} if self.decisions else {}
        if explanation := _maybe(row, named.explanation):
            metadata["explanation"] = explanation
        return Sample(
            Problem(
                _maybe(row, named.id) or f"row-{number}", row.text(named.question), choices,
                context=_maybe(row, named.context) or "",
            ),
            target=answer,
            metadata=metadata,
            cluster=_maybe(row, named.cluster),
            strata={name: _maybe(row, name) or "none" for name in named.strata},
            card={name: _number(text) for name in named.card if (text := _maybe(row, name)) is not None},
        )  # fmt: skip

    def _options(self, row: Row) -> Mapping[str, str]:
        wanted = self.columns.options
        if wanted is None:
            return {}
        texts = row.texts(wanted) if isinstance(wanted, str) else [_maybe(row, name) or "" for name in wanted]
        choices = lettered(text.strip() for text in texts if text.strip())
        where = wanted if isinstance(wanted, str) else ", ".join(wanted)
        if not 2 <= len(choices) <= _MOST:
            raise row.error(where, f"must be 2 to {_MOST} options, found {len(choices)}")
        return choices

    def _letter(self, row: Row, choices: Mapping[str, str], answer: str) -> str:
        letter = answer if answer in choices else letter_of(choices, answer)
        if letter is None:
            raise row.error(
                self.columns.answer,
                f"must be one of {', '.join(choices)} or the text of an option, found {answer!r:.80}",
            )
        return letter


def _text(row: Row, column: str) -> str:
    """A cell that is not empty, as text. Raises ConfigError."""
    if (text := _maybe(row, column)) is None:
        raise row.error(column, "must not be empty")
    return text


def _maybe(row: Row, column: str | None) -> str | None:
    """A cell as text; None for an empty one, or no column. Raises ConfigError for a column that is not there."""
    if column is None:
        return None
    if column not in row.values:
        raise row.error(column, f"there is no such column; the file has {', '.join(map(str, row.values))}")
    value = row.values[column]
    if isinstance(value, dict | list):
        raise row.error(column, f"must be a text or a number, found {value!r:.80}")
    text = "" if value is None else str(value).strip()
    return text or None


def _number(text: str) -> str | float:
    """A number where it is one."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def _csv_rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file in UTF-8 whose first line names the columns. Raises ConfigError."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            head = reader.fieldnames or ()
            if twice := next((name for name in head if name and head.count(name) > 1), None):
                raise ConfigError(f"{path}:1: the column {twice!r} stands there twice; give each a name of its own")
            for values in reader:
                place = f"{path}:{reader.line_num}"
                if None in values:
                    raise ConfigError(f"{place}: has more cells than columns; quote cells that hold a comma")
                yield Row(place, values)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: is not UTF-8: {error}") from None
        except csv.Error as error:
            hint = f"; if no quote is left open, {_LONG}" if "field limit" in str(error) else ""
            raise ConfigError(f"{path}:{reader.line_num}: {error}{hint}") from None
