import os
from pathlib import Path

import pytest

from components.sql.reading import Schema, Table, database_of
from components.tools.db_manual import SHIPPED, Notes, describe_table, fitting_tables, notes_of, summarise_table
from tests.table import each_row

DATA = os.environ.get("CLINICAL_DATA_DIR")
STAYS = Table("ICU_Stays", {"Stay_ID": "INT", "intime": "time"}, ["Stay_ID"])
SCHEMA = Schema([STAYS, Table("drugs", {"drug": "text", "route": "text"}), Table("costs", {"amount": "number"})])
NOTES = Notes(["x"], {"icu_stays": "One per visit. Length of stay.", "costs": "Charges."})


@each_row("id", ["mimic_iii", "mimic_iv", "eicu"])
def test_shipped_notes_are_complete(id):
    notes = notes_of(id)
    assert len(notes.general) >= 5 and len(notes.tables) >= 10 and len(notes.examples) == 3
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == {"mimic_iii", "mimic_iv", "eicu"}


@pytest.mark.skipif(not DATA, reason="needs CLINICAL_DATA_DIR")
@each_row(
    "id, folder",
    [
        ("mimic_iv", "ehrsql2024/data/mimic_iv"),
        ("mimic_iii", "ehragent_demo/mimic_iii"),
        ("eicu", "ehragent_demo/eicu"),
    ],
)
def test_shipped_notes_describe_every_table(id, folder):
    schema = database_of(Path(DATA, folder)).schema()
    assert {table.name.lower() for table in schema.tables} == set(notes_of(id).tables)


def test_a_database_without_a_file_has_no_notes():
    assert notes_of("ward") == Notes()


@each_row(
    "query, names",
    [
        ("What was the length of the visit?", ["ICU_Stays"]),
        ("which routes?", ["drugs"]),
        ("charges for the drug", ["costs", "drugs"]),
        ("the weather", []),
    ],
)
def test_tables_fit_by_name_column_and_note(query, names):
    assert sorted(table.name for table in fitting_tables(SCHEMA, NOTES, query, 3)) == sorted(names)
    assert len(fitting_tables(SCHEMA, NOTES, query, 1)) == min(1, len(names))


def test_lines_on_a_table():
    assert describe_table(STAYS, NOTES) == "icu_stays(stay_id int key, intime time): One per visit. Length of stay."
    assert summarise_table(STAYS, NOTES) == "icu_stays: One per visit."
    assert summarise_table(SCHEMA.tables[1], NOTES) == "drugs"
