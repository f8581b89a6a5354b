import ast

import pytest

from components.ehr.datasets.cab_ehrsql import CabEhrsql
from tests.components.cab_files import DATA, database, needs, refused
from tests.components.ehr.datasets.test_ehrsql2024_files import SQL, written


def ehrsql(folder, **arguments):
    if not (folder / "data/mimic_iv/mimic_iv.sqlite").exists():
        database(folder / "data/mimic_iv/mimic_iv.sqlite")
    return CabEhrsql(written(folder, **arguments))


def test_answerable_questions_have_rows_and_a_database(tmp_path):
    (sample,) = ehrsql(tmp_path).load("test")
    assert sample.problem.id == "ehrsql-test-a" and sample.problem.question.startswith("How?\nIf the database")
    assert (sample.target, sample.problem.inputs) == ({"answer": "[['po']]"}, {"sql_database": "mimic_iv"})
    assert sample.files == {"mimic_iv": str(tmp_path / "data/mimic_iv/mimic_iv.sqlite")}
    assert sample.metadata == {"task": "ehrsql", "sql": SQL, "sql_dialect": "mimic_iv"}


@pytest.mark.parametrize("answer", ["po", "['po']", "[['po']", "__import__('os')"])
def test_answer_that_is_no_list_of_rows_is_refused(tmp_path, answer):
    complaint = refused(ehrsql(tmp_path, answers={"a": answer, "b": "null"}))
    assert "data.json: data: record 1: id: the answer must be the text of a list of rows" in complaint


def test_missing_database_is_said_before_the_first_sample(tmp_path):
    assert "mimic_iv.sqlite; set CLINICAL_DATA_DIR" in refused(CabEhrsql(written(tmp_path)))


def test_splits_and_fingerprint_follow_the_files(tmp_path):
    first = ehrsql(tmp_path).fingerprint
    assert ehrsql(tmp_path, answers={"a": "[['iv']]", "b": "null"}).fingerprint != first
    ehrsql(tmp_path, split="train")
    assert ehrsql(tmp_path).splits == ("test", "train")


@needs("ehrsql2024")
def test_every_row_of_the_data_is_read():
    dataset = CabEhrsql(str(DATA / "ehrsql2024"))
    sizes = {split: len(list(dataset.load(split))) for split in dataset.splits}
    assert sizes["test"] in (240, 934) and sizes["valid"] >= 40 and sizes["train"] >= 90
    samples = {sample.problem.id: sample for sample in dataset.load("test")}
    found = samples["ehrsql-test-d704f27fd79c99e4a27f1581"]
    assert (ast.literal_eval(found.target["answer"]), found.cluster) == ([["13"]], "10026354")
