import os
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.sql.schema import Schema, Table, database_of
from components.tools.db_manual import SHIPPED, Notes, described, fitting_tables, mentioned, notes_of

DATA = os.environ.get("CLINICAL_DATA_DIR")
STAYS = Table("ICU_Stays", {"Stay_ID": "INT", "intime": "time"}, ["Stay_ID"])
SCHEMA = Schema([STAYS, Table("drugs", {"drug": "text", "route": "text"}), Table("costs", {"amount": "number"})])
NOTES = Notes(["x"], {"icu_stays": "One per visit. Length of stay.", "costs": "Charges."})


@pytest.mark.parametrize("id", ["mimic_iii", "mimic_iv", "eicu"])
def test_shipped_notes_are_whole(id):
    notes = notes_of(id)
    assert len(notes.general) >= 5 and len(notes.tables) >= 10 and len(notes.examples) == 3
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == {"mimic_iii", "mimic_iv", "eicu"}


@pytest.mark.skipif(not DATA, reason="needs CLINICAL_DATA_DIR")
@pytest.mark.parametrize(
    ("id", "folder"),
    [
        ("mimic_iv", "ehrsql2024/data/mimic_iv"),
        ("mimic_iii", "ehragent_demo/mimic_iii"),
        ("eicu", "ehragent_demo/eicu"),
    ],
)
def test_shipped_notes_tell_of_every_table(id, folder):
    schema = database_of(Path(DATA, folder)).schema()
    assert {table.name.lower() for table in schema.tables} == set(notes_of(id).tables)


def test_a_database_without_a_file_has_no_notes(tmp_path):
    assert notes_of("ward") == notes_of("ward", tmp_path) == Notes()


BAD = [
    "- 1",
    "general: x",
    "other: []",
    "tables: {a: 1}",
    "general: [{a: b}]",
    "examples: [{question: a}]",
    "a: [",
    "x",
]


@pytest.mark.parametrize("text", BAD)
def test_notes_that_are_none_are_bad_configuration(tmp_path, text):
    (tmp_path / "ward.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"ward\.yaml: ") as caught:
        notes_of("ward", tmp_path)
    assert "\n" not in str(caught.value)


def test_notes_that_change_are_read_again(tmp_path):
    path = tmp_path / "ward.yaml"
    path.write_text("general: [one]")
    assert notes_of("ward", tmp_path).general == ["one"]
    path.write_text("general: [two]")
    os.utime(path, ns=(1, 1))
    assert notes_of("ward", tmp_path).general == ["two"]


@pytest.mark.parametrize(
    ("query", "names"),
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
    assert described(STAYS, NOTES) == "icu_stays(stay_id int key, intime time): One per visit. Length of stay."
    assert mentioned(STAYS, NOTES) == "icu_stays: One per visit."
    assert mentioned(SCHEMA.tables[1], NOTES) == "drugs"
