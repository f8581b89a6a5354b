import json

import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.mimicsql import Condition, standard_sql, treqs_questions
from components.ehr.metadata import metadata
from tests.components.cab_files import DATA, needs, write

TREQS = {
    "key": "k1",
    "format": {"table": [0, 1], "cond": [[1, 3, 0, "Alzheimer's disease"]], "agg_col": [[0, 0]], "sel": 1},
    "question_refine": "how many patients have alzheimer's disease? ",
    "sql": 'SELECT COUNT ( DISTINCT DEMOGRAPHIC."SUBJECT_ID" ) FROM DEMOGRAPHIC INNER JOIN DIAGNOSES on '
    'DEMOGRAPHIC.HADM_ID = DIAGNOSES.HADM_ID WHERE DIAGNOSES."SHORT_TITLE" = "Alzheimer\'s disease"',
}


def lines(path, *rows):
    return write(path, "\n".join(json.dumps(row) for row in rows))


def test_question_has_its_parts_by_name(tmp_path):
    (one,) = treqs_questions(lines(tmp_path / "test.json", TREQS))
    assert (one.key, one.question, one.operation) == ("k1", "how many patients have alzheimer's disease?", "count")
    assert one.tables == ("DEMOGRAPHIC", "DIAGNOSES")
    assert one.conditions == (Condition("DIAGNOSES", "SHORT_TITLE", "=", "Alzheimer's disease"),)
    assert one.sql.endswith("WHERE DIAGNOSES.SHORT_TITLE = 'Alzheimer''s disease'")


@pytest.mark.parametrize(
    ("sql", "standard"),
    [
        ('SELECT LAB."FLAG" FROM LAB', "SELECT LAB.FLAG FROM LAB"),
        ('WHERE A."AGE" < "60" AND A."X" = "a b"', "WHERE A.AGE < '60' AND A.X = 'a b'"),
        ('= "Tonsil&adenoid ""x"" 20%"', "= 'Tonsil&adenoid \"x\" 20%'"),
        ('= \'it\'\'s "so"\' AND B."C" = ""', "= 'it''s \"so\"' AND B.C = ''"),
        ("SELECT 1", "SELECT 1"),
    ],
)
def test_literals_stand_in_single_quotes_and_columns_in_none(sql, standard):
    assert standard_sql(sql) == standard


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"key": 3}, "key: must be a text, found 3"),
        ({"format": []}, "format: must be an object, found []"),
        ({"format": {**TREQS["format"], "table": [5]}}, "format.table: must be a list of numbers from 0 to 4"),
        ({"format": {**TREQS["format"], "table": []}}, "format.table: must be a list of numbers from 0 to 4"),
        ({"format": {**TREQS["format"], "sel": 5}}, "format.sel: must be a number from 0 to 4, found 5"),
        ({"format": {**TREQS["format"], "cond": None}}, "format.cond: must be a list, found None"),
        (
            {"format": {**TREQS["format"], "cond": [[1, 99, 0, "x"]]}},
            "format.cond: must hold [table, column, operator,",
        ),
        ({"format": {**TREQS["format"], "cond": [[True, 0, 0, "x"]]}}, "format.cond: must hold [table, column,"),
        ({"sql": 'SELECT "a'}, "sql: has a quote that is not closed"),
    ],
)
def test_wrong_question_is_refused_with_file_line_and_key(tmp_path, fields, told):
    with pytest.raises(ConfigError) as caught:
        list(treqs_questions(lines(tmp_path / "test.json", TREQS, {**TREQS, **fields})))
    assert f"test.json:2: {told}" in str(caught.value)


@needs("mimicsql_treqs")
@pytest.mark.parametrize("wording", ["template", "natural_v2"])
@pytest.mark.parametrize(("split", "least"), [("test", 300), ("dev", 50)])
def test_conditions_of_the_data_are_those_of_their_sql(wording, split, least):
    file = DATA / "mimicsql_treqs" / "mimicsql_data" / f"mimicsql_{wording}" / f"{split}.json"
    questions = list(treqs_questions(file))
    assert len(questions) >= least
    known = {table.upper(): columns for table, columns in metadata("treqs").tables.items()}
    for one in questions:
        assert '"' not in one.sql
        assert all(
            f"{c.table}.{c.column} {c.operator} " in one.sql and c.column in known[c.table] for c in one.conditions
        )
        assert all(table in one.sql for table in one.tables)
