"""Golden vectors of EHRAgent's code, run in the real sandbox: every ``medagents_ehragent_*.json`` in GOLDEN_DIR."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.ehr.columns import prepare
from components.ehr.metadata import metadata
from components.sandbox import Library
from tests.wards import sandbox

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
FILES = {path: orjson.loads(path.read_bytes()) for path in sorted(FOLDER.glob("medagents_ehragent_*.json"))}
TYPES = {"int": "integer", "float": "real", "text": "text"}
CLOCKS = {"2105-12-31 23:59:00": "mimic_iii"}  # the clock of a cell is that of its database


def cases() -> list[Any]:
    return [
        pytest.param(path, case, id=f"{path.stem}-{case['id']}")
        for path, data in FILES.items()
        for case in data.get("program_cases", ())
    ]


def statements(tables: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The statements that create the tables of a file, and their rows."""
    for name, table in tables.items():
        columns = [f'"{c}" {TYPES[t]}' for c, t in zip(table["columns"], table["types"], strict=True)]
        yield f'create table "{name}" ({", ".join(columns)})', []
        yield f'insert into "{name}" values ({", ".join("?" * len(columns))})', table["rows"]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory) -> dict[Path, Library]:
    """The database of each file as the functions of its cells."""
    made = {}
    for path, data in FILES.items():
        folder = tmp_path_factory.mktemp(path.stem)
        file = folder / "mimic_iii.sqlite"
        with closing(sqlite3.connect(file)) as connection:
            for statement, rows in statements(data["tables"]):
                connection.executemany(statement, rows) if rows else connection.execute(statement)
            connection.commit()
        columns = prepare(file, metadata("mimic_iii"), folder / "columns")
        arguments = {"file": str(file), "tables": str(columns), "database": "mimic_iii"}
        made[path] = Library("components.ehr.cell", arguments, (file, columns))
    return made


@pytest.mark.parametrize(("path", "case"), cases())
async def test_a_program_gives_the_expected_result(path, case, libraries):
    assert CLOCKS[case["now"]] == "mimic_iii" and set(case) <= {"id", "cell", "now", "expected", "note"}
    session = sandbox().open(libraries[path])
    ran = await session.run(case["cell"])
    session.close()
    expected = case["expected"]
    assert ran.status == expected["status"] and set(expected) <= {"status", "answer", "error_kind"}, ran
    assert ran.answer == expected.get("answer", "")
    if kind := expected.get("error_kind"):
        assert ran.error is not None and kind in (ran.error.kind, ran.error.type)
