"""A small ward: three tables in memory, and the same in a SQLite file."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from components.ehr.tables import ARROW_TYPES, Tables

SQL_TYPES = {"int": "INTEGER", "float": "REAL", "text": "TEXT"}
WARD = {
    "beds": (
        ("ID", "ROOM", "NOTE", "WEIGHT", "SINCE"),
        ("int", "int", "text", "float", "text"),
        [
            (1, 7, "window", 60.5, "2105-01-01 10:00:00"),
            (2, 7, "door, left", None, "2105-03-01 10:00:00"),
            (3, 8, None, 71.25, "2104-12-31 23:59:59"),
            (4, None, "a <= b", 71.25, "2105-03-01 10:00:00"),
            (5, 8, "window", 60.5, "2105-02-01 10:00:00"),
        ],
    ),
    "codes": (("CODE", "TITLE"), ("text", "text"), [("0389", "sepsis"), ("389", "hearing loss"), ("V10", "none")]),
    "empty": (("ID", "NOTE", "WEIGHT"), ("int", "text", "float"), []),
}
CLOCK = "2105-12-31 23:59:00"


def in_memory(tables) -> Tables:
    """Tables from name -> columns, their types (int, float, text), rows."""
    made = {}
    for name, (columns, types, rows) in tables.items():
        values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        arrays = [pa.array(list(cells), ARROW_TYPES[kind]) for cells, kind in zip(values, types, strict=True)]
        made[name] = pa.Table.from_arrays(arrays, names=list(columns))
    return Tables(tables=made)


def ward() -> Tables:
    return in_memory(WARD)


def ward_file(path: Path, tables=WARD) -> Path:
    with closing(sqlite3.connect(path)) as made:
        for name, (columns, types, rows) in tables.items():
            declared = ", ".join(f"{column} {SQL_TYPES[kind]}" for column, kind in zip(columns, types, strict=True))
            made.execute(f"CREATE TABLE {name} ({declared})")
            made.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
        made.commit()
    return path
