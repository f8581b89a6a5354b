"""Sheets for raters: a table per rater (CSV, and a form that saves one), and the key, which is not for raters. Filled
sheets are read and checked: every error names file, line and the valid values."""

import csv
import io
import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TypedDict

from markupsafe import Markup

from components.core.errors import ConfigError
from components.files.rows import require_file
from components.rubrics.rubric import NONE, Rubric
from components.text.words import written_out
from runner.config.build import check
from runner.config.catalogue import read_named
from runner.config.errors import nearest, with_place
from runner.results.cells import spreadsheet_text
from runner.results.render.formats import asset, digest, render
from runner.results.runs import Run

KEY, SHEETS, GUIDE = "key.json", "sheets", "rubric.md"
ITEM, NOTE = "item", "note"
_SHOWN = 12  # findings of a sheet that are printed
_HARMLESS = "'"  # what our own tables have before a cell that looks like a formula
Picked = Mapping[str, tuple[str, ...]]  # field -> categories


def load(folder: Path, name: str) -> Rubric:
    """The rubric of this name in a folder, or of this path. Raises ConfigError, which says where it is wrong."""
    path, values = read_named(folder, name, f"no rubric {name!r}")
    return _rubric(values, path)


def _rubric(values: object, path: Path) -> Rubric:
    with with_place(path):
        if not isinstance(values, Mapping):
            raise ConfigError(f"a rubric is a mapping, found {type(values).__name__}")
        return check(Rubric, values)


@dataclass(frozen=True)
class Item:
    """An episode to rate. ``cluster``: items of one are not independent (a patient). ``texts``: title -> text."""

    run: Run
    sample_id: str
    epoch: int
    cluster: str
    texts: Mapping[str, str]
    images: Sequence[str] = ()


class Origin(TypedDict):
    """Where an item is from: id and folder of its run, sample, epoch, and the cluster of the sample."""

    run: str
    folder: str
    sample_id: str
    epoch: int
    cluster: str


@dataclass(frozen=True)
class Key:
    """What the codes of items stand for."""

    rubric: Rubric
    seed: int
    items: Mapping[str, Origin]

    @cached_property
    def set(self) -> str:
        """The prefix of all codes of one draw."""
        return next(iter(self.items)).partition("-")[0]

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        content = {"schema": 1, "seed": self.seed, "rubric": asdict(self.rubric), "items": self.items}
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Key":
        """Read one. Raises ConfigError for a file that is not a key."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            rubric, seed, items = content["rubric"], int(content["seed"]), dict(content["items"])
            if not items or not all({"run", "sample_id", "epoch", "cluster"} <= set(one) for one in items.values()):
                raise ValueError("items need run, sample_id, epoch and cluster")
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"{path} is not a key of rating sheets ({error!r})") from None
        return cls(_rubric(rubric, path), seed, items)


def write_sheets(items: Sequence[Item], rubric: Rubric, folder: Path, raters: int, seed: int) -> list[Path]:
    """Write the key, and for raters their sheets and a guide. Returns what was written. Raises ConfigError if sheets
    exist already: they may be filled."""
    if (folder / SHEETS).exists() or (folder / KEY).exists():
        raise ConfigError(f"{folder} has sheets already, which may be filled; give --out another folder")
    # A code says of which draw an item is, and nothing of the item.
    ids = [[str(one.run.manifest.get("id")), one.sample_id, one.epoch] for one in items]
    draw = sha256(json.dumps([rubric.digest, seed, ids]).encode()).hexdigest()[:6]
    legible = [replace(one, texts={title: written_out(text) for title, text in one.texts.items()}) for one in items]
    coded = {f"{draw}-{number:03d}": item for number, item in enumerate(legible, 1)}
    (folder / SHEETS).mkdir(parents=True)
    origins: dict[str, Origin] = {
        code: {
            "run": item.run.manifest.get("id", ""), "folder": item.run.folder.name, "sample_id": item.sample_id,
            "epoch": item.epoch, "cluster": item.cluster,
        }
        for code, item in coded.items()
    }  # fmt: skip
    key = Key(rubric, seed, origins)
    key.write(folder / KEY)
    written = [folder / SHEETS / GUIDE]
    written[0].write_text(guide(rubric), encoding="utf-8")
    fields = [f"{name} [{field.how}: {' | '.join(field.categories)}]" for name, field in rubric.fields.items()]
    head = [ITEM, *items[0].texts, *fields, NOTE]
    for number in range(1, raters + 1):
        codes = Random(f"{seed}/{key.set}/rater {number}").sample(list(coded), len(coded))
        table, page = (folder / SHEETS / f"rater_{number}.{kind}" for kind in ("csv", "html"))
        write_table(table, head, [[code, *coded[code].texts.values(), *("" for _ in fields), ""] for code in codes])
        page.write_text(form(rubric, {code: coded[code] for code in codes}, table.name), encoding="utf-8")
        written += [table, page]
    return [*written, folder / KEY]


def write_table(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a CSV that spreadsheets can open, without formulas that they would run."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([[spreadsheet_text(cell) for cell in row] for row in (head, *rows)])


def guide(rubric: Rubric) -> str:
    """Instructions for raters, as Markdown; without the rubric's source, which can name what is rated."""
    lines = [f"# {rubric.question}", "", *([rubric.note, ""] if rubric.note else [])]
    for name, field in rubric.fields.items():
        lines += [f"## {name}", "", f"{field.question} Write {field.how} these:", ""]
        lines += [f"- `{category}`: {sentence}" for category, sentence in field.categories.items()]
        lines.append("")
    lines += ["Every item needs a value for each; `note` is yours. Rate alone, and in the order of your sheet."]
    return "\n".join(lines) + "\n"


