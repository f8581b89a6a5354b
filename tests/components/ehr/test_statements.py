import os
import sqlite3
from contextlib import closing
from hashlib import sha256
from time import perf_counter

import pytest

from components.ehr.errors import EhrError
from components.ehr.interpreters import fill_placeholders, run_sql
from components.sql import UnreadableDatabase
from components.sql.cleaning import VITAL_BOUNDS
from tests.components.ehr.ward import CLOCK, ward_file
from tests.table import each_row

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "


@pytest.fixture
def file(tmp_path):
    return ward_file(tmp_path / "ward.db")


def refused(file, sql, clock=CLOCK, **more):
    with pytest.raises(EhrError) as caught:
        run_sql(file, sql, clock, **more)
    assert len(str(caught.value)) < 500
    return caught.value.kind, str(caught.value)


@each_row(
    "sql, rows",
    [
        ("select ID from BEDS where room = 7 order by id", [(1,), (2,)]),
        ("  SELECT id, weight FROM beds WHERE id = 2;", [(2, None)]),
        ("-- of beds\n/* all */ with b as (select * from beds) select count(*) from b", [(5,)]),
        ("select id from beds where id > 90", []),
        ("select current_time", [(CLOCK,)]),
        ("select datetime(CURRENT_TIME, '-1 year')", [("2104-12-31 23:59:00",)]),
        ("select strftime('%Y', 'now'), date('NOW')", [("2105", "2105-12-31")]),
        ("select 'current_time', 'at current_time'", [(CLOCK, "at current_time")]),
        ("select count(*) from beds where strftime('%y-%m', since) = '2105-03'", [(2,)]),
        ("select cast(strftime('%j', '2105-01-02') - strftime('%j', '2105-01-01') as int)", [(1,)]),
        ("select id from beds where note like 'a%y' or id < = 1", [(1,)]),
        ("select count(*) from beds where weight between heart_rate_lower and heart_rate_upper", [(4,)]),
        ("select temperature_lower, mean_bp_upper", [(35.5, 110.0)]),
        (
            "select 'temperature_lower', 'a < = b', \"id\" from beds limit 1 -- % current_time",
            [("temperature_lower", "a < = b", 1)],
        ),
        ("select 'it''s now'", [("it's now",)]),
    ],
)
def test_one_select(file, sql, rows):
    assert run_sql(file, sql, CLOCK) == rows


@each_row("vital", VITAL_BOUNDS)
def test_every_vital_sign_has_a_range(vital):
    name = vital.replace(" ", "_")
    assert fill_placeholders(f"{name}_lower {name}_upper", None) == "{} {}".format(*VITAL_BOUNDS[vital])


@each_row(
    "sql",
    [
        "", "beds", "explain select 1", "values (1)", "update beds set id = 1", "insert into beds values (9)", "delete from beds", "drop table beds",
        "create table x(a)", "create temp table x(a)", "pragma query_only = off", "attach database 'FOLDER/other.db' as o", "vacuum into 'FOLDER/other.db'",
        "attach 'file:FOLDER/other.db?mode=rwc' as o", "begin", "select 1; select 2", "select 1; drop table beds", "with b as (select 1) delete from beds",
        "select * from pragma_table_info('beds')", "select load_extension('x')", "select readfile('/etc/passwd')", "select random()",
        "select current_date", "select date()", "/* select */ pragma user_version",
    ],
)  # fmt: skip
def test_statements_that_do_more_than_read_are_refused(file, sql):
    before = sha256(file.read_bytes()).hexdigest()
    kind, _ = refused(file, sql.replace("FOLDER", str(file.parent)))
    assert kind == ("sql_error" if "readfile" in sql else "forbidden_sql")
    assert sha256(file.read_bytes()).hexdigest() == before and os.listdir(file.parent) == [file.name]


@each_row(
    "sql, message",
    [
        ("select nosuch from beds", "no such column: nosuch"),
        ("select from beds", "syntax error"),
        ("select 'open", "unrecognized token"),
        (ENDLESS + "select i from n", "more than 10000 rows"),
        ("select hex(zeroblob(600000))", "too big"),
        ("select '" + "x" * 100_000 + "'", "at most 100000 are allowed"),
        ("select " + "/*" * 40_000, "syntax error"),
        ("select " + "[" * 90_000, "unrecognized token"),
        ("select trim(hex(zeroblob(400000)), hex(zeroblob(400000)))", "at most 10000 characters to look for"),
        ("select replace(hex(zeroblob(400000)), 'no', hex(zeroblob(499999)))", None),
    ],
)
def test_engine_errors_and_limits_are_reported(file, sql, message):
    started = perf_counter()
    if message is None:
        assert len(run_sql(file, sql, CLOCK)) == 1
    else:
        _, text = refused(file, sql)
        assert message in text
    assert perf_counter() - started < 5


def test_a_value_may_have_a_megabyte(file):
    assert run_sql(file, "select length(hex(zeroblob(499000))), instr(hex(zeroblob(499000)), '1')", None) == [
        (998_000, 0)
    ]


def test_time_is_limited(file):
    kind, text = refused(file, ENDLESS + "select count(*) from n", seconds=0.2)
    assert kind == "sql_error" and "more than 0.2 seconds" in text


@pytest.mark.parametrize("sql", ["select current_time", "select date('now')"])
def test_without_a_clock_there_is_no_current_time(file, sql):
    assert refused(file, sql, None)[0] == "forbidden_sql"


def test_a_missing_file_is_not_an_error_of_the_statement(tmp_path):
    with pytest.raises(UnreadableDatabase):
        run_sql(tmp_path / "none.db", "select 1", CLOCK)


def test_quoted_columns_are_distinguished_from_text(tmp_path):
    with closing(sqlite3.connect(tmp_path / "odd.db")) as made:
        made.execute('CREATE TABLE t ("current_time" INTEGER, [a %y] TEXT)')
        made.execute("INSERT INTO t VALUES (1, 'x')")
        made.commit()
    assert run_sql(tmp_path / "odd.db", 'select "current_time", [a %y] from t', CLOCK) == [(1, "x")]
