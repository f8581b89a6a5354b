import ast
from collections import Counter
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.ehrsql2024 import CabEhrsql, Ehrsql2024, questions_2024, split_files
from components.ehr.interpreters import run_sql
from components.ehr.metadata import metadata
from components.text.values import strict
from tests.components.cab_files import DATA, database, needs, refused, write
from tests.slow import slow

SQL = "SELECT route FROM prescriptions"


def written(folder, labels=None, answers=None, split="test"):
    place = folder / "data" / "mimic_iv" / split
    asked = [{"id": "a", "question": "How?"}, {"id": "b", "question": "What is software?"}]
    write(place / "data.json", {"version": "1", "data": asked})
    write(place / "label.json", labels or {"a": SQL, "b": "null"})
    write(place / "answer.json", answers or {"a": "[['po']]", "b": "null"})
    return str(folder)


def split(*arguments):
    return split_files(written(*arguments), "test")[0]


def test_three_files_are_joined_by_id(tmp_path):
    first, second = questions_2024(split(tmp_path))
    assert (first.id, first.question, first.sql, first.patient) == ("a", "How?", SQL, None)
    assert first.row.values["answer"] == "[['po']]" and second.sql is None


def test_annotations_name_the_patient(tmp_path):
    notes = [{"id": "a", "val_dict": {"val_placeholder": {"patient_id": 7}}}, {"id": "b", "val_dict": "-"}]
    write(tmp_path / "data" / "mimic_iv" / "test" / "annotated.json", notes)
    assert [one.patient for one in questions_2024(split(tmp_path))] == ["7", None]


@pytest.mark.parametrize(
    ("labels", "answers", "message"),
    [
        ({"a": SQL}, None, "label.json: b: is missing"),
        (None, {"a": "null", "b": "null"}, "label.json: a: has SQL or an answer, but not both"),
        ({"a": 3, "b": "null"}, None, "label.json: a: must be a text, found 3"),
    ],
)
def test_files_that_disagree_are_refused(tmp_path, labels, answers, message):
    with pytest.raises(ConfigError, match=message):
        list(questions_2024(split(tmp_path, labels, answers)))


THIRD = "SELECT 1.0 / 3 FROM prescriptions LIMIT 1"


def ehrsql(folder, **arguments):
    if not (folder / "data/mimic_iv/mimic_iv.sqlite").exists():
        database(folder / "data/mimic_iv/mimic_iv.sqlite", [("aspirin", "po")])
    given = {name: arguments.pop(name) for name in ("labels", "answers", "split") if name in arguments}
    return Ehrsql2024(written(folder, **given), cache=str(folder / "cache"), **arguments)


def test_unanswerable_questions_are_included(tmp_path):
    first, second = ehrsql(tmp_path).load("test")
    assert (first.problem.id, first.problem.question, first.target) == ("ehrsql2024-test-a", "How?", {"answer": ["po"]})
    assert (second.target, second.metadata["executable"]) == ({"answer": None}, None)
    assert [one.strata["level"] for one in (first, second)] == ["I", "unanswerable"]
    assert (first.metadata["sql"], first.metadata["sql_dialect"], first.metadata["executable"]) == (
        SQL,
        "mimic_iv",
        True,
    )
    assert first.files == {"database": str(tmp_path / "data/mimic_iv/mimic_iv.sqlite")}
    assert [one.problem.id for one in ehrsql(tmp_path, unanswerable=False).load("test")] == ["ehrsql2024-test-a"]


@pytest.mark.parametrize(
    ("published", "answer", "executable"),
    [("[['0.333']]", ["0.333333"], True), ("[['0.334']]", ["0.334"], False), ("[['0.333'], ['1']]", ["0.333", "1"], False)],
)  # fmt: skip
def test_a_rounded_answer_is_given_in_full_where_the_sql_returns_it(tmp_path, published, answer, executable):
    labels, answers = {"a": THIRD, "b": "null"}, {"a": published, "b": "null"}
    sample = next(ehrsql(tmp_path, labels=labels, answers=answers).load("test"))
    assert (sample.target["answer"], sample.metadata["executable"]) == (answer, executable)


def test_a_truncated_answer_is_given_in_full(tmp_path):
    database(tmp_path / "data/mimic_iv/mimic_iv.sqlite", [("x", f"r{n:03}") for n in range(120)])
    published = str([[f"r{n:03}"] for n in range(100)])
    sample = next(ehrsql(tmp_path, answers={"a": published, "b": "null"}).load("test"))
    assert (len(sample.target["answer"]), sample.metadata["executable"]) == (120, True)


