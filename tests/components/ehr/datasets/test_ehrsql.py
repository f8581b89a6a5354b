import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.ehrsql import CabEhrsql2022, Ehrsql, cell_text
from tests.components.cab_files import DATA, database, needs, refused, write
from tests.components.ehr.datasets.test_questions import ASKED, UNASKED
from tests.slow import slow
from tests.table import each_row

FOLDER = "dataset/ehrsql/mimic_iii"
COUNT = {**ASKED, "id": "q3", "q_tag": "{a} [b]", "query": "select avg(length(drug)) / 3, null from prescriptions "}


def ehrsql(folder, records=(ASKED, UNASKED, COUNT), **arguments):
    write(folder / FOLDER / "test.json", list(records))
    if not (folder / "m.sqlite").exists():
        database(folder / "m.sqlite")
    given = {"sqlite": {"mimic_iii": str(folder / "m.sqlite")}, "cache": str(folder / "cache"), **arguments}
    return Ehrsql(str(folder), **{"databases": ("mimic_iii",), **given})


def test_questions_get_the_distinct_values_that_their_sql_gives(tmp_path):
    first, count = ehrsql(tmp_path).load("test")
    assert (first.problem.id, first.problem.question) == ("ehrsql-test-mimic_iii-q1", "intake of aspirin?")
    assert (first.target, count.target) == ({"answer": ["po", "iv"]}, {"answer": ["2.333333"]})
    assert (first.cluster, first.strata["importance"], first.strata["level"]) == ("mimic_iii/12", "high", "I")
    assert (first.metadata["n_slots"], count.metadata["n_slots"]) == (None, 2)
    assert first.files == {"database": str(tmp_path / "m.sqlite")}
    assert next(ehrsql(tmp_path, wording="question").load("test")).problem.question == "How is aspirin taken?"


def test_unanswerable_questions_are_asked_in_peoples_words(tmp_path):
    _, second, _ = ehrsql(tmp_path, unanswerable=True).load("test")
    assert (second.problem.question, second.target) == ("Her phone?", {"answer": None})
    assert second.strata["level"] == "unanswerable"


def test_fingerprint_follows_wording_choice_and_content(tmp_path):
    prints = {ehrsql(tmp_path, **one).fingerprint for one in ({}, {"wording": "question"}, {"unanswerable": True})}
    prints.add(ehrsql(tmp_path, [ASKED]).fingerprint)
    other = str(database(tmp_path / "other.sqlite", [("zinc", "po")]))
    prints.add(ehrsql(tmp_path, [ASKED], sqlite={"mimic_iii": other}).fingerprint)
    assert len(prints) == 5


def test_missing_files_are_reported_before_the_first_sample(tmp_path):
    complaint = refused(ehrsql(tmp_path, sqlite={"mimic_iii": str(tmp_path / "none.sqlite")}))
    assert "none.sqlite; build it from the credentialed PhysioNet data" in complaint and "dataset=ehr_mini" in complaint
    assert "dataset.sqlite: names no database for mimic_iii" in refused(ehrsql(tmp_path, sqlite={}))
    assert "valid.json; set CLINICAL_DATA_DIR" in refused(ehrsql(tmp_path), "valid")
    assert "EHRSQL has test, valid, train; found 'dev'" in refused(ehrsql(tmp_path), "dev")
    with pytest.raises(ConfigError, match="at least one of mimic_iii, eicu"):
        ehrsql(tmp_path, databases=())
    dataset = ehrsql(tmp_path)
    assert dataset.splits == ("test",) and dataset.privacy == "credentialed"


@needs("ehrsql")
@needs("ehragent_demo")
@slow
@pytest.mark.parametrize(("split", "least"), [("valid", 70), ("test", 400)])
def test_sql_of_every_question_of_the_data_runs_on_the_demo_databases(tmp_path, split, least):
    sqlite = {name: str(DATA / "ehragent_demo" / name / f"{name}.db") for name in ("mimic_iii", "eicu")}
    samples = list(Ehrsql(str(DATA / "ehrsql"), sqlite, cache=str(tmp_path)).load(split))
    assert len(samples) >= least and {one.strata["level"] for one in samples} == {"I", "II", "III", "IV"}
    assert sum(bool(one.target["answer"]) for one in samples) > 20


EMPTY = {**ASKED, "id": "q3", "query": "select route from prescriptions where drug = 'zinc'"}


def cab_ehrsql(folder, records=(ASKED, UNASKED, EMPTY), **arguments):
    write(folder / FOLDER / "test.json", list(records))
    if not (folder / "mimic_iii.sqlite").exists():
        database(folder / "mimic_iii.sqlite")
    given = {"sqlite": str(folder / "mimic_iii.sqlite"), "cache": str(folder / "cache"), **arguments}
    return CabEhrsql2022(str(folder), "mimic_iii", **given)


def test_answerable_questions_get_the_answers_of_their_sql(tmp_path):
    first, empty = cab_ehrsql(tmp_path).load("test")
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
    dataset = cab_ehrsql(tmp_path, ask="")
    assert next(dataset.load("test")).problem.question == "How is aspirin taken?"
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"po", b"by mouth"))
    assert next(cab_ehrsql(tmp_path).load("test")).target == {"answer": ["by mouth", "iv"]}
    (tmp_path / "mimic_iii.sqlite").unlink()
    database(tmp_path / "mimic_iii.sqlite", [("aspirin", "pr")])
    assert next(cab_ehrsql(tmp_path).load("test")).target == {"answer": ["pr"]}


def test_cab_s_fingerprint_follows_questions_and_database(tmp_path):
    prints = {cab_ehrsql(tmp_path).fingerprint, cab_ehrsql(tmp_path, [ASKED]).fingerprint}
    database(tmp_path / "other.sqlite", [("zinc", "po")])
    prints.add(cab_ehrsql(tmp_path, [ASKED], sqlite=str(tmp_path / "other.sqlite")).fingerprint)
    assert len(prints) == 3


def test_missing_cab_files_are_reported_before_the_first_sample(tmp_path):
    dataset = cab_ehrsql(tmp_path, sqlite=str(tmp_path / "none.sqlite"))
    complaint = refused(dataset)
    assert "none.sqlite; build it from the credentialed PhysioNet data" in complaint
    assert "dataset=cab_ehragent_demo" in complaint
    assert "valid.json; set CLINICAL_DATA_DIR" in refused(cab_ehrsql(tmp_path), "valid")
    assert "EHRSQL has test, valid, train; found 'dev'" in refused(cab_ehrsql(tmp_path), "dev")
    assert dataset.splits == ("test",) and dataset.privacy == "credentialed"


@needs("ehrsql")
@needs("ehragent_demo")
@pytest.mark.parametrize("name", ["mimic_iii", "eicu"])
def test_valid_questions_run_on_the_demo_database(tmp_path, name):
    sqlite = DATA / "ehragent_demo" / name / f"{name}.db"
    dataset = CabEhrsql2022(str(DATA / "ehrsql"), name, str(sqlite), cache=str(tmp_path))
    samples = list(dataset.load("valid"))
    assert len(samples) == 35 and any(sample.target["answer"] for sample in samples)


@each_row(
    "cell, text",
    [(1, "1"), (2.0, "2"), (1114.7500000000002, "1114.75"), ("iv", "iv"), (None, "None"), (0.12345, "0.123")],
)
def test_cells_are_texts_that_executed_answers_contain(cell, text):
    assert cell_text(cell) == text