def form(rubric: Rubric, items: Mapping[str, Item], file: str) -> str:
    """One HTML page for a rater, with a button that saves ``file``: items to read and the rubric to fill. It needs no
    network and runs its own script only, whatever the texts hold; the browser stores what was filled."""
    script = asset("rating/form.js")
    none = {NONE: "None of these applies."}
    choices = {
        name: {**field.categories, **(none if field.pick == "several" else {})} for name, field in rubric.fields.items()
    }
    return render(
        "rating/form.html.jinja", rubric=rubric, items=items, file=file, set=next(iter(items)).partition("-")[0],
        choices=choices, script=Markup(script), digest=digest(script), style=Markup(asset("rating/form.css")),
    )  # fmt: skip


@dataclass(frozen=True)
class RaterSheet:
    """One rater's sheet: ``picked`` code -> field -> categories."""

    rater: str
    picked: Mapping[str, Picked]


def read_sheets(paths: Sequence[Path], key: Key) -> list[RaterSheet]:
    """The sheets of several raters, by the names of their files. Raises ConfigError with all that is wrong."""
    stems = [path.stem for path in paths]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError(f"a sheet is given twice among {', '.join(map(str, paths))}; agreement needs two raters")
    findings: list[str] = []
    names = [str(path) if stems.count(path.stem) > 1 else path.stem for path in paths]
    sheets = [RaterSheet(name, _read_picks(path, key, findings)) for name, path in zip(names, paths, strict=True)]
    if findings:
        more = [f"and {len(findings) - _SHOWN} more"] if len(findings) > _SHOWN else []
        raise ConfigError("\n".join([*findings[:_SHOWN], *more]))
    return sheets


def _read_picks(path: Path, key: Key, findings: list[str]) -> dict[str, Picked]:
    """What a sheet says of each item; appends to ``findings`` what is wrong."""
    fields, rows = key.rubric.fields, list(_rows(path))
    names = [cell.partition("[")[0].strip() for cell in (rows[0][1] if rows else ())]
    wanted = (ITEM, *fields)  # the texts between them may be left out
    if wrong := next((name for name in wanted if names.count(name) != 1), None):
        problem = "is duplicated" if wrong in names else "is missing"
        raise ConfigError(f"{path}:1: the column {wrong!r} {problem}; a sheet has {', '.join(wanted)}")
    positions = {name: names.index(name) for name in wanted}
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
        raw = require_file(path, "give the files that the raters returned", "sheet").read_bytes()
        wide = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        text = raw.decode("utf-16") if wide else raw.decode("utf-8-sig", errors="replace")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a sheet that can be read ({error}); save it as CSV in UTF-8") from None
    if "\0" in text:
        raise ConfigError(f"{path} is not a text, but perhaps a spreadsheet's own format; save it as CSV in UTF-8")
    return text
