import json
import sqlite3

import pytest

from components.ehr.datasets.treqs import Treqs, standard_sql, treqs_questions
from components.ehr.metadata import metadata
from tests.components.cab_files import DATA, needs, refused, write
from tests.slow import slow
from tests.table import each_row

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
    assert (one.id, one.question, one.strata["operation"]) == (
        "k1",
        "how many patients have alzheimer's disease?",
        "count",
    )
    assert one.tables == ("DEMOGRAPHIC", "DIAGNOSES")
    assert one.n_conditions == 1
    assert one.sql.endswith("WHERE DIAGNOSES.SHORT_TITLE = 'Alzheimer''s disease'")


@each_row(
    "sql, standard",
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


@needs("mimicsql_treqs")
@each_row("wording", ["template", "natural_v2"])
@each_row("split, least", [("test", 300), ("dev", 50)])
def test_questions_of_the_data_are_read(wording, split, least):
    file = DATA / "mimicsql_treqs" / "mimicsql_data" / f"mimicsql_{wording}" / f"{split}.json"
    questions = list(treqs_questions(file))
    assert len(questions) >= least
    for one in questions:
        assert '"' not in one.sql
        assert all(table in one.sql for table in one.tables)


AGES = {
    "key": "k2", "question_refine": "patients below 60?", "sql": 'SELECT DEMOGRAPHIC."NAME" FROM DEMOGRAPHIC WHERE DEMOGRAPHIC."AGE" < "60"',
    "format": {"table": [0], "cond": [[0, 4, 2, "60"]], "agg_col": [[0, 2]], "sel": 0},
}  # fmt: skip
PATIENTS = [(1, "ann", 59), (2, "bob", 60), (3, "ann", 9), (4, None, 8)]


def mimic(path, patients=PATIENTS):
    """The five tables with a few rows; ages are numbers, which questions compare with texts."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        for table, columns in metadata("treqs").tables.items():
            declared = ", ".join(f'"{name}" {"INTEGER" if kind == "int" else "TEXT"}' for name, kind in columns.items())
            connection.execute(f"CREATE TABLE {table} ({declared})")
        for key, name, age in patients:
            connection.execute("INSERT INTO DEMOGRAPHIC (SUBJECT_ID, HADM_ID, NAME, AGE) VALUES (?, ?, ?, ?)", (key, key, name, age))  # fmt: skip
            connection.execute(
                "INSERT INTO DIAGNOSES (HADM_ID, SHORT_TITLE) VALUES (?, ?)", (key, "Alzheimer's disease")
            )
    connection.close()
    return str(path)


def treqs(folder, rows=(TREQS, AGES), **arguments):
    for name in ("template", "natural_v2"):
        renamed_rows = [{**row, "question_refine": f"{name}: {row['question_refine']}"} for row in rows]
        write(folder / "mimicsql_data" / f"mimicsql_{name}" / "test.json", "\n".join(map(json.dumps, renamed_rows)))
    if not (folder / "mimic.db").exists():
        mimic(folder / "mimic.db")
    return Treqs(str(folder), **{"sqlite": str(folder / "mimic.db"), "cache": str(folder / "cache"), **arguments})


def test_questions_get_the_distinct_values_that_their_sql_gives(tmp_path):
    first, second = treqs(tmp_path).load("test")
    assert (first.target, second.target) == ({"answer": ["4"]}, {"answer": ["ann"]})
    assert (first.problem.id, second.problem.question) == ("treqs-test-k1", "template: patients below 60?")
    assert [first.strata[name] for name in ("database", "level", "operation")] == ["treqs", "II", "count"]
    assert second.strata["level"] == "I"
    assert [first.metadata[name] for name in ("n_tables", "n_columns", "n_slots", "sql_dialect")] == [2, 4, 1, "treqs"]
    assert second.metadata["paraphrase"] == "natural_v2: patients below 60?"
    assert first.files == {"database": str(tmp_path / "mimic.db")}
    asked = next(treqs(tmp_path, wording="question").load("test"))
    assert asked.problem.question.startswith("natural_v2: ") and asked.metadata["template"].startswith("template: ")


def test_missing_files_are_reported_before_the_first_sample(tmp_path):
    complaint = refused(treqs(tmp_path, sqlite=str(tmp_path / "none.db")))
    assert "none.db; build mimic.db from the credentialed MIMIC-III" in complaint and "dataset=ehr_mini" in complaint
    assert "dev.json; set CLINICAL_DATA_DIR" in refused(treqs(tmp_path), "dev")
    assert "mimicsql_natural/test.json" in refused(treqs(tmp_path, wording="question", edition="natural"))
    assert "MIMICSQL has test, dev, train; found 'valid'" in refused(treqs(tmp_path), "valid")
    dataset = treqs(tmp_path)
    assert dataset.splits == ("test",) and dataset.privacy == "credentialed"


def test_fingerprint_follows_wording_and_content(tmp_path):
    prints = {treqs(tmp_path).fingerprint, treqs(tmp_path, wording="question").fingerprint}
    prints.add(treqs(tmp_path, [AGES]).fingerprint)
    mimic(tmp_path / "mimic.db", PATIENTS[:2])
    prints.add(treqs(tmp_path, [AGES]).fingerprint)
    assert len(prints) == 4


@needs("mimicsql_treqs")
@pytest.mark.parametrize(("split", "least"), [("dev", 50), pytest.param("test", 300, marks=slow)])
@pytest.mark.parametrize("wording", ["template", "question"])
def test_sql_of_every_question_of_the_data_runs_on_the_five_tables(tmp_path, wording, split, least):
    dataset = Treqs(
        str(DATA / "mimicsql_treqs"), mimic(tmp_path / "mimic.db"), split=split, wording=wording, cache=str(tmp_path)
    )
    samples = list(dataset.load(split))
    assert len(samples) >= least and {one.strata["level"] for one in samples} == {"I", "II", "III"}
    counts = [one.target["answer"] for one in samples if one.strata["operation"] == "count"]
    assert counts and all(len(answer) == 1 and answer[0].isdigit() for answer in counts)
