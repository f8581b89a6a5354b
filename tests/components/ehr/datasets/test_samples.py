import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.samples import EhrQuestion, Source, open_source
from components.ehr.metadata import metadata
from components.files.rows import Row
from tests.components.cab_files import database, write

SQL = "select a.x from a join b on a.y = b.y where a.z in ( select c.z from c )"


def asked(sql=SQL, **facts):
    return EhrQuestion(Row("r", {}), "1", "p", "t", sql, **facts)


def test_the_context_lists_tables_columns_and_the_time(tmp_path):
    description = open_source("mimic_iii", database(tmp_path / "m.db")).context
    assert metadata("mimic_iii").overview in description
    assert "\nadmissions: ROW_ID, SUBJECT_ID, HADM_ID," in description
    assert description.endswith("The current time is 2105-12-31 23:59:00.")
    assert "current time" not in open_source("treqs", tmp_path / "m.db").context


@pytest.mark.parametrize(("joins", "n_tables", "level"), [(True, 3, "III"), (False, 2, "II")])
def test_sample_holds_gold_where_no_agent_can_see_it(tmp_path, joins, n_tables, level):
    asked_of = open_source("mimic_iii", database(tmp_path / "m.db"))
    found = asked(tag="x of {a} [b]?").gold("query", ["1", "b"], joins)
    sample = asked_of.sample("one", asked(strata={"importance": "low"}), "x of 1?", found)
    assert sample.target == {"answer": ["1", "b"]}
    assert sample.strata == {
        "database": "mimic_iii", "level": level, "importance": "low",
        "n_tables": str(n_tables), "n_columns": "5", "n_slots": "2",
    }  # fmt: skip
    assert sample.metadata == {
        "sql": SQL, "sql_dialect": "mimic_iii", "template": "t", "paraphrase": "p", "answerable": True,
        "n_tables": n_tables, "n_columns": 5, "n_slots": 2, "may_abstain": False,
    }  # fmt: skip
    assert sample.files == {"database": str(tmp_path / "m.db")}
    assert (sample.problem.id, sample.problem.question, sample.problem.inputs) == ("one-1", "x of 1?", {})
    assert sample.problem.context == asked_of.context and "select" not in str(sample.problem)


def test_unanswerable_question_has_no_answer_and_no_level(tmp_path):
    sample = open_source("eicu", database(tmp_path / "e.db")).sample("one", asked(None), "phone?", None)
    assert (sample.target, sample.strata) == ({"answer": None}, {"database": "eicu", "level": "unanswerable"})
    assert (sample.metadata["sql"], sample.metadata["answerable"], sample.metadata["n_tables"]) == (None, False, None)


def test_the_card_of_the_dataset_has_the_size_of_the_database(tmp_path):
    file = tmp_path / "m.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript("create table a (x); create table b (x); insert into a values (1), (2), (3)")
    card = open_source("mimic_iii", file).sample("one", asked(None), "phone?", None).card
    assert card == {"database (size), samples of each": "mimic_iii (2 tables, 1.5 rows per table)"}
    found = asked().gold("query", ["1"], True)
    assert open_source("mimic_iii", file).sample("one", asked(), "x?", found).card["tables per question"] == 3
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript("insert into b select a.x from a, a as c")
    assert open_source("mimic_iii", file).size == "mimic_iii (2 tables, 6.0 rows per table)"


def test_an_invalid_question_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="r: query: names no table after 'from'"):
        asked("select 1").gold("query", [], True)
    with pytest.raises(ConfigError, match=r"cut\.db: not a readable database"):
        open_source("eicu", write(tmp_path / "cut.db", "no database" * 99))
    with pytest.raises(ConfigError, match="mimic_iii"):
        open_source("mimic", database(tmp_path / "m.db"))


ROUTES = "select route from prescriptions"


def rows(folder, *statements, clock="2105-12-31 23:59:00"):
    places = [Row(f"q.json: record {n}", {"query": sql}) for n, sql in enumerate(statements, 1)]
    questions = [EhrQuestion(row, "1", "p", "t", row.values["query"]) for row in places]
    if not (folder / "a.db").exists():
        database(folder / "a.db", [("aspirin", "po"), ("zinc", None), ("iron", 1.5)])
    source = Source(replace(metadata("mimic_iii"), clock=clock), folder / "a.db", "", "")
    return source.rows(questions, "query", str(folder / "cache"), 5)


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
    ("sql", "message"),
    [
        ("select nothing from prescriptions", "the gold SQL fails on .*a.db: .*nothing"),
        ("delete from prescriptions", "the gold SQL fails on .*a.db: "),
        ("select x'00'", "the gold SQL gives bytes on .*a.db"),
    ],
)
def test_statement_that_gives_no_answer_is_refused_with_its_record(tmp_path, sql, message):
    with pytest.raises(ConfigError, match=f"q.json: record 2: query: {message}"):
        rows(tmp_path, ROUTES, sql)
    assert not (tmp_path / "cache").exists()
