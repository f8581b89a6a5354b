"""Gold answers match a second computation without SQL; ties and long lists are refused."""

import sqlite3

import pytest

from data_builders.ehr_mini.__main__ import export
from data_builders.ehr_mini.gold_answers import Asker, selects
from data_builders.ehr_mini.questions import filled_sql
from data_builders.ehr_mini.schema import SHIPPED, Schema
from tests.data_builders.ehr_mini import independent_mimic, independent_others
from tests.data_builders.ehr_mini.independent import ANSWERS, Tables, texts
from tests.data_builders.ehr_mini.shipped import DATABASES, answerable, reading

CLOCK = "2105-12-31 23:59:00"
assert independent_mimic and independent_others  # they fill ANSWERS


@pytest.fixture(scope="module")
def csv_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    export(SHIPPED, folder)
    return {database: Tables(folder / database) for database in DATABASES}


@pytest.mark.parametrize("database", DATABASES)
def test_plain_python_over_the_csv_files_gives_the_gold_answers(database, csv_files):
    wrong = []
    for split in ("test", "valid", "train"):
        for record in answerable(database, split):
            found = texts(ANSWERS[record["template_id"]](csv_files[database], **record["value"]))
            if found != sorted(record["answer"]):
                wrong.append((record["id"], record["answer"], found))
    assert not wrong


@pytest.mark.parametrize("database", DATABASES)
def test_the_gold_sql_of_a_record_gives_its_answer_on_the_shipped_database(database):
    with reading(database) as connection:
        asker = Asker(connection, Schema.of(database).clock)
        wrong = [
            record["id"]
            for split in ("test", "valid", "train")
            for record in answerable(database, split)
            if asker.answer(record["query"]) != record["answer"]
        ]
    assert not wrong


@pytest.fixture
def asker():
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table lab (label text, value real, time text)")
        rows = [("a", 1, "1"), ("a", 2, "2"), ("a", 3, "2"), ("b", 4, "1"), ("b", 4, "1"), ("it's (1)", None, "3")]
        connection.executemany("insert into lab values (?, ?, ?)", rows)
        connection.executemany("insert into lab values ('long', ?, '1')", [(n,) for n in range(21)])
        yield Asker(connection, CLOCK)
    connection.close()


LAST = "select value from lab where label = '{}' order by time desc limit 1"
REFUSED = {
    "nothing found": "select value from lab where label = 'none'",
    "only missing values": "select value from lab where label = 'it''s (1)'",
    "21 values": "select value from lab where label = 'long'",
    "two values at the last time": LAST.format("a"),
    "a tie inside": f"select label from lab where value = ( {LAST.format('a')} )",
}
KEPT = {
    "a tie of equal values": (LAST.format("b"), ["4"]),
    "a tie behind the first": ("select value from lab where label = 'a' order by time asc limit 1", ["1"]),
    "20 values": ("select distinct value from lab where value between 1 and 20", [str(n) for n in range(1, 21)]),
    "the clock": ("select datetime(current_time, '-6 month')", ["2105-07-01 23:59:00"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_ambiguous_question_is_refused(case, asker):
    assert asker.answer(REFUSED[case]) is None


@pytest.mark.parametrize("case", KEPT)
def test_unambiguous_question_is_kept(case, asker):
    sql, answer = KEPT[case]
    assert sorted(asker.answer(sql)) == sorted(answer)


def test_question_for_one_value_needs_a_single_value(asker):
    sql = "select value from lab where label = 'a' and time = '2'"
    assert asker.answer(sql) == ["2", "3"]
    assert asker.answer(sql, single=True) is None


def test_parentheses_in_strings_do_not_split_a_statement():
    inner = " select a from t where b = 'x) (' "
    assert list(selects(f"select 1 where c in ({inner}) and d = 'it''s (('")) == [
        f"select 1 where c in ({inner}) and d = 'it''s (('",
        inner,
    ]


def test_quotes_in_values_are_doubled():
    assert filled_sql("select '{drug}', {n}", {"drug": "st. john's", "n": 3}) == "select 'st. john''s', 3"


@pytest.mark.parametrize("name", ANSWERS)
def test_every_template_is_asked_in_test_and_valid(name):
    database = {"M": "mimic_iii", "E": "eicu", "T": "treqs"}[name[0]]
    for split in ("test", "valid"):
        assert any(record["template_id"] == name for record in answerable(database, split))
