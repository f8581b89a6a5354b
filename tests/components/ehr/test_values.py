import pandas as pd
import pytest

from components.ehr.errors import EhrError
from components.ehr.tables import get_value
from tests.components.ehr.ward import ward
from tests.table import each_row


@each_row(
    "argument, value",
    [
        ("ROOM", "7, 8, None"),
        ("NOTE", "window, door, left, None, a <= b"),
        ("WEIGHT", "60.5, None, 71.25"),
        ("ID, list", ["1", "2", "3", "4", "5"]),
        ("ROOM,list", ["7", "7", "8", "None", "8"]),
        ("WEIGHT , count", 4),
        ("ROOM, sum", 30),
        ("ROOM, mean", 7.5),
        ("WEIGHT, sum", 263.5),
        ("ROOM, max", 8.0),
        ("WEIGHT, min", 60.5),
        ("NOTE, min", "a <= b"),
        ("SINCE, max", "2105-03-01 10:00:00"),
        ("['ROOM', \"sum\"]", 30),
        ("`ID`, count", 5),
    ],
)
def test_a_value(argument, value):
    found = get_value(ward().load("beds"), argument)
    assert found == value and type(found) is type(value)


@each_row("argument, value", [("ID", ""), ("ID, list", []), ("WEIGHT, sum", 0), ("NOTE, count", 0)])
def test_an_empty_result_gives_no_values(argument, value):
    assert get_value(ward().load("empty"), argument) == value


@each_row(
    "table, argument, kind, message",
    [
        ("beds", "room", "unknown_column", "the columns are ID, ROOM"),
        ("beds", "", "unknown_column", "the columns are"),
        ("beds", "ROOM, median", "unknown_operation", "`median`; the operations are mean, max, min, sum, list, count"),
        ("beds", "ROOM, ID, list", "unknown_operation", "`ID, list`"),
        ("beds", "ROOM,", "unknown_operation", "the operations are"),
        ("beds", "NOTE, mean", "type_mismatch", "holds texts"),
        ("empty", "WEIGHT, mean", "no_rows", "the table has no rows"),
        ("empty", "ID, max", "no_rows", "`ID, max` needs a value"),
    ],
)
def test_an_unanswerable_request_is_reported_with_its_reason(table, argument, kind, message):
    with pytest.raises(EhrError) as caught:
        get_value(ward().load(table), argument)
    assert caught.value.kind == kind and message in str(caught.value)


def test_missing_values_alone_have_no_mean():
    table = pd.DataFrame({"X": [float("nan"), float("nan")]})
    assert (get_value(table, "X"), get_value(table, "X, sum"), get_value(table, "X, count")) == ("None", 0.0, 0)
    with pytest.raises(EhrError, match="all 2 values are missing"):
        get_value(table, "X, mean")


def test_sums_do_not_depend_on_the_order():
    assert get_value(pd.DataFrame({"X": [0.1] * 10}), "X, sum") == 1.0
    assert get_value(pd.DataFrame({"X": [2**62, 2**62, 2**62]}), "X, sum") == 3 * 2**62


def test_a_value_without_a_table_is_refused():
    with pytest.raises(EhrError, match="GetValue takes a table"):
        get_value("beds", "ROOM")
