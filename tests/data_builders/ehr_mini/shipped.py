"""The shipped files of ehr_mini, as the tests read them."""

import json
import sqlite3
from contextlib import closing
from functools import cache
from typing import Any

from data_builders.ehr_mini.dealing import SPLITS
from data_builders.ehr_mini.schema import SHIPPED, Schema

DATABASES = ("mimic_iii", "eicu", "treqs")


@cache
def records(database: str, split: str) -> list[dict[str, Any]]:
    return json.loads((SHIPPED / database / f"{split}.json").read_text(encoding="utf-8"))


def answerable(database: str, split: str) -> list[dict[str, Any]]:
    return [record for record in records(database, split) if not record["is_impossible"]]


def every_record() -> dict[str, dict[str, Any]]:
    return {one["id"]: one for database in DATABASES for split in SPLITS for one in records(database, split)}


def reading(database: str) -> closing[sqlite3.Connection]:
    path = SHIPPED / database / f"{database}.sqlite"
    return closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True))


@cache
def tables(database: str) -> dict[str, list[dict[str, Any]]]:
    """Every table's rows, by column names."""
    found = {}
    with reading(database) as connection:
        connection.row_factory = sqlite3.Row
        for table in Schema.of(database).tables:
            found[table] = [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]
    return found
