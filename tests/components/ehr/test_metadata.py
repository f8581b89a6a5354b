import pytest

from components.core.errors import ConfigError
from components.ehr.metadata import metadata
from tests.table import each_row

N_TABLES = {"mimic_iii": 17, "eicu": 10, "treqs": 5, "mimic_iv": 17}


@each_row("database", N_TABLES)
def test_every_database_has_four_statements_and_its_tables(database):
    known = metadata(database)
    assert len(known.description) == 4 and len(known.tables) == N_TABLES[database]
    assert known.overview.startswith("The database holds") and "\n" not in known.overview
    assert {kind for columns in known.tables.values() for kind in columns.values()} <= {"int", "float", "text"}
    assert len(known.columns.splitlines()) == N_TABLES[database]


def test_names_keep_the_case_of_the_data():
    assert "procedures_icd: ROW_ID, SUBJECT_ID, HADM_ID, ICD9_CODE, CHARTTIME" in metadata("mimic_iii").columns
    assert "allergy: allergyid, patientunitstayid, drugname, allergyname, allergytime" in metadata("eicu").columns
    assert "DIAGNOSES: SUBJECT_ID, HADM_ID, ICD9_CODE, SHORT_TITLE, LONG_TITLE" in metadata("treqs").columns
    assert "d_labitems: row_id, itemid, label" in metadata("mimic_iv").columns


def test_codes_are_text_and_treqs_identifiers_too():
    assert metadata("mimic_iii").tables["diagnoses_icd"]["ICD9_CODE"] == "text"
    assert (
        metadata("treqs").tables["DEMOGRAPHIC"] | {"HADM_ID": "text", "AGE": "int", "DOD_YEAR": "float"}
        == (metadata("treqs").tables["DEMOGRAPHIC"])
    )


def test_clocks():
    assert metadata("mimic_iii").clock == metadata("eicu").clock == "2105-12-31 23:59:00"
    assert (metadata("mimic_iv").clock, metadata("treqs").clock) == ("2100-12-31 23:59:00", None)


def test_an_unknown_database_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"'omop'; known are eicu, mimic_iii, mimic_iv, treqs"):
        metadata("omop")
