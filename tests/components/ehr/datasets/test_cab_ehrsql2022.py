import pytest

from components.ehr.datasets.cab_ehrsql2022 import CabEhrsql2022
from tests.components.cab_files import DATA, database, needs, refused, write
from tests.components.ehr.datasets.test_ehrsql_questions import ASKED, UNASKED

FOLDER = "dataset/ehrsql/mimic_iii"
EMPTY = {**ASKED, "id": "q3", "query": "select route from prescriptions where drug = 'zinc'"}


def ehrsql(folder, records=(ASKED, UNASKED, EMPTY), **arguments):
    write(folder / FOLDER / "test.json", list(records))
    if not (folder / "mimic_iii.sqlite").exists():
        database(folder / "mimic_iii.sqlite")
    given = {"sqlite": str(folder / "mimic_iii.sqlite"), "cache": str(folder / "cache"), **arguments}
    return CabEhrsql2022(str(folder), "mimic_iii", **given)


def test_answerable_questions_get_the_answers_of_their_sql(tmp_path):
    first, empty = ehrsql(tmp_path).load("test")
    assert first.problem.id == "mimic_iii-test-q1"
    assert first.problem.question == "How is aspirin taken?\nIf the database does not hold what is asked for, reply: No result."  # fmt: skip
    assert (first.target, empty.target) == ({"answer": ["po", "iv"]}, {"answer": []})
    assert (first.problem.inputs, first.files) == (
        {"sql_database": "mimic_iii"},
        {"mimic_iii": str(tmp_path / "mimic_iii.sqlite")},
    )
    assert (first.metadata["sql"], first.metadata["sql_dialect"]) == (ASKED["query"], "mimic_iii")
    assert (first.metadata["task"], first.strata["dimension"], first.cluster) == ("mimic_iii", "numerical", "12")


def test_answers_are_worked_out_once_per_content(tmp_path):
    dataset = ehrsql(tmp_path, ask="")
    assert next(dataset.load("test")).problem.question == "How is aspirin taken?"
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"po", b"by mouth"))
    assert next(ehrsql(tmp_path).load("test")).target == {"answer": ["by mouth", "iv"]}
    (tmp_path / "mimic_iii.sqlite").unlink()
    database(tmp_path / "mimic_iii.sqlite", [("aspirin", "pr")])
    assert next(ehrsql(tmp_path).load("test")).target == {"answer": ["pr"]}


def test_fingerprint_follows_questions_and_database(tmp_path):
    prints = {ehrsql(tmp_path).fingerprint, ehrsql(tmp_path, [ASKED]).fingerprint}
    database(tmp_path / "other.sqlite", [("zinc", "po")])
    prints.add(ehrsql(tmp_path, [ASKED], sqlite=str(tmp_path / "other.sqlite")).fingerprint)
    assert len(prints) == 3


def test_what_is_missing_is_said_before_the_first_sample(tmp_path):
    dataset = ehrsql(tmp_path, sqlite=str(tmp_path / "none.sqlite"))
    complaint = refused(dataset)
    assert "none.sqlite; build it from the credentialed PhysioNet data" in complaint
    assert "dataset=cab_ehragent_demo" in complaint
    assert "valid.json; set CLINICAL_DATA_DIR" in refused(ehrsql(tmp_path), "valid")
    assert "EHRSQL has test, valid, train; found 'dev'" in refused(ehrsql(tmp_path), "dev")
    assert dataset.splits == ("test",) and dataset.privacy == "credentialed"


def test_wrong_question_is_refused_with_file_record_and_key(tmp_path):
    wrong = {**ASKED, "query": "select x from prescriptions"}
    assert "test.json: record 2: query: the gold SQL fails" in refused(ehrsql(tmp_path, [ASKED, wrong]))


@needs("ehrsql")
@needs("ehragent_demo")
@pytest.mark.parametrize("name", ["mimic_iii", "eicu"])
def test_valid_questions_run_on_the_demo_database(tmp_path, name):
    sqlite = DATA / "ehragent_demo" / name / f"{name}.db"
    dataset = CabEhrsql2022(str(DATA / "ehrsql"), name, str(sqlite), cache=str(tmp_path))
    samples = list(dataset.load("valid"))
    assert len(samples) == 35 and any(sample.target["answer"] for sample in samples)
