import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.ehrsql2024_files import files_2024, questions_2024, sqlite_2024
from tests.components.cab_files import write

SQL = "SELECT route FROM prescriptions"


def written(folder, labels=None, answers=None, split="test"):
    place = folder / "data" / "mimic_iv" / split
    asked = [{"id": "a", "question": "How?"}, {"id": "b", "question": "What is software?"}]
    write(place / "data.json", {"version": "1", "data": asked})
    write(place / "label.json", labels or {"a": SQL, "b": "null"})
    write(place / "answer.json", answers or {"a": "[['po']]", "b": "null"})
    return str(folder)


def test_three_files_are_joined_by_id(tmp_path):
    first, second = questions_2024(written(tmp_path), "test")
    assert (first.id, first.question, first.sql, first.answer, first.patient) == ("a", "How?", SQL, "[['po']]", None)
    assert (second.sql, second.answer) == (None, None)


def test_annotations_name_the_patient(tmp_path):
    notes = [{"id": "a", "val_dict": {"val_placeholder": {"patient_id": 7}}}, {"id": "b", "val_dict": "-"}]
    write(tmp_path / "data" / "mimic_iv" / "test" / "annotated.json", notes)
    assert [one.patient for one in questions_2024(written(tmp_path), "test")] == ["7", None]


@pytest.mark.parametrize(
    ("labels", "answers", "told"),
    [
        ({"a": SQL}, None, "label.json: b: is missing"),
        (None, {"a": "null", "b": "null"}, "label.json: a: has SQL or an answer, but not both"),
        ({"a": 3, "b": "null"}, None, "label.json: a: must be a text, found 3"),
    ],
)
def test_files_that_disagree_are_refused(tmp_path, labels, answers, told):
    with pytest.raises(ConfigError, match=told):
        list(questions_2024(written(tmp_path, labels, answers), "test"))


def test_missing_files_and_splits_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"test/data\.json; set CLINICAL_DATA_DIR"):
        files_2024(str(tmp_path), "test")
    with pytest.raises(ConfigError, match="EHRSQL 2024 has test, valid, train; found 'dev'"):
        files_2024(str(tmp_path), "dev")
    with pytest.raises(ConfigError, match=r"mimic_iv\.sqlite; set CLINICAL_DATA_DIR"):
        sqlite_2024(str(tmp_path))
