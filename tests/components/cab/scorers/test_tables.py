import ast
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from components.cab.scorers.case import Case, Unscored
from components.cab.scorers.tables import is_query, official, strict
from tests.table import each_row


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    folder = tmp_path_factory.mktemp("db") / "mimic_iii"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "mimic_iii.db")) as made, made:
        made.execute("CREATE TABLE drugs(patient INTEGER, drug TEXT, dose REAL)")
        rows = [(1, "heparin", 5.0), (1, "aspirin", 1.45678), (2, "heparin", None)]
        made.executemany("INSERT INTO drugs VALUES (?, ?, ?)", rows)
    return folder


def both(form, answer, gold, database=None, dialect="mimic_iii"):
    case = Case(answer, {"answer": gold}, database=database, dialect=dialect, form=form)
    return (official(case).value, strict(case).value)


TWO = "[['heparin', '5.0'], ['aspirin', '1.457']]"


@each_row(
    "answer, gold, by_reference, repaired",
    [
        ("aspirin 1.457 and heparin 5", TWO, 1, 1),
        ("aspirin and heparin", TWO, 1, 0),
        ("aspirins 1.457, heparin 5", TWO, 1, 0),
        ("SELECT drug, dose FROM drugs WHERE patient = 1", TWO, 1, 1),
        ("SELECT dose, drug FROM drugs WHERE patient = 1", TWO, 1, 1),
        ("SELECT drug, 1.457 FROM drugs WHERE patient = 1", TWO, 1, 0),
        ("WITH d AS (SELECT * FROM drugs) SELECT drug, dose FROM d", TWO, 1, 1),
        ("SELECT drug FROM medicines", TWO, 0, 0),
        ("SELECT patient FROM drugs", "[['1.0'], ['1.0']]", 1, 1),
        ("SELECT DISTINCT patient FROM drugs", "[['1.0'], ['1.0']]", 1, 0),
        ("12", "[['2.0']]", 0, 0),
        ("112.0", "[['2.0']]", 1, 0),
        ("12.0", "[['2.0']]", 1, 0),
        ("none", "[['None']]", 0, 1),
        ("anything", "[]", 1, 0),
        ("[]", "[]", 1, 1),
        ("SELECT drug FROM drugs WHERE patient = 9", "[]", 1, 1),
        ("not recorded here", "not recorded", 1, 1),
        ("it is unknown", "'known'", 1, 0),
        ("heparin", [["heparin"]], 1, 1),
        ("h", "['heparin']", 1, 0),
        ("5", 5, 1, 1),
    ],
)
def test_rows(ward, answer, gold, by_reference, repaired):
    assert both("rows", answer, gold, ward) == (by_reference, repaired)


@each_row(
    "answer, gold, by_reference, repaired",
    [
        ("heparin, aspirin", ["heparin", "aspirin"], 1, 1),
        ("heparin", ["heparin", "aspirin"], 0, 0),
        ("SELECT drug FROM drugs", ["heparin", "aspirin"], 1, 1),
        ("SELECT dose FROM drugs", ["5.0", "1.457"], 1, 1),
        ("15.0", ["5.0"], 1, 0),
        ("no result", [], 0, 1),
        ("SELECT drug FROM drugs WHERE patient = 9", [], 0, 1),
        ("SELECT drug FROM drugs", [], 0, 0),
        ("nirhepa", "heparin", 1, 0),
        ("heparin", "['heparin']", 0, 1),
    ],
)
def test_values(ward, answer, gold, by_reference, repaired):
    assert both("values", answer, gold, ward) == (by_reference, repaired)


@each_row(
    "answer, by_reference, repaired",
    [
        ("No result", 1, 1),
        ("There are no results to show", 0, 1),
        ("I can call no resulting drug", 0, 0),
        ("[]", 1, 1),
        ("SELECT drug FROM drugs WHERE patient = 9", 1, 1),
        ("SELECT drug FROM drugs", 0, 0),
        ("DELETE FROM drugs", 0, 0),
        ("heparin", 0, 0),
    ],
)
def test_no_result(ward, answer, by_reference, repaired):
    assert both("no_result", answer, None, ward) == (by_reference, repaired)


@each_row(
    "answer, is_one",
    [
        ("select 1", True),
        ("```sql\nSELECT 1\n```", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("with recursive n(i) as (select 1) select i from n", True),
        ("With regard to heparin", False),
        ("Selected drugs: heparin", False),
        ("The query is SELECT 1", False),
        ("DROP TABLE drugs", False),
    ],
)
def test_sql_is_what_begins_as_a_query(answer, is_one):
    assert is_query(answer) is is_one


def test_a_failed_statement_is_reported():
    case = Case("SELECT 1 FROM x", {"answer": "[]"}, database=Path(__file__), dialect="eicu", form="rows")
    assert "not executed: " in strict(case).explanation


def test_sql_without_a_database_cannot_be_scored_but_words_can():
    with pytest.raises(Unscored, match="no database"):
        both("rows", "SELECT 1", TWO)
    with pytest.raises(Unscored, match="no database"):
        official(Case("You can use heparin", {"answer": "[['heparin']]"}, form="rows"))
    assert strict(Case("You can use heparin", {"answer": "[['heparin']]"}, form="rows")).value == 1


def test_broken_key_cannot_be_scored():
    with pytest.raises(Unscored, match="a table or a text"):
        official(Case("5", {"answer": None}, form="values"))


FOLDER = os.environ.get("CLINICAL_DATA_DIR")


@pytest.mark.skipif(not FOLDER, reason="needs CLINICAL_DATA_DIR")
def test_every_gold_query_and_every_gold_table_in_words_is_right():
    folder = Path(FOLDER or "") / "ehrsql2024" / "data" / "mimic_iv"
    answers, queries = (orjson.loads((folder / "valid" / f"{name}.json").read_bytes()) for name in ("answer", "label"))
    n_scored = 0
    for name, gold in answers.items():
        if queries[name] == "null":
            continue
        n_scored += 1
        words = "; ".join(" ".join(row) for row in ast.literal_eval(gold)) or "no result"
        assert both("rows", queries[name], gold, folder, "mimic_iv") == (1, 1)
        assert strict(Case(words, {"answer": gold}, database=folder, form="rows")).value == 1
    assert n_scored > 30
