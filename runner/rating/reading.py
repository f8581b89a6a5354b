"""Filled sheets, read back and checked: every finding with its file, its line and what would be right."""

import csv
import io
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import ConfigError
from runner.config.errors import nearest
from runner.rating.sheets import ITEM, Key

Picked = Mapping[str, tuple[str, ...]]  # field -> categories
_SHOWN = 12  # findings of a sheet that are printed
_HARMLESS = "'"  # what our own tables have before a cell that looks like a formula


@dataclass(frozen=True)
class Sheet:
    """One rater's sheet: ``picked`` code -> field -> categories."""

    rater: str
    picked: Mapping[str, Picked]


def read_sheets(paths: Sequence[Path], key: Key) -> list[Sheet]:
    """The sheets of several raters, by the names of their files. Raises ConfigError with all that is wrong."""
    stems = [path.stem for path in paths]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError(f"a sheet is given twice among {', '.join(map(str, paths))}; agreement needs two raters")
    findings: list[str] = []
    sheets = [
        Sheet(str(path) if stems.count(path.stem) > 1 else path.stem, _picked(path, key, findings)) for path in paths
    ]
    if findings:
        more = [f"and {len(findings) - _SHOWN} more"] if len(findings) > _SHOWN else []
        raise ConfigError("\n".join([*findings[:_SHOWN], *more]))
    return sheets


def _picked(path: Path, key: Key, findings: list[str]) -> dict[str, Picked]:
    """What a sheet says of each item; appends to ``findings`` what is wrong."""
    fields, rows = key.rubric.fields, list(_rows(path))
    positions = _columns(path, rows[0][1] if rows else (), list(fields))
    picked: dict[str, Picked] = {}
    before = len(findings)
    for line, cells in rows[1:]:
        if not any(cell.strip() for cell in cells):
            continue
        row = {name: cells[at] if at < len(cells) else "" for name, at in positions.items()}
        code, values = row[ITEM].strip(), {}
        if code not in key.items:
            findings.append(f"{path}:{line}: item {code!r} is not in these sheets; {nearest(code, key.items)}")
            continue
        if code in picked:
            findings.append(f"{path}:{line}: item {code!r} is duplicated; leave one of the two")
            continue
        for name, field in fields.items():
            try:
                values[name] = field.read(row[name].strip().removeprefix(_HARMLESS))
            except ValueError as error:
                findings.append(f"{path}:{line}: {name} of item {code} {error}")
        picked[code] = values
    if len(findings) == before and (missing := [code for code in key.items if code not in picked]):
        findings.append(f"{path}:{rows[-1][0]}: {len(missing)} items are missing: {', '.join(missing[:_SHOWN])}")
    return picked


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
        raise ConfigError(f"{path}:{line}: not a CSV ({error}); save the sheet as CSV again") from None


def text_of(path: Path) -> str:
    """The text of a sheet in UTF-8, UTF-16 with its mark, or an encoding that extends ASCII. Raises ConfigError."""
    try:
        raw = path.read_bytes()
        wide = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        text = raw.decode("utf-16") if wide else raw.decode("utf-8-sig", errors="replace")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a sheet that can be read ({error}); save it as CSV in UTF-8") from None
    if "\0" in text:
        raise ConfigError(f"{path} is not a text, but perhaps a spreadsheet's own format; save it as CSV in UTF-8")
    return text


def _columns(path: Path, head: Sequence[str], fields: Sequence[str]) -> dict[str, int]:
    """The columns of the item and the fields. The texts between them may be left out."""
    names = [cell.partition("[")[0].strip() for cell in head]
    if wrong := next((name for name in (ITEM, *fields) if names.count(name) != 1), None):
        problem = "is duplicated" if wrong in names else "is missing"
        raise ConfigError(f"{path}:1: the column {wrong!r} {problem}; a sheet has {ITEM}, {', '.join(fields)}")
    return {name: names.index(name) for name in (ITEM, *fields)}
