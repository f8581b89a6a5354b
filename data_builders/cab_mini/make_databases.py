"""Make the three SQLite databases of cab_mini with their ``tables.json``, and ask them.

A database is made in memory and comes out as bytes; it holds no time of making. Its bytes may differ
with SQLite's version, its dump does not.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from data_builders.cab_mini.hospital import FORMAT, Hospital
from data_builders.cab_mini.hospital_tables import Mimic, Tables, write_eicu

PAGE_BYTES = 1024
TYPES = {"n": "number", "i": "number", "t": "text", "d": "time"}
N_PATIENTS = {"mimic_iv": 36, "mimic_iii": 36, "eicu": 34}


class Schema:
    """Tables, columns and keys of one database, from ``schemas.yaml``."""

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self.name, self.clock = name, str(table["clock"])
        self.columns = {
            name: [(column[:-2], column[-1]) for column in columns.split()] for name, columns in table["tables"].items()
        }
        self.unique = set(table["unique"])
        self.keys = [tuple(key.split()) for key in table["keys"]]
        self.listed = [tuple(key.split()) for key in table["listed"]]

    def statements(self) -> Iterable[str]:
        """One CREATE TABLE for each table; the first column is the primary key."""
        for table, columns in self.columns.items():
            parts = [self._column(table, name, kind) for name, kind in columns]
            for child, parent in self.keys:
                if child.startswith(f"{table}."):
                    other, column = parent.split(".")
                    parts.append(f"FOREIGN KEY({child.split('.')[1]}) REFERENCES {other}({column})")
            yield f"CREATE TABLE {table} ({', '.join(parts)})"

    def _column(self, table: str, name: str, kind: str) -> str:
        if name == self.columns[table][0][0]:
            return f"{name} INTEGER PRIMARY KEY"
        whole = kind == "i" or (kind == "n" and (name.endswith("id") or name == "age"))
        unique = " UNIQUE" if f"{table}.{name}" in self.unique else ""
        return f"{name} {'INTEGER' if whole else 'REAL' if kind == 'n' else 'TEXT'}{unique}"

    def spider(self) -> list[dict[str, Any]]:
        """The content of ``tables.json``: a list with one object in the form of the Spider benchmark."""
        tables = list(self.columns)
        flat = [(table, name, kind) for table, columns in self.columns.items() for name, kind in columns]
        place = {f"{table}.{name}": index for index, (table, name, _) in enumerate(flat, start=1)}
        original = [[-1, "*"], *([tables.index(table), name] for table, name, _ in flat)]
        return [
            {
                "db_id": self.name,
                "table_names_original": tables,
                "table_names": [table.replace("_", " ") for table in tables],
                "column_names_original": original,
                "column_names": [[index, str(name).replace("_", " ")] for index, name in original],
                "column_types": ["text", *(TYPES[kind] for _, _, kind in flat)],
                "primary_keys": [place[f"{table}.{columns[0][0]}"] for table, columns in self.columns.items()],
                "foreign_keys": [[place[child], place[parent]] for child, parent in (*self.keys, *self.listed)],
            }
        ]


class Database:
    """One database in memory, with its clock."""

    def __init__(self, schema: Schema, hospital: Mapping[str, Any]) -> None:
        self.schema = schema
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        for statement in schema.statements():
            self.connection.execute(statement)
        for table, rows in rows_of(schema, hospital).items():
            self._fill(table, rows)
        self.connection.commit()
        broken = self.connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise ValueError(f"{schema.name}: rows without their parent: {broken[:3]}")

    def _fill(self, table: str, rows: list[dict[str, Any]]) -> None:
        if table in self.schema.columns:
            names = [name for name, _ in self.schema.columns[table]]
            marks = ", ".join("?" * len(names))
            values = [[row.get(name) for name in names] for row in rows]
            self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)

    def run(self, sql: str) -> sqlite3.Cursor:
        """A statement; ``current_time`` stands for the fixed time of the database."""
        return self.connection.execute(sql.replace("current_time", f"'{self.schema.clock}'"))

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        return self.run(sql).fetchall()

    def files(self) -> dict[str, bytes]:
        """The folder of the database."""
        folder = f"databases/{self.schema.name}"
        spider = json.dumps(self.schema.spider(), indent=1) + "\n"
        return {
            f"{folder}/{self.schema.name}.sqlite": bytes(self.connection.serialize()),
            f"{folder}/tables.json": spider.encode(),
        }


def rows_of(schema: Schema, tables: Mapping[str, Any]) -> Tables:
    """The rows of one database: its own patients, from its own seed."""
    clock = datetime.strptime(schema.clock, FORMAT)
    n_patients, eicu = N_PATIENTS[schema.name], schema.name == "eicu"
    stays = Hospital(tables, schema.name, clock, n_patients, days=720, always_unit=eicu).stays()
    if eicu:
        return write_eicu(tables, stays)
    modern = schema.name == "mimic_iv"
    return Mimic(tables, 90000213 if modern else 90213, modern).write(stays)
