import pandas as pd
import pyarrow as pa
import pytest

from components.ehr.columns import prepare
from components.ehr.errors import EhrError
from components.ehr.metadata import Metadata
from components.ehr.tables import Tables, column, require_table, to_frame
from tests.components.ehr.ward import WARD, ward, ward_file
from tests.table import each_row


def test_tables_in_memory_and_in_files_are_the_same(tmp_path):
    folder = prepare(ward_file(tmp_path / "ward.db"), Metadata("ward", "", (), {}, None), tmp_path / "columns")
    for tables in (ward(), Tables(folder)):
        assert tables.names == ("beds", "codes", "empty")
        beds = tables.load("beds")
        assert list(beds.columns) == list(WARD["beds"][0]) and len(beds) == 5
        kinds = [str(kind) for kind in beds.dtypes]
        assert kinds == ["int64[pyarrow]", "int64[pyarrow]", "string[pyarrow]", "double[pyarrow]", "string[pyarrow]"]
        assert beds["ROOM"].tolist()[:3] == [7, 7, 8] and beds["ROOM"].isna().sum() == 1
        assert len(tables.load("empty")) == 0 and str(tables.load("empty")["WEIGHT"].dtype) == "double[pyarrow]"


def test_files_are_mapped_and_not_read(tmp_path):
    rows = [(number, "x" * 100) for number in range(20_000)]
    file = ward_file(tmp_path / "wide.db", {"wide": (("ID", "NOTE"), ("int", "text"), rows)})
    tables = Tables(prepare(file, Metadata("ward", "", (), {}, None), tmp_path))
    before = pa.total_allocated_bytes()
    frames = [tables.load("wide") for _ in range(3)]
    assert pa.total_allocated_bytes() - before < 10_000
    addresses = {pa.array(frame["NOTE"].array).buffers()[2].address for frame in frames}
    assert len(addresses) == 1


def test_changes_that_code_makes_to_a_table_affect_no_other():
    tables = ward()
    one = tables.load("beds")
    one["NEW"] = 1
    one.loc[0, "ID"] = 99
    assert "NEW" not in tables.load("beds") and tables.load("beds")["ID"][0] == 1


@each_row("name", ["bed", "BEDS", "", None, 3, "x" * 1000])
def test_an_unknown_table_is_refused_with_the_names(name):
    with pytest.raises(EhrError, match="there are beds, codes, empty") as caught:
        ward().load(name)
    assert caught.value.kind == "unknown_table" and len(str(caught.value)) < 500


@each_row("given", ["beds", [1], None, pd.Series([1])])
def test_only_a_table_is_a_table(given):
    with pytest.raises(EhrError, match="FilterDB takes a table from LoadDB or FilterDB, found") as caught:
        require_table(given, "FilterDB")
    assert caught.value.kind == "type_mismatch"


@each_row(
    "cells, kind, values",
    [
        ([1, 2], pa.int64(), [1, 2]),
        (pd.array([1, 2], dtype="int16"), pa.int64(), [1, 2]),
        ([1.5, float("nan")], pa.float64(), [1.5, None]),
        (["a", None], pa.string(), ["a", None]),
        ([True, False], pa.string(), ["True", "False"]),
        (["a", 1], pa.string(), ["a", "1"]),
        (pd.to_datetime(["2105-01-01"]), pa.string(), ["2105-01-01 00:00:00"]),
    ],
)
def test_values_added_by_code_become_numbers_or_texts(cells, kind, values):
    found = column(pd.DataFrame({"X": cells}), "X", "X=1")
    assert found.type == kind and found.to_pylist() == values


def test_nan_that_arrow_worked_out_is_missing():
    frame = to_frame({"X": pa.array([float("nan"), 2.0])})
    assert column(frame, "X", "X").to_pylist() == [None, 2.0]


def test_a_column_must_exist_and_be_unique():
    beds = ward().load("beds")
    with pytest.raises(
        EhrError, match=r"`room` .in `room=7`.; the columns are ID, ROOM, NOTE, WEIGHT, SINCE"
    ) as caught:
        column(beds, "room", "room=7")
    assert caught.value.kind == "unknown_column"
    with pytest.raises(EhrError, match="more than once"):
        column(pd.concat([beds, beds], axis=1), "ROOM", "ROOM=7")
