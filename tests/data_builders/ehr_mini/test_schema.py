"""Schemas, and databases and CSV files made by them."""

import csv
import sqlite3
from contextlib import closing

import pytest

from components.ehr.metadata import metadata
from data_builders.ehr_mini.schema import Schema, asked, opened, packed, table_of, write_csv
from tests.data_builders.ehr_mini.shipped import DATABASES, reading

EICU = Schema.of("eicu")
N_TABLES = {"mimic_iii": 17, "eicu": 10, "treqs": 5}
STAY = {
    "uniquepid": "012-34567", "patienthealthsystemstayid": 1, "patientunitstayid": 2, "gender": "male", "age": 40,
    "hospitalid": 3, "wardid": 4, "hospitaladmittime": "2101-01-01 00:00:00", "hospitaladmitsource": "floor",
    "unitadmittime": "2101-01-01 01:00:00",
}  # fmt: skip
ALLERGY = {"allergyid": 1, "patientunitstayid": 2, "allergyname": "eggs, whole", "allergytime": "2101-01-01 01:00:00"}
EMPTY = dict.fromkeys(EICU.tables, ())


@pytest.mark.parametrize("database", DATABASES)
def test_tables_and_columns_match_the_descriptions_given_to_models(database):
    schema, known = Schema.of(database), metadata(database)
    assert len(schema.tables) == N_TABLES[database]
    kinds = {"i": "int", "r": "float", "t": "text"}
    made = {
        table.lower(): {column.name.lower(): kinds[column.type] for column in columns}
        for table, columns in schema.tables.items()
    }
    described = {
        table.lower(): {name.lower(): kind for name, kind in columns.items()} for table, columns in known.tables.items()
    }
    assert made == described
    assert schema.clock == known.clock


@pytest.mark.parametrize("database", DATABASES)
def test_a_shipped_database_has_the_declared_columns_and_no_broken_key(database):
    schema = Schema.of(database)
    with reading(database) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert tables == list(schema.tables)
        for table, columns in schema.tables.items():
            found = connection.execute(f"PRAGMA table_info({table})").fetchall()
            assert [name for _, name, *_ in found] == [column.name for column in columns]


def test_declaration_has_type_constraint_and_parent():
    declared = {column.name: column.declaration for column in Schema.of("mimic_iii").tables["transfers"]}
    assert declared["row_id"] == "row_id INTEGER PRIMARY KEY"
    assert declared["icustay_id"] == "icustay_id INTEGER REFERENCES icustays(icustay_id)"
    assert declared["eventtype"] == "eventtype TEXT NOT NULL"


def test_a_row_without_its_parent_is_refused():
    with pytest.raises(ValueError, match="eicu: rows without their parent"):
        opened(EICU, EMPTY | {"allergy": [ALLERGY]})


def test_missing_value_in_a_required_column_is_refused():
    with pytest.raises(sqlite3.IntegrityError, match=r"allergy\.allergyname"):
        opened(EICU, EMPTY | {"patient": [STAY], "allergy": [ALLERGY | {"allergyname": None}]})


def test_smaller_page_size_is_used():
    content = packed(EICU, EMPTY)
    assert len(content) < 4096 * (1 + len(EICU.tables))
    assert content == packed(EICU, EMPTY)


def test_csv_files_have_the_case_of_the_original_and_empty_cells(tmp_path):
    with closing(opened(EICU, EMPTY | {"patient": [STAY], "allergy": [ALLERGY]})) as connection:
        write_csv(EICU, connection, tmp_path)
    with (tmp_path / "allergy.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [{**{name: str(value) for name, value in ALLERGY.items()}, "drugname": ""}]
    assert len(list(tmp_path.iterdir())) == 10
    mimic = Schema.of("mimic_iii")
    with closing(opened(mimic, dict.fromkeys(mimic.tables, ()))) as connection:
        write_csv(mimic, connection, tmp_path / "upper")
    assert (tmp_path / "upper" / "D_ITEMS.csv").read_text() == "ROW_ID,ITEMID,LABEL,LINKSTO\n"


def test_fixed_clock_replaces_current_time():
    with closing(sqlite3.connect(":memory:")) as connection:
        assert asked(connection, "select current_time", "2105-12-31 23:59:00").fetchone() == ("2105-12-31 23:59:00",)


def test_dictionaries_are_large_and_contain_hard_strings():
    titles, items = table_of("diagnoses.yaml"), table_of("items.yaml")
    assert len(titles["diagnoses"]) >= 60 and len(titles["procedures"]) >= 30
    assert len(items["labs"]) >= 40 and len(table_of("drugs.yaml")) >= 80
    assert len(items["chart"]) + len(items["inputs"]) + len(items["outputs"]) >= 40
    names = [*table_of("drugs.yaml"), *items["labs"], *items["chart"], *items["inputs"], *items["outputs"]]
    shorts = [short for kind in titles.values() for short, _, _ in kind.values()]
    for hard in (",", "<", "=", "%", "+", "/", "'", "error", "terminate"):
        assert any(hard in name for name in names) and any(hard in short for short in shorts), hard
    codes = [code for kind in titles.values() for code in kind]
    assert any(code.isdigit() and code.startswith("0") for code in codes)
    assert any(not code.isdigit() for code in codes)
    for kind in titles.values():
        assert len({short for short, _, _ in kind.values()}) == len({long for _, long, _ in kind.values()}) == len(kind)
    assert all(text == text.lower() for text in (*names, *shorts, *codes))
