import os
import sqlite3
from contextlib import closing
from threading import Thread
from time import monotonic

import pytest

from components.core.errors import ConfigError
from components.sql import ForbiddenSql, SqlError, UnreadableDatabase
from components.sql.reading import ReadOnly, require_readable
from tests.table import each_row

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "


@pytest.fixture
def ward(tmp_path):
    path = tmp_path / "ward.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("CREATE TABLE beds(id INTEGER, name TEXT); INSERT INTO beds VALUES (1, 'a'), (2, NULL);")
    return path


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, name FROM beds ORDER BY id",
        "select id, name from beds order by id;",
        "WITH b AS (SELECT * FROM beds) SELECT id, name FROM b ORDER BY id -- all of them",
        "VALUES (1, 'a'), (2, NULL)",
    ],
)
def test_reading_is_allowed(ward, sql):
    assert ReadOnly(ward).run(sql) == [(1, "a"), (2, None)]


def test_functions_and_recursion_are_allowed(ward):
    assert ReadOnly(ward).run(ENDLESS + "SELECT sum(i) FROM (SELECT i FROM n LIMIT 4)") == [(10,)]
    assert ReadOnly(ward).run("SELECT strftime('%Y', datetime('2100-12-31', '-1 year'))") == [("2099",)]


REFUSED = [
    "INSERT INTO beds VALUES (3, 'c')",
    "UPDATE beds SET name = 'x'",
    "DELETE FROM beds",
    "WITH b AS (SELECT 1) DELETE FROM beds",
    "DROP TABLE beds",
    "CREATE TABLE other(id)",
    "CREATE TEMP TABLE other(id)",
    "CREATE VIEW v AS SELECT 1",
    "ALTER TABLE beds ADD COLUMN x",
    "VACUUM",
    "VACUUM INTO 'FOLDER/new.db'",
    "REINDEX",
    "ANALYZE",
    "BEGIN",
    "ATTACH DATABASE 'FOLDER/new.db' AS other",
    "DETACH DATABASE main",
    "PRAGMA journal_mode=WAL",
    "PRAGMA query_only=OFF",
    "PRAGMA user_version",
    "SELECT load_extension('FOLDER/x.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('FOLDER/new.db', 'x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts3_tokenizer('simple', x'00')",
    "SELECT edit('x')",
    "SELECT 1; DELETE FROM beds",
    "",
    "-- nothing",
    "how many beds are there?",
    "SELECT * FROM wards",
    "SELECT 1 \0",
    "SELECT '\ud800'",
    "SELECT ?",
]


@each_row("sql", REFUSED)
def test_anything_else_is_refused_and_leaves_no_trace(ward, sql):
    before = ward.read_bytes()
    with pytest.raises(SqlError) as caught:
        ReadOnly(ward).run(sql.replace("FOLDER", str(ward.parent)))
    assert str(caught.value)
    assert ward.read_bytes() == before and os.listdir(ward.parent) == ["ward.sqlite"]


def test_a_refusal_says_what_is_allowed(ward):
    with pytest.raises(SqlError, match=r"^not authorized \(beds\): only reading is allowed here: one SELECT"):
        ReadOnly(ward).run("DELETE FROM beds")
    with pytest.raises(SqlError, match=r"no such column: nam"):
        ReadOnly(ward).run("SELECT nam FROM beds")


@pytest.mark.parametrize(
    "sql",
    [
        ENDLESS + "SELECT count(*) FROM n",
        ENDLESS + "SELECT i FROM n WHERE i < 0",
        ENDLESS + "SELECT a.i FROM n a, n b, n c WHERE a.i = -1",
    ],
)
def test_endless_statements_are_stopped(ward, sql):
    begin = monotonic()
    with pytest.raises(SqlError, match=r"more than 0\.1 seconds and was stopped"):
        ReadOnly(ward, seconds=0.1).run(sql)
    assert monotonic() - begin < 2


def test_endless_rows_are_refused(ward):
    with pytest.raises(SqlError, match=r"more than 1000 rows; narrow it, count, or add LIMIT"):
        ReadOnly(ward, max_rows=1000).run(ENDLESS + "SELECT i FROM n")
    assert len(ReadOnly(ward, max_rows=1000).run(ENDLESS + "SELECT i FROM n LIMIT 1000")) == 1000


def test_big_values_and_results_are_refused(ward):
    with pytest.raises(SqlError, match=r"larger than 50000000 bytes"):
        ReadOnly(ward).run(ENDLESS + "SELECT hex(zeroblob(40000)) FROM n")
    with pytest.raises(SqlError, match=r"too big"):
        ReadOnly(ward).run("SELECT zeroblob(120000)")
    with pytest.raises(SqlError, match=r"too (big|large)|too long"):
        ReadOnly(ward).run("SELECT 1 -- " + "x" * 200_000)
    with pytest.raises(SqlError, match=r"depth"):
        ReadOnly(ward).run("SELECT " + "1+" * 500 + "1")


@each_row(
    "sql, kind",
    [
        ("DELETE FROM beds", ForbiddenSql),
        ("SELECT 1; DELETE FROM beds", ForbiddenSql),
        ("-- nothing", ForbiddenSql),
        ("SELECT date('now')", ForbiddenSql),
        ("SELECT nam FROM beds", SqlError),
        ("SELECT FROM beds", SqlError),
    ],
)
def test_a_refused_statement_is_distinguished_from_a_failing_one(ward, sql, kind):
    with pytest.raises(SqlError) as caught:
        ReadOnly(ward).run(sql)
    assert type(caught.value) is kind


