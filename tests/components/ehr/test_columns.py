import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.ehr.columns import prepare
from components.ehr.metadata import Metadata, metadata
from components.ehr.tables import Tables
from tests.components.ehr.ward import WARD, ward_file

KNOWN = Metadata(
    "w", "", (), {"beds": {"NOTE": "text", "ID": "int", "SIZE": "int", "AGE": "int"}, "BIG": {"X": "float"}}, None
)
DATA = os.environ.get("CLINICAL_DATA_DIR", "")


def database(path, *statements):
    with closing(sqlite3.connect(path)) as made:
        for statement in statements:
            made.execute(statement)
        made.commit()
    return path


def test_names_and_types_are_those_of_the_metadata(tmp_path):
    file = database(
        tmp_path / "w.db",
        "CREATE TABLE BEDS (id TEXT, extra VARCHAR(9), note INT, age INT, big NUMERIC(9,2), at TIMESTAMP(0), plain)",
        "INSERT INTO BEDS VALUES ('07', '007', 5, 41.0, 3, '2105-01-01', 2), (NULL, NULL, NULL, NULL, NULL, NULL, 'x')",
        "CREATE TABLE big (x INT)",
        "CREATE TABLE other (y DOUBLE PRECISION)",
    )
    tables = Tables(prepare(file, KNOWN, tmp_path / "columns"))
    assert tables.names == ("BIG", "beds", "other")
    beds = tables.load("beds")
    assert list(beds.columns) == ["NOTE", "ID", "AGE", "extra", "big", "at", "plain"]
    assert [str(kind).removesuffix("[pyarrow]") for kind in beds.dtypes] == [
        "string", "int64", "int64", "string", "double", "string", "string"
    ]  # fmt: skip
    assert (
        beds.iloc[0].tolist() == ["5", 7, 41, "007", 3.0, "2105-01-01", "2"]
        and beds.iloc[1].isna().tolist()[:-1] == [True] * 6
    )
    assert (
        str(tables.load("BIG")["X"].dtype) == "double[pyarrow]"
        and str(tables.load("other")["y"].dtype) == "double[pyarrow]"
    )


def test_a_value_that_is_not_a_number_keeps_the_type_of_the_file(tmp_path):
    file = database(tmp_path / "w.db", "CREATE TABLE beds (age TEXT)", "INSERT INTO beds VALUES ('07'), ('> 89')")
    beds = Tables(prepare(file, KNOWN, tmp_path)).load("beds")
    assert beds["AGE"].tolist() == ["07", "> 89"]


@pytest.mark.parametrize(
    ("declared", "cell", "message"),
    [
        ("INT", "'x'", "AGE: declared as int, but holds 'x'"),
        ("BIGINT", "1.5", "holds 1.5"),
        ("INT", "x'00'", "holds b"),
    ],
)
def test_cells_that_their_own_column_excludes_are_refused(tmp_path, declared, cell, message):
    file = database(tmp_path / "w.db", f"CREATE TABLE beds (age {declared})", f"INSERT INTO beds VALUES ({cell})")
    with pytest.raises(ConfigError, match=message):
        prepare(file, KNOWN, tmp_path / "columns")
    assert list((tmp_path / "columns").iterdir()) == []


def test_an_existing_file_is_reused_and_identified_by_its_content(tmp_path):
    file = ward_file(tmp_path / "ward.db")
    first = prepare(file, KNOWN, tmp_path / "columns")
    stamps = {path: path.stat().st_mtime_ns for path in first.iterdir()}
    assert prepare(file, KNOWN, tmp_path / "columns") == first
    assert {path: path.stat().st_mtime_ns for path in first.iterdir()} == stamps
    assert prepare(file, Metadata("w", "", (), {}, None), tmp_path / "columns") != first
    ward_file(tmp_path / "other.db", {**WARD, "beds": WARD["codes"]})
    assert prepare(tmp_path / "other.db", KNOWN, tmp_path / "columns") != first


def test_a_damaged_file_is_written_again(tmp_path):
    file = ward_file(tmp_path / "ward.db")
    folder = prepare(file, KNOWN, tmp_path / "columns")
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    for damage in (lambda path: path.write_bytes(b"xx"), lambda path: path.unlink()):
        damage(next(folder.glob("*.arrow")))
        assert prepare(file, KNOWN, tmp_path / "columns") == folder
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole


def test_a_database_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="holds none of the tables of "):
        prepare(ward_file(tmp_path / "x.db", {"rooms": WARD["codes"]}), KNOWN, tmp_path / "columns")


def test_several_processes_may_write_at_once(tmp_path):
    file = ward_file(tmp_path / "ward.db")
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: prepare(file, KNOWN, tmp_path / "columns"), range(8)))
    assert len(found) == 1 and [path.name for path in (tmp_path / "columns").iterdir()] == [found.pop().name]


def test_the_database_is_read_only(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    file = ward_file(folder / "ward.db")
    file.chmod(0o444)
    folder.chmod(0o555)
    assert Tables(prepare(file, KNOWN, tmp_path / "columns")).names == ("beds", "codes", "empty")
    folder.chmod(0o755)
    assert [path.name for path in folder.iterdir()] == ["ward.db"]


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path):
    (tmp_path / "columns").write_text("a file")
    with pytest.raises(ConfigError, match=r"columns: the tables of .*ward\.db cannot be written here"):
        prepare(ward_file(tmp_path / "ward.db"), KNOWN, tmp_path / "columns")


@pytest.mark.parametrize("content", [None, b"", b"no database at all" * 100])
def test_a_file_that_is_not_a_database_is_refused(tmp_path, content):
    file = tmp_path / "w.db"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"w\.db: "):
        prepare(file, KNOWN, tmp_path / "columns")


@pytest.mark.skipif(not DATA, reason="needs CLINICAL_DATA_DIR")
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mimic_iii", "ehragent_demo/mimic_iii/mimic_iii.db"),
        ("eicu", "ehragent_demo/eicu/eicu.db"),
        ("mimic_iv", "ehrsql2024/data/mimic_iv/mimic_iv.sqlite"),
    ],
)
def test_the_open_databases_are_what_the_metadata_say(tmp_path, name, file):
    known = metadata(name)
    tables = Tables(prepare(Path(DATA) / file, known, tmp_path))
    assert set(tables.names) == set(known.tables)
    for table, columns in known.tables.items():
        found = tables.load(table)
        kinds = {"int64": "int", "double": "float", "string": "text"}
        assert {c: kinds[str(k).removesuffix("[pyarrow]")] for c, k in found.dtypes.items()} == columns
