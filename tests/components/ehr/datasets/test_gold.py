import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.gold import gold_rows
from components.files.rows import Row
from tests.components.cab_files import database

ROUTES = "select route from prescriptions"


def rows(folder, *statements, clock="2105-12-31 23:59:00"):
    asked = [(Row(f"q.json: record {n}", {"query": sql}), sql) for n, sql in enumerate(statements, 1)]
    if not (folder / "a.db").exists():
        database(folder / "a.db", [("aspirin", "po"), ("zinc", None), ("iron", 1.5)])
    return gold_rows(asked, "query", folder / "a.db", clock, cache=str(folder / "cache"), seconds=5)


def test_rows_are_those_of_the_sql_at_the_fixed_time(tmp_path):
    assert rows(tmp_path, ROUTES, "select strftime('%y', current_time), 2, 0.1") == [
        [["po"], [None], ["1.5"]],
        [["2105", 2, 0.1]],
    ]


def test_rows_are_worked_out_once_per_content(tmp_path):
    rows(tmp_path, ROUTES)
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b'"po"', b'"by mouth"'))
    assert rows(tmp_path, ROUTES)[0][0] == ["by mouth"]
    assert rows(tmp_path, f"{ROUTES} limit 1") == [[["po"]]]
    assert rows(tmp_path, ROUTES, clock=None)[0][0] == ["po"]
    database(tmp_path / "a.db", [("aspirin", "pr")])
    assert rows(tmp_path, ROUTES) == [[["pr"]]]


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("select nothing from prescriptions", "the gold SQL fails on .*a.db: .*nothing"),
        ("delete from prescriptions", "the gold SQL fails on .*a.db: "),
        ("select x'00'", "the gold SQL gives bytes on .*a.db"),
    ],
)
def test_statement_that_gives_no_answer_is_refused_with_its_record(tmp_path, sql, told):
    with pytest.raises(ConfigError, match=f"q.json: record 2: query: {told}"):
        rows(tmp_path, ROUTES, sql)
    assert not (tmp_path / "cache").exists()