LARGE = "hex(zeroblob(400000))"


@each_row(
    "sql, found",
    [
        (f"SELECT length({LARGE})", 800_000),
        (f"SELECT instr({LARGE}, '00')", 1),
        (f"SELECT length(replace({LARGE}, '00', 'x'))", 400_000),
        (f"SELECT trim({LARGE}, '0') || ltrim(' a', ' ') || rtrim('b  ')", "ab"),
        ("SELECT instr(name, 'a') FROM beds WHERE id = 2", None),
    ],
)
def test_values_may_be_larger_where_it_is_asked_for(ward, sql, found):
    assert ReadOnly(ward, max_value=1_000_000).run(sql) == [(found,)]


@each_row("call", ["instr(V, V)", "trim(V, V)", "ltrim(V, V)", "rtrim(V, V)", "replace(V, V, 'x')"])
def test_no_search_in_large_values_outlasts_the_clock(ward, call):
    begin = monotonic()
    with pytest.raises(SqlError, match="at most 10000 characters to look for"):
        ReadOnly(ward, max_value=1_000_000).run(f"SELECT {call.replace('V', LARGE)}")
    with pytest.raises(SqlError):
        ReadOnly(ward, max_value=1_000_000).run(f"SELECT replace({LARGE}, '0', {LARGE})")
    assert monotonic() - begin < 2


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda raw: b"no database" * 99])
def test_a_damaged_file_is_distinguished_from_a_wrong_statement(ward, damage):
    ward.write_bytes(damage(ward.read_bytes()))
    with pytest.raises(UnreadableDatabase, match=r"malformed|not a database"):
        ReadOnly(ward).run("SELECT * FROM beds")


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [(b"SQLite format 3\0 cut", "not a readable database, perhaps cut off"), (b"x" * 999, "not a database"), (b"", "no tables")],
)  # fmt: skip
def test_a_database_that_cannot_serve_is_refused_before_a_run(ward, raw, complaint):
    assert require_readable(ward) == ward
    ward.write_bytes(raw)
    with pytest.raises(ConfigError, match=rf"ward\.sqlite: .*{complaint}"):
        require_readable(ward)


def test_a_missing_file_is_not_made(tmp_path):
    with pytest.raises(UnreadableDatabase, match=r"no database file 'ward\.sqlite'"):
        ReadOnly(tmp_path / "ward.sqlite").run("SELECT 1")
    assert not os.listdir(tmp_path)


def test_a_file_that_is_not_a_database_is_an_error(tmp_path):
    path = tmp_path / "ward.sqlite"
    path.write_text("no database" * 100)
    with pytest.raises(SqlError, match=r"not a database"):
        ReadOnly(path).run("SELECT * FROM beds")


def test_a_protected_file_with_a_strange_name_can_be_read(ward, tmp_path):
    path = ward.rename(tmp_path / "a b?c%20#d.sqlite")
    path.chmod(0o444)
    assert ReadOnly(path).run("SELECT count(*) FROM beds") == [(2,)]
    assert os.listdir(tmp_path) == [path.name]


def test_writes_of_another_connection_are_visible(ward):
    reader = ReadOnly(ward)
    with closing(sqlite3.connect(ward)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("INSERT INTO beds VALUES (3, 'c')")
        writer.commit()
        assert reader.run("SELECT count(*) FROM beds") == [(3,)]


def test_text_that_is_not_utf8_is_read_all_the_same(ward):
    assert ReadOnly(ward).run("SELECT CAST(x'61ff' AS TEXT)") == [("a\ufffd",)]


def test_threads_do_not_meet(ward):
    reader, found = ReadOnly(ward), []
    threads = [Thread(target=lambda: found.append(reader.run("SELECT count(*) FROM beds"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(2,)]] * 8


def test_printf_is_sqlites_own_but_for_widths_that_would_outlast_the_clock(ward):
    said = "SELECT printf('%.2f %s %d%%', 3.14159, 'a', 7), format('%5d|%-5s|', 3, 'a'), printf('%,d', 1234567)"
    assert ReadOnly(ward).run(said) == [("3.14 a 7%", "    3|a    |", "1,234,567")]
    assert ReadOnly(ward).run("SELECT printf(NULL), printf(5), printf('100%%')") == [(None, "5", "100%")]
    for wide in ("printf('%.*c', 1000000000, 'x')", "format('%01000000000d', 5)", "printf('%.99999f', 1.5)"):
        with pytest.raises(SqlError, match="no width above 999"):
            ReadOnly(ward).run(f"SELECT length({wide})")


@each_row("sql", [
    "SELECT date('now')", "SELECT datetime( ' NOW ')", "SELECT CURRENT_DATE", "SELECT current_timestamp", "SELECT date()",
    "SELECT strftime('%Y')", "SELECT random()", "SELECT 1 ORDER BY randomblob(4)",
])  # fmt: skip
def test_statements_that_depend_on_the_date_or_on_chance_are_refused(sql, tmp_path):
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table if not exists t (a)")
    with pytest.raises(SqlError):
        ReadOnly(path).run(sql)
    assert ReadOnly(path).run("SELECT strftime('%Y', '2100-01-02'), date('2100-01-02', '-1 day')") == [
        ("2100", "2100-01-01")
    ]
