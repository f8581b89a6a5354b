from collections import Counter
from pathlib import Path

import pytest

from components.ehr.datasets.ehrsql2024 import Ehrsql2024
from components.ehr.metadata import metadata
from components.ehr.statements import run_sql
from components.text.values import strict
from tests.components.cab_files import DATA, database, needs, refused, write
from tests.components.ehr.datasets.test_ehrsql2024_files import SQL, written
from tests.slow import slow

THIRD = "SELECT 1.0 / 3 FROM prescriptions LIMIT 1"


def ehrsql(folder, **arguments):
    if not (folder / "data/mimic_iv/mimic_iv.sqlite").exists():
        database(folder / "data/mimic_iv/mimic_iv.sqlite", [("aspirin", "po")])
    given = {name: arguments.pop(name) for name in ("labels", "answers", "split") if name in arguments}
    return Ehrsql2024(written(folder, **given), cache=str(folder / "cache"), **arguments)


def test_what_no_table_answers_is_asked_too(tmp_path):
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
def test_rounded_answer_is_told_in_full_where_the_sql_gives_it(tmp_path, published, answer, executable):
    labels, answers = {"a": THIRD, "b": "null"}, {"a": published, "b": "null"}
    sample = next(ehrsql(tmp_path, labels=labels, answers=answers).load("test"))
    assert (sample.target["answer"], sample.metadata["executable"]) == (answer, executable)


def test_answer_that_was_cut_is_told_in_full(tmp_path):
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


@pytest.mark.parametrize(
    ("labels", "answers", "told"),
    [
        ({"a": SQL, "b": "null"}, {"a": "po", "b": "null"}, "the answer must be the text of a list of rows"),
        ({"a": "SELECT no FROM prescriptions", "b": "null"}, None, "the gold SQL fails on"),
        ({"a": "SELECT 1", "b": "null"}, None, "names no table"),
    ],
)
def test_wrong_question_is_refused_with_file_record_and_key(tmp_path, labels, answers, told):
    assert f"data.json: data: record 1: id: {told}" in refused(ehrsql(tmp_path, labels=labels, answers=answers))


def test_missing_database_is_said_before_the_first_sample(tmp_path):
    assert "mimic_iv.sqlite; set CLINICAL_DATA_DIR" in refused(Ehrsql2024(written(tmp_path)))


def test_splits_and_fingerprint_follow_choice_and_files(tmp_path):
    prints = {ehrsql(tmp_path).fingerprint, ehrsql(tmp_path, unanswerable=False).fingerprint}
    assert len(prints | {ehrsql(tmp_path, answers={"a": "[['iv']]", "b": "null"}).fingerprint}) == 3
    ehrsql(tmp_path, split="train")
    assert ehrsql(tmp_path).splits == ("test", "train")


@needs("ehrsql2024")
@pytest.mark.parametrize("split", [pytest.param("test", marks=slow), "valid", "train"])
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
