from collections import Counter

import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.cab_ehragent_demo import CabEhrAgentDemo
from tests.components.cab_files import DATA, database, needs, refused, write
from tests.components.ehr.datasets.test_ehrsql_questions import ASKED

RECORD = {key: value for key, value in ASKED.items() if key != "is_impossible"} | {"answer": ["po", "iv"]}


def demo(folder, records=(RECORD,), **arguments):
    write(folder / "mimic_iii" / "test_preprocessed.json", list(records))
    database(folder / "mimic_iii" / "mimic_iii.db", ())
    return CabEhrAgentDemo(str(folder), **{"databases": ("mimic_iii",), **arguments})


def test_template_is_asked_and_the_answer_is_a_list(tmp_path):
    first, second = demo(tmp_path, [RECORD, {**RECORD, "id": "q2", "answer": "12"}]).load("test")
    assert (first.problem.id, first.problem.question) == ("ehragent_demo-test-mimic_iii-q1", "intake of aspirin?")
    assert (first.target, second.target) == ({"answer": ["po", "iv"]}, {"answer": ["12"]})
    assert first.metadata["paraphrase"] == "How is aspirin taken?" and first.metadata["sql_dialect"] == "mimic_iii"
    assert (first.cluster, first.metadata["task"]) == ("mimic_iii/12", "mimic_iii")
    assert first.files == {"mimic_iii": str(tmp_path / "mimic_iii" / "mimic_iii.db")}
    assert next(demo(tmp_path, wording="question").load("test")).problem.question == "How is aspirin taken?"


@pytest.mark.parametrize("answer", [None, [], [1], 3])
def test_wrong_answer_is_refused_with_file_record_and_key(tmp_path, answer):
    complaint = refused(demo(tmp_path, [RECORD, {**RECORD, "answer": answer}]))
    assert "test_preprocessed.json: record 2: answer: must be a text or a list of texts" in complaint


def test_missing_files_splits_or_choices_are_named(tmp_path):
    assert "eicu/test_preprocessed.json; set CLINICAL_DATA_DIR" in refused(demo(tmp_path, databases=("eicu",)))
    assert "the demo has test, valid; found 'train'" in refused(demo(tmp_path), "train")
    with pytest.raises(ConfigError, match="at least one of mimic_iii, eicu"):
        demo(tmp_path, databases=())
    (tmp_path / "mimic_iii" / "mimic_iii.db").unlink()
    assert "no database" in refused(CabEhrAgentDemo(str(tmp_path), databases=("mimic_iii",)))


def test_damaged_database_is_refused_before_any_question(tmp_path):
    cut = demo(tmp_path)
    (tmp_path / "mimic_iii" / "mimic_iii.db").write_bytes(b"no database" * 99)
    assert "mimic_iii.db: not a database that can be read" in refused(cut)


def test_fingerprint_names_the_wording(tmp_path):
    assert demo(tmp_path).fingerprint.startswith("template-")
    assert demo(tmp_path).fingerprint.partition("-")[2] != demo(tmp_path, [RECORD] * 2).fingerprint.partition("-")[2]


@needs("ehragent_demo")
def test_every_row_of_the_data_is_read():
    dataset = CabEhrAgentDemo(str(DATA / "ehragent_demo"))
    samples = list(dataset.load("test"))
    assert Counter(s.metadata["task"] for s in samples) == {"mimic_iii": 90, "eicu": 159}
    assert len(list(dataset.load("valid"))) == 80
    assert (samples[0].problem.question, samples[0].target) == (
        "what is the intake method of fluconazole?",
        {"answer": ["iv", "po"]},
    )
