"""Filled sheets, read back and checked: every finding with its file, its line and what would be right."""

import csv
import io
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from components.core.errors import ConfigError
from runner.config.errors import nearest
from runner.rating.sheets import ITEM, Key

Picked = Mapping[str, tuple[str, ...]]  # field -> categories
_TOLD = 12  # findings of a sheet that are printed
_HARMLESS = "'"  # what our own tables have before a cell that looks like a formula


@dataclass(frozen=True)
class Sheet:
    """One rater's sheet: ``picked`` code -> field -> categories."""

    rater: str
    picked: Mapping[str, Picked]


@dataclass
class _Reading:
    """A sheet on its way."""

    path: Path
    key: Key
    picked: dict[str, Picked] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    def bad(self, line: int, text: str) -> None:
        """Note a finding."""
        self.findings.append(f"{self.path}:{line}: {text}")

    def row(self, line: int, row: Mapping[str, str]) -> None:
        """Take one row."""
        code = row[ITEM].strip()
        if code not in self.key.items:
            return self.bad(line, f"item {code!r} is none of these sheets; {nearest(code, self.key.items)}")
        if code in self.picked:
            return self.bad(line, f"item {code!r} stands here a second time; leave one of the two")
        self.picked[code] = {name: self.value(line, code, name, row[name]) for name in self.key.rubric.fields}
        return None

    def value(self, line: int, code: str, name: str, text: str) -> tuple[str, ...]:
        """What a cell picks."""
        try:
            return self.key.rubric.fields[name].read(text.strip().removeprefix(_HARMLESS))
        except ValueError as error:
            self.bad(line, f"{name} of item {code} {error}")
            return ()


def read_sheets(paths: Sequence[Path], key: Key) -> list[Sheet]:
    """The sheets of several raters, by the names of their files. Raises ConfigError with all that is wrong."""
    names = [path.stem for path in paths]
    names = [str(path) if names.count(path.stem) > 1 else path.stem for path in paths]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError(f"a sheet is given twice among {', '.join(map(str, paths))}; agreement needs two raters")
    read = [_read(path, key) for path in paths]
    if findings := [finding for one in read for finding in one.findings]:
        more = [f"and {len(findings) - _TOLD} more"] if len(findings) > _TOLD else []
        raise ConfigError("\n".join([*findings[:_TOLD], *more]))
    return [Sheet(name, one.picked) for name, one in zip(names, read, strict=True)]


def _read(path: Path, key: Key) -> _Reading:
    reading = _Reading(path, key)
    rows = list(_rows(path))
    places = _columns(path, rows[0][1] if rows else (), list(key.rubric.fields))
    for line, cells in rows[1:]:
        if any(cell.strip() for cell in cells):
            reading.row(line, {name: cells[at] if at < len(cells) else "" for name, at in places.items()})
    if missing := [code for code in key.items if code not in reading.picked and not reading.findings]:
        reading.bad(rows[-1][0], f"{len(missing)} items are missing: {', '.join(missing[:_TOLD])}")
    return reading


def _rows(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """Rows with the line they begin at; commas, semicolons or tabs between cells, as spreadsheets save them."""
    text = text_of(path)
    head = text.lstrip().removeprefix('"item"').removeprefix(ITEM)[:1]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=head if head in (";", "\t") else ",", strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise ConfigError(f"{path}:{line}: no CSV ({error}); save the sheet as CSV again") from None


def text_of(path: Path) -> str:
    """The text of a sheet in UTF-8, in UTF-16 with its mark, or in an old encoding of one byte a letter.

    What is read of it is ASCII in all of these. Raises ConfigError.
    """
    try:
        raw = path.read_bytes()
        wide = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        text = raw.decode("utf-16") if wide else raw.decode("utf-8-sig", errors="replace")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no sheet that can be read ({error}); save it as CSV in UTF-8") from None
    if "\0" in text:
        raise ConfigError(f"{path} is no text, but perhaps a spreadsheet's own format; save it as CSV in UTF-8")
    return text


def _columns(path: Path, head: Sequence[str], fields: Sequence[str]) -> dict[str, int]:
    """Where the item and the fields stand. The texts between them may be left out."""
    names = [cell.partition("[")[0].strip() for cell in head]
    for name in (ITEM, *fields):
        if names.count(name) != 1:
            found = "is missing" if name not in names else "stands there twice"
            raise ConfigError(f"{path}:1: the column {name!r} {found}; a sheet has {ITEM}, {', '.join(fields)}")
    return {name: names.index(name) for name in (ITEM, *fields)}
