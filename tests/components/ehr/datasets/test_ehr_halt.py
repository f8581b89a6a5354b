from collections import Counter

import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.ehrsql2024 import EhrHalt
from tests.components.cab_files import DATA, database, needs, refused, write
from tests.components.ehr.datasets.test_ehrsql2024 import written
from tests.components.ehr.datasets.test_questions import ASKED, UNASKED


def halt(folder, **arguments):
    written(folder / "ehrsql2024")
    database(folder / "ehrsql2024/data/mimic_iv/mimic_iv.sqlite", ())
    sqlite = {}
    for name in ("mimic_iii", "eicu"):
        records = [{**record, "db_id": name} for record in (ASKED, UNASKED)]
        write(folder / "ehrsql/dataset/ehrsql" / name / "test.json", records)
        sqlite[name] = str(database(folder / f"{name}.db", ()))
    return EhrHalt(str(folder), **{"sqlite": sqlite, **arguments})


def test_unanswerable_questions_of_all_sources(tmp_path):
    samples = list(halt(tmp_path).load("test"))
    assert [s.problem.id for s in samples] == [
        "ehr_halt-test-mimic_iv-b", "ehr_halt-test-mimic_iii-q2", "ehr_halt-test-eicu-q2",
    ]  # fmt: skip
    last = samples[-1]
    assert last.problem.question == "Her phone?\nIf the database does not hold what is asked for, reply: No result."
    assert (last.target, last.metadata) == ({}, {"task": "ehr_halt", "sql_dialect": "eicu"})
    assert (last.problem.inputs, last.files) == ({"sql_database": "eicu"}, {"eicu": str(tmp_path / "eicu.db")})
    assert last.strata == {"task": "ehr_halt", "dimension": "trust", "database": "eicu"}


def test_sources_can_be_left_out(tmp_path):
    dataset = halt(tmp_path, sources=("mimic_iv",), sqlite={}, ask="")
    assert [s.problem.question for s in dataset.load("test")] == ["What is software?"]
    with pytest.raises(ConfigError, match="at least one of mimic_iv, mimic_iii, eicu"):
        halt(tmp_path, sources=())


def test_missing_files_are_reported_before_the_first_sample(tmp_path):
    assert "dataset.sqlite: names no database for mimic_iii; name a SQLite file" in refused(halt(tmp_path, sqlite={}))
    lost = {"mimic_iii": str(tmp_path / "none.db"), "eicu": str(tmp_path / "eicu.db")}
    assert "none.db; name a SQLite file" in refused(halt(tmp_path, sqlite=lost))
    dataset = halt(tmp_path)
    assert dataset.splits == ("test",)
    assert "EHR-Halt has test, valid, train; found 'dev'" in refused(dataset, "dev")
    (tmp_path / "ehrsql/dataset/ehrsql/eicu/test.json").unlink()
    assert "eicu/test.json; set CLINICAL_DATA_DIR" in refused(dataset)


def test_fingerprint_follows_sources_and_databases(tmp_path):
    prints = {halt(tmp_path).fingerprint, halt(tmp_path, sources=("eicu",)).fingerprint}
    database(tmp_path / "eicu.db2", [("a", "b")])
    sqlite = {"mimic_iii": str(tmp_path / "mimic_iii.db"), "eicu": str(tmp_path / "eicu.db2")}
    assert len(prints | {halt(tmp_path, sqlite=sqlite).fingerprint}) == 3


@needs("ehrsql")
@needs("ehrsql2024")
def test_every_row_of_the_data_is_read():
    sqlite = {name: str(DATA / "ehragent_demo" / name / f"{name}.db") for name in ("mimic_iii", "eicu")}
    samples = list(EhrHalt(str(DATA), sqlite=sqlite).load("test"))
    assert Counter(s.strata["database"] for s in samples) == {"mimic_iv": 60, "mimic_iii": 100, "eicu": 100}
    assert len({s.problem.id for s in samples}) == 260
