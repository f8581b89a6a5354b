"""``python -m runner.report annotate`` and ``ratings``: sheets for raters, and their results."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from components.core.errors import ConfigError
from runner.config.catalogue import CONF
from runner.rating.agreement import Agreement
from runner.rating.drawing import draw
from runner.rating.reading import read_sheets, text_of
from runner.rating.result import Result
from runner.rating.rubrics import load
from runner.rating.sheets import KEY, SHEETS, Key, write_sheets, write_table
from runner.results.render.written import markdown_of
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Sheet, Value
from runner.results.table import plain, show_sheet

FILE, READ, OPEN = "ratings.json", "ratings.md", "disagreements.csv"
MODEL = "the model"
_COLUMNS = [Column("field"), Column("items", "n"), Column("all agree"), Column("kappa")]


def annotate(
    runs: Sequence[Run], name: str, home: Path, *, n: int | None = None, raters: int = 2, seed: int = 0
) -> None:
    """Write sheets for raters below ``home``. Raises ConfigError."""
    if (n is not None and n < 1) or raters < 1:
        raise ConfigError(f"--n {n} --raters {raters}: at least one item and one rater are needed")
    rubric = load(CONF / "rubrics", name)
    wanted = rubric.draw.n if n is None else n
    items = draw(runs, rubric, wanted, seed)
    paths = write_sheets(items, rubric, home / "ratings" / rubric.name, raters, seed)
    for path in paths:
        print("written to", path)  # noqa: T201
    if len(items) < wanted:
        print(f"note: {len(items)} of {wanted} items; there are no more that this rubric draws")  # noqa: T201
    classes = {str((run.notes.get("dataset") or {}).get("privacy", "open")) for run in runs} - {"open"}
    if classes:
        print(f"note: the sheets hold {' and '.join(sorted(classes))} data; the terms of use hold for raters too")  # noqa: T201
    print(f"raters get what is in {SHEETS}/, and not {KEY}; read what they return: ratings FOLDER --sheets SHEET SHEET")  # noqa: T201


def show_ratings(runs: Sequence[Run], sheets: Sequence[str], home: Path) -> None:
    """Read sheets back, print what they say and keep it beside the key. Raises ConfigError."""
    paths = [Path(sheet) for sheet in sheets]
    place = _place(home, paths)
    key = Key.read(place / KEY)
    result = Result(key, read_sheets(paths, key), runs)
    found, tables = result.as_dict(), list(_tables(result))
    for table in tables:
        show_sheet(table)
    (place / FILE).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    text = "\n\n".join([f"# {plain(key.rubric.question)}", *map(_markdown, tables)])
    (place / READ).write_text(text + "\n", encoding="utf-8")
    written = [place / READ, place / FILE]
    if rows := result.disagreements():
        head = list(dict.fromkeys(name for row in rows for name in row))
        write_table(place / OPEN, [*head, "decided"], [[*(row.get(name, "") for name in head), ""] for row in rows])
        written.append(place / OPEN)
        values = f"{len(rows)} value{'s' if len(rows) > 1 else ''}"
        print(f"raters differ on {values}, for adjudication in {place / OPEN}")  # noqa: T201
    print("written to", *written)  # noqa: T201


def _place(home: Path, sheets: Sequence[Path]) -> Path:
    """The folder with the key of these sheets: the codes of a draw begin alike. Raises ConfigError."""
    found = sorted(path.parent for path in (home / "ratings").glob(f"*/{KEY}"))
    if len(found) == 1:
        return found[0]
    for place in found:
        drawn = Key.read(place / KEY).set
        if any(f"{drawn}-" in text_of(sheet) for sheet in sheets if sheet.is_file()):
            return place
    have = ", ".join(map(str, found)) or "none"
    raise ConfigError(f"no {KEY} of these sheets in {home / 'ratings'}/*/ (there are {have}); name another --out")


def _tables(result: Result) -> Iterator[Sheet]:
    """Shares, agreement of the raters, agreement of the model with each of them."""
    rubric, groups = result.key.rubric, result.groups
    grades = any(result.grades.values())
    rows: list[list[Cell]] = []
    for field, category in rubric.marks():
        shares = [result.shares(field, category)[group] for group in groups]
        cells = [*shares, *([result.graded(field, category)] if grades else [])]
        rows.append([f"{field}/{category}", *(None if one is None else Value.of(one) for one in cells)])
    raters = f"{len(result.sheets)} rater{'s' if len(result.sheets) > 1 else ''}"
    notes = [f"{raters}, {len(result.key.items)} items; source of the categories: {rubric.source}"]
    if grades:
        notes.append(f"{MODEL}: a model's grades of those of the items that it graded, by the same rubric")
    if others := ", ".join(run.folder.name for run in result.otherwise):
        notes.append(f"left out: a model's grades of {others}, which are by another rubric of this name")
    if rubric.draw.by or len(groups) > 1:
        over = " and ".join([*(["runs"] if len(groups) > 1 else []), *rubric.draw.by])
        notes.append(f"drawn evenly over {over}: shares are of the items drawn, not of all that there are")
    names = ["field", *groups, *([MODEL] if grades else [])]
    yield Sheet(f"{rubric.name}: share of items", [Column(name) for name in names], rows, notes)
    if agreements := result.agreements():
        kind = next(iter(agreements.values())).kind
        yield Sheet(f"agreement of the raters ({kind})", _COLUMNS, _lines(agreements))
    for rater, found in result.judged().items():
        yield Sheet(f"agreement of the model's grades with {plain(rater)} (Cohen's kappa)", _COLUMNS, _lines(found))


def _lines(found: Mapping[str, Agreement]) -> list[list[Cell]]:
    return [[name, one.n, one.share, _kappa(one)] for name, one in found.items()]


def _kappa(one: Agreement) -> Value:
    return Value(one.kappa, one.ci_low, one.ci_high, no_interval=one.no_interval or "")


def _markdown(sheet: Sheet) -> str:
    return "\n\n".join([f"## {sheet.title}", markdown_of(sheet), *map(plain, sheet.notes)])
