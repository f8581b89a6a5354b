"""Sections and tables on the terminal: a table that is too wide is printed as several, nothing is cut."""

import os
from collections.abc import Sequence
from shutil import get_terminal_size
from textwrap import fill

from runner.results.cells import plain, texts_of
from runner.results.sheets import ARROWS, Section, Sheet

_WIDE, _TEXT = 140, 110  # characters of a line where no terminal is there to ask; of a line of text
_GAP = 3  # characters between columns
_MANY = 12  # rows
_BETTER = " " + "".join(ARROWS.values())


def show_section(section: Section) -> None:
    """Print the tables of a section, then the sentences that explain them."""
    notes: Sequence[str] = ()
    for sheet in section.sheets:
        if notes:
            print()  # noqa: T201
        show_sheet(sheet)
        notes = sheet.lines
    if section.intro:
        show_text(section.intro)


def show_sheet(sheet: Sheet, *, single: bool = False) -> None:
    """Print a table and its notes; columns without any content are left out. ``single``: see ``show``."""
    if sheet.rows:
        places = range(len(sheet.columns))
        kept = [n for n in places if n < sheet.keys or any(row[n] not in ("", None) for row in sheet.rows)]
        heads = [f"{one.name} {ARROWS[one.better]}".strip() + f"\n{one.named_unit}".rstrip() for one in sheet.columns]
        body = [["\n".join(filter(None, texts_of(row[n], sheet.columns[n]))) for n in kept] for row in sheet.rows]
        show([heads[n] for n in kept], body, sheet.title, sheet.keys, single=single)
    else:
        print(plain(sheet.title))  # noqa: T201
    for line in sheet.lines:
        show_text(line)


def show_text(text: str) -> None:
    """Print a text in lines of a readable length."""
    room = min(_TEXT, get_terminal_size((_TEXT, 0)).columns)
    print(fill(plain(text), room, break_long_words=False, break_on_hyphens=False))  # noqa: T201


def show(
    head: Sequence[str], body: Sequence[Sequence[str]], title: str, keys: int = 1, *, single: bool = False
) -> None:
    """Print a table, as several where it is too wide, each with the first ``keys`` columns: nothing is cut; ``single``:
    only the first of these, with the names of the other columns. Many rows are grouped by what is before the first
    slash of their name."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDE
    with console.capture() as output:  # rich takes a closed pipe for a failure
        if title:  # may be wider than its table
            console.print(plain(title), style="italic", markup=False, highlight=False, soft_wrap=True)
        parts = split_columns(head, body, console.width, keys)
        for places in parts[:1] if single else parts:
            table = Table(*(escape(_make_printable(head[place])) for place in places), box=box.SIMPLE_HEAD)
            for place, column, width in zip(places, table.columns, _widths(head, body, places), strict=True):
                most = _max_width(place, console.width, keys)
                column.overflow, column.no_wrap, column.max_width = "fold", width <= most, most
            for column in table.columns[keys:]:
                column.justify = "right"
            group = ""
            for row in body:
                if len(body) > _MANY and group and "/" in row[0] and row[0].partition("/")[0] != group:
                    table.add_section()
                group = row[0].partition("/")[0]
                table.add_row(*(escape(_make_printable(row[place])) for place in places))
            console.print(table)
    print(output.get(), end="")  # noqa: T201
    if single and (
        others := [head[place].split("\n")[0].rstrip(_BETTER) for part in parts[1:] for place in part[keys:]]
    ):
        show_text(f"more columns in a wider terminal or with --all: {', '.join(others)}")


def _make_printable(cell: str) -> str:
    """A cell without characters that a terminal would obey; its line breaks stay."""
    return cell if cell.isprintable() else "\n".join(plain(line) for line in cell.split("\n"))


def split_columns(head: Sequence[str], body: Sequence[Sequence[str]], room: int, keys: int = 1) -> list[list[int]]:
    """The columns of each table that a table has to be split into, the first ``keys`` in all; what is wider than half
    of the room, and of several keys what is wider than its share, is folded."""
    widths = _widths(head, body, range(len(head)))
    widths = [min(width, _max_width(place, room, keys)) + _GAP for place, width in enumerate(widths)]
    parts: list[list[int]] = []
    for place in range(keys, len(head)):
        if not parts or sum(widths[other] for other in (*parts[-1], place)) >= room:
            parts.append(list(range(keys)))
        parts[-1].append(place)
    return parts or [list(range(keys))]


def _max_width(place: int, room: int, keys: int) -> int:
    return room // (keys + 1) if place < keys else room // 2


def _widths(head: Sequence[str], body: Sequence[Sequence[str]], places: Sequence[int]) -> list[int]:
    from rich.cells import cell_len

    return [max(cell_len(part) for row in (head, *body) for part in row[place].split("\n")) for place in places]
