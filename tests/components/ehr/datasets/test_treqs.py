import json
import sqlite3

import pytest

from components.ehr.datasets.treqs import Treqs
from components.ehr.metadata import metadata
from tests.components.cab_files import DATA, needs, refused, write
from tests.components.ehr.datasets.test_mimicsql import TREQS

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
        told = [{**row, "question_refine": f"{name}: {row['question_refine']}"} for row in rows]
        write(folder / "mimicsql_data" / f"mimicsql_{name}" / "test.json", "\n".join(map(json.dumps, told)))
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


def test_what_is_missing_is_said_before_the_first_sample(tmp_path):
    complaint = refused(treqs(tmp_path, sqlite=str(tmp_path / "none.db")))
    assert "none.db; build mimic.db from the credentialed MIMIC-III" in complaint and "dataset=ehr_mini" in complaint
    assert "dev.json; set CLINICAL_DATA_DIR" in refused(treqs(tmp_path), "dev")
    assert "mimicsql_natural/test.json" in refused(treqs(tmp_path, wording="question", edition="natural"))
    assert "MIMICSQL has test, dev, train; found 'valid'" in refused(treqs(tmp_path), "valid")
    dataset = treqs(tmp_path)
    assert dataset.splits == ("test",) and dataset.privacy == "credentialed"


def test_wrong_question_is_refused_with_file_line_and_key(tmp_path):
    wrong = {**AGES, "sql": 'SELECT LAB."NO" FROM LAB'}
    assert "test.json:2: sql: the gold SQL fails on" in refused(treqs(tmp_path, [AGES, wrong]))
    assert "test.json:2: format: must be an object" in refused(treqs(tmp_path, [AGES, {**AGES, "format": 3}]))


def test_fingerprint_follows_wording_and_content(tmp_path):
    prints = {treqs(tmp_path).fingerprint, treqs(tmp_path, wording="question").fingerprint}
    prints.add(treqs(tmp_path, [AGES]).fingerprint)
    mimic(tmp_path / "mimic.db", PATIENTS[:2])
    prints.add(treqs(tmp_path, [AGES]).fingerprint)
    assert len(prints) == 4


@needs("mimicsql_treqs")
@pytest.mark.parametrize(("split", "least"), [("test", 300), ("dev", 50)])
@pytest.mark.parametrize("wording", ["template", "question"])
def test_sql_of_every_question_of_the_data_runs_on_the_five_tables(tmp_path, wording, split, least):
    dataset = Treqs(str(DATA / "mimicsql_treqs"), mimic(tmp_path / "mimic.db"), split, wording, cache=str(tmp_path))
    samples = list(dataset.load(split))
    assert len(samples) >= least and {one.strata["level"] for one in samples} == {"I", "II", "III"}
    counts = [one.target["answer"] for one in samples if one.strata["operation"] == "count"]
    assert counts and all(len(answer) == 1 and answer[0].isdigit() for answer in counts)
