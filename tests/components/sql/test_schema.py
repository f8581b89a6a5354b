import json
import sqlite3
from contextlib import closing

import pytest

from components.sql import SqlError
from components.sql.reading import database_of

SCRIPT = """
CREATE TABLE Patients(id INT PRIMARY KEY, Sex TEXT);
CREATE TABLE stays(stay_id INT, patient INT REFERENCES patients(id), intime TIMESTAMP(0));
CREATE VIEW women AS SELECT * FROM Patients WHERE Sex = 'f';
"""
SPIDER = {
    "db_id": "ward",
    "table_names_original": ["Patients", "stays"],
    "column_names_original": [[-1, "*"], [0, "id"], [0, "Sex"], [1, "stay_id"], [1, "patient"]],
    "column_types": ["text", "number", "text", "number", "number"],
    "primary_keys": [1],
    "foreign_keys": [[4, 1]],
}


def made(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCRIPT)
    return path


def test_the_schema_of_the_database_itself(tmp_path):
    schema = database_of(made(tmp_path / "ward.db")).schema()
    assert schema.text == (
        "patients(id, sex)\nstays(stay_id, patient, intime)\nwomen(id, sex)\nstays.patient = patients.id"
    )
    assert schema.tables[0].primary_key == ["id"] and schema.tables[1].columns["intime"] == "timestamp(0)"


@pytest.mark.parametrize("entries", [[SPIDER], [{"db_id": "other"}, SPIDER]])
def test_the_schema_of_tables_json(tmp_path, entries):
    made(tmp_path / "ward" / "ward.sqlite")
    (tmp_path / "ward" / "tables.json").write_text(json.dumps(entries))
    schema = database_of(tmp_path / "ward").schema()
    assert schema.text == "patients(id, sex)\nstays(stay_id, patient)\nstays.patient = patients.id"
    assert schema.tables[0].primary_key == ["id"] and schema.tables[0].columns == {"id": "number", "Sex": "text"}


@pytest.mark.parametrize("inside", ["ward.sqlite", "deep/x.db", "a/b/x.sqlite3"])
def test_a_folder_holds_one_database_itself_or_deeper(tmp_path, inside):
    file = made(tmp_path / "ward" / inside)
    (tmp_path / "ward" / "notes.txt").write_text("x")
    (tmp_path / "ward" / "tables.json").write_text(json.dumps([SPIDER]))
    found = database_of(tmp_path / "ward")
    assert (found.id, found.file, found.schema_file) == ("ward", file, tmp_path / "ward" / "tables.json")


def test_the_file_itself_is_named_by_its_stem(tmp_path):
    found = database_of(made(tmp_path / "ward.sqlite"))
    assert (found.id, found.schema_file) == ("ward", None)


def test_no_database_or_two_are_errors(tmp_path):
    with pytest.raises(SqlError, match=r"no database 'x'"):
        database_of(tmp_path / "x")
    with pytest.raises(SqlError, match=r"holds no database \(a file \*\.sqlite or"):
        database_of(tmp_path)
    made(tmp_path / "a.db"), made(tmp_path / "b.db")
    with pytest.raises(SqlError, match=r"must hold one database, found a\.db, b\.db"):
        database_of(tmp_path)


TWINS = {"table_names_original": ["stays", "STAYS"]}
BAD = [
    "{",
    "[]",
    "[1]",
    "{}",
    "[{}, {}]",
    *map(json.dumps, ([SPIDER] * 2, [SPIDER | {"column_types": []}], [SPIDER | TWINS])),
]


@pytest.mark.parametrize("text", BAD)
def test_an_invalid_tables_json_is_an_error(tmp_path, text):
    made(tmp_path / "ward.db")
    (tmp_path / "tables.json").write_text(text)
    with pytest.raises(SqlError, match=r"^tables\.json of 'ward'"):
        database_of(tmp_path / "ward.db").schema()


def test_a_file_that_is_not_a_database_has_no_schema(tmp_path):
    (tmp_path / "ward.db").write_text("no database" * 100)
    with pytest.raises(SqlError, match=r"schema of 'ward' cannot be read"):
        database_of(tmp_path / "ward.db").schema()