def test_annotations_give_patient_and_slots(tmp_path):
    placed = {"val_placeholder": {"patient_id": 7}}
    notes = [{"id": "a", "template": "How {x} [y]?", "val_dict": placed}, {"id": "b", "template": "-", "val_dict": "-"}]
    write(tmp_path / "data" / "mimic_iv" / "test" / "annotated.json", notes)
    first, second = ehrsql(tmp_path).load("test")
    assert (first.cluster, first.metadata["n_slots"], first.metadata["template"]) == ("7", 2, "How {x} [y]?")
    assert (second.cluster, second.metadata["template"]) == (None, None)


def test_missing_database_is_said_before_the_first_sample(tmp_path):
    assert "mimic_iv.sqlite; set CLINICAL_DATA_DIR" in refused(Ehrsql2024(written(tmp_path)))


def test_splits_and_fingerprint_follow_choice_and_files(tmp_path):
    prints = {ehrsql(tmp_path).fingerprint, ehrsql(tmp_path, unanswerable=False).fingerprint}
    assert len(prints | {ehrsql(tmp_path, answers={"a": "[['iv']]", "b": "null"}).fingerprint}) == 3
    ehrsql(tmp_path, split="train")
    assert ehrsql(tmp_path).splits == ("test", "train")


@needs("ehrsql2024")
@pytest.mark.parametrize("split", ["valid", *(pytest.param(one, marks=slow) for one in ("test", "train"))])
def test_every_question_of_the_slice_is_answered_by_its_sql(tmp_path, split):
    samples = list(Ehrsql2024(str(DATA / "ehrsql2024"), cache=str(tmp_path)).load(split))
    sizes = Counter(sample.metadata["executable"] for sample in samples)
    executable, unanswerable = {"test": (240, 60), "valid": (40, 10), "train": (90, 10)}[split]
    assert sizes[True] >= executable and sizes[None] >= unanswerable and (len(samples) > 300 or not sizes[False])
    clock = metadata("mimic_iv").clock
    for one in samples:
        if one.metadata["executable"]:
            rows = run_sql(Path(one.files["database"]), one.metadata["sql"], clock)
            assert strict(str(rows), one.target["answer"]), one.problem.id


def cab_ehrsql(folder, **arguments):
    if not (folder / "data/mimic_iv/mimic_iv.sqlite").exists():
        database(folder / "data/mimic_iv/mimic_iv.sqlite")
    return CabEhrsql(written(folder, **arguments))


def test_cab_asks_answerable_questions_with_a_database(tmp_path):
    (sample,) = cab_ehrsql(tmp_path).load("test")
    assert sample.problem.id == "ehrsql-test-a" and sample.problem.question.startswith("How?\nIf the database")
    assert (sample.target, sample.problem.inputs) == ({"answer": "[['po']]"}, {"sql_database": "mimic_iv"})
    assert sample.files == {"mimic_iv": str(tmp_path / "data/mimic_iv/mimic_iv.sqlite")}
    assert sample.metadata == {"task": "ehrsql", "sql": SQL, "sql_dialect": "mimic_iv"}


@pytest.mark.parametrize("answer", ["po", "['po']", "[['po']", "__import__('os')"])
def test_an_answer_that_is_not_a_list_of_rows_is_refused(tmp_path, answer):
    complaint = refused(cab_ehrsql(tmp_path, answers={"a": answer, "b": "null"}))
    assert "data.json: data: record 1: id: the answer must be the text of a list of rows" in complaint


def test_cab_s_splits_and_fingerprint_follow_the_files(tmp_path):
    first = cab_ehrsql(tmp_path).fingerprint
    assert cab_ehrsql(tmp_path, answers={"a": "[['iv']]", "b": "null"}).fingerprint != first
    cab_ehrsql(tmp_path, split="train")
    assert cab_ehrsql(tmp_path).splits == ("test", "train")


@needs("ehrsql2024")
def test_every_row_of_cab_s_data_is_read():
    dataset = CabEhrsql(str(DATA / "ehrsql2024"))
    sizes = {split: len(list(dataset.load(split))) for split in dataset.splits}
    assert sizes["test"] in (240, 934) and sizes["valid"] >= 40 and sizes["train"] >= 90
    samples = {sample.problem.id: sample for sample in dataset.load("test")}
    found = samples["ehrsql-test-d704f27fd79c99e4a27f1581"]
    assert (ast.literal_eval(found.target["answer"]), found.cluster) == ([["13"]], "10026354")
