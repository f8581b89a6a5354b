from collections import Counter
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.ehrsql import CabEhrAgentDemo, EhrAgentEdition
from components.ehr.interpreters import run_sql
from components.ehr.metadata import metadata
from components.text.values import strict
from tests.components.cab_files import DATA, database, needs, refused, without, write
from tests.components.ehr.datasets.test_questions import ASKED, UNASKED
from tests.slow import slow

RECORD = {**without(ASKED, "is_impossible"), "answer": ["po", "iv"], "q_tag": "intake of {drug_name} [time]?"}
FILES = {"questions": "{database}/{split}.json", "sqlite": "{database}/{database}.sqlite"}
LEVELS = {"I", "II", "III", "IV"}


def edition(folder, records=(RECORD,), **arguments):
    write(folder / "mimic_iii" / "test_preprocessed.json", list(records))
    database(folder / "mimic_iii" / "mimic_iii.db", ())
    return EhrAgentEdition("demo", path=str(folder), **{"databases": ("mimic_iii",), **arguments})


def shipped(**arguments):
    given = {"databases": ("mimic_iii", "eicu", "treqs"), "count_joins": True, **arguments}
    return EhrAgentEdition("ehr_mini", shipped="ehr_mini", **FILES, **given)


def demo(**arguments):
    return EhrAgentEdition("ehragent_demo", path=str(DATA / "ehragent_demo"), **arguments)


def test_template_is_asked_and_the_answer_is_a_list(tmp_path):
    first, second = edition(tmp_path, [RECORD, {**RECORD, "id": "q2", "answer": "12"}]).load("test")
    assert (first.problem.id, first.problem.question) == ("demo-test-mimic_iii-q1", "intake of aspirin?")
    assert (first.target, second.target) == ({"answer": ["po", "iv"]}, {"answer": ["12"]})
    assert first.metadata["paraphrase"] == "How is aspirin taken?" and first.metadata["sql_dialect"] == "mimic_iii"
    assert [first.metadata[name] for name in ("n_tables", "n_columns", "n_slots")] == [1, 0, 2]
    assert (first.cluster, first.strata["level"]) == ("mimic_iii/12", "I")
    assert first.files == {"database": str(tmp_path / "mimic_iii" / "mimic_iii.db")}
    assert next(edition(tmp_path, wording="question").load("test")).problem.question == "How is aspirin taken?"


def test_unanswerable_questions_are_asked_on_demand(tmp_path):
    assert [one.target["answer"] for one in edition(tmp_path, [RECORD, UNASKED]).load("test")] == [["po", "iv"]]
    _, second = edition(tmp_path, [RECORD, UNASKED], unanswerable=True).load("test")
    assert (second.target, second.metadata["answerable"]) == ({"answer": None}, False)


def test_missing_files_splits_or_choices_are_named(tmp_path):
    assert "eicu/test_preprocessed.json; set CLINICAL_DATA_DIR" in refused(edition(tmp_path, databases=("eicu",)))
    assert "demo has test, valid, train; found 'dev'" in refused(edition(tmp_path), "dev")
    assert edition(tmp_path).splits == ("test",)
    with pytest.raises(ConfigError, match="at least one of mimic_iii, eicu, treqs"):
        edition(tmp_path, databases=())
    with pytest.raises(ConfigError, match=r"dataset\.path: no data"):
        EhrAgentEdition("demo")
    (tmp_path / "mimic_iii" / "mimic_iii.db").unlink()
    assert "no database" in refused(EhrAgentEdition("demo", path=str(tmp_path), databases=("mimic_iii",)))


def test_damaged_database_is_refused_before_any_question(tmp_path):
    cut = edition(tmp_path)
    (tmp_path / "mimic_iii" / "mimic_iii.db").write_bytes(b"no database" * 99)
    assert "mimic_iii.db: not a readable database" in refused(cut)


def test_fingerprint_follows_wording_choice_and_files(tmp_path):
    prints = [edition(tmp_path).fingerprint, edition(tmp_path, wording="question").fingerprint]
    prints += [edition(tmp_path, unanswerable=True).fingerprint, edition(tmp_path, [RECORD] * 2).fingerprint]
    assert len(set(prints)) == 4 and edition(tmp_path).fingerprint == prints[0]


def wrong(samples):
    """Answerable questions whose SQL, run as an agent's is, does not give the gold answer."""
    return [
        one.problem.id
        for one in samples
        if one.metadata["answerable"] and not strict(str(run(one)), one.target["answer"])
    ]


def run(sample):
    return run_sql(Path(sample.files["database"]), sample.metadata["sql"], metadata(sample.strata["database"]).clock)


@needs("ehragent_demo")
@pytest.mark.parametrize(
    ("split", "sizes"), [pytest.param("test", (90, 159), marks=slow), pytest.param("valid", (40, 40), marks=slow)]
)
def test_every_question_of_the_demo_is_answered_by_its_sql(split, sizes):
    samples = list(demo().load(split))
    assert Counter(s.strata["database"] for s in samples) == dict(zip(("mimic_iii", "eicu"), sizes, strict=True))
    assert {s.strata["level"] for s in samples} <= LEVELS
    assert wrong(samples) == []


@pytest.mark.parametrize("split", [pytest.param("test", marks=slow), "train", pytest.param("valid", marks=slow)])
def test_every_shipped_question_is_answered_by_its_sql(split):
    samples = list(shipped().load(split))
    assert {s.strata["database"] for s in samples} == {"mimic_iii", "eicu", "treqs"}
    assert {s.strata["level"] for s in samples} == LEVELS
    assert wrong(samples) == []
    asked = list(shipped(unanswerable=True).load(split))
    assert [s.problem.id for s in asked if s.metadata["answerable"]] == [s.problem.id for s in samples]


ANSWERED = {key: value for key, value in ASKED.items() if key != "is_impossible"} | {"answer": ["po", "iv"]}


def cab_demo(folder, records=(ANSWERED,), **arguments):
    write(folder / "mimic_iii" / "test_preprocessed.json", list(records))
    database(folder / "mimic_iii" / "mimic_iii.db", ())
    return CabEhrAgentDemo(str(folder), **{"databases": ("mimic_iii",), **arguments})


def test_cab_demo_template_is_asked_and_the_answer_is_a_list(tmp_path):
    first, second = cab_demo(tmp_path, [ANSWERED, {**ANSWERED, "id": "q2", "answer": "12"}]).load("test")
    assert (first.problem.id, first.problem.question) == ("ehragent_demo-test-mimic_iii-q1", "intake of aspirin?")
    assert (first.target, second.target) == ({"answer": ["po", "iv"]}, {"answer": ["12"]})
    assert first.metadata["paraphrase"] == "How is aspirin taken?" and first.metadata["sql_dialect"] == "mimic_iii"
    assert (first.cluster, first.metadata["task"]) == ("mimic_iii/12", "mimic_iii")
    assert first.files == {"mimic_iii": str(tmp_path / "mimic_iii" / "mimic_iii.db")}
    assert next(cab_demo(tmp_path, wording="question").load("test")).problem.question == "How is aspirin taken?"


def test_cab_demo_missing_files_splits_or_choices_are_named(tmp_path):
    assert "eicu/test_preprocessed.json; set CLINICAL_DATA_DIR" in refused(cab_demo(tmp_path, databases=("eicu",)))
    assert "the demo has test, valid; found 'train'" in refused(cab_demo(tmp_path), "train")
    with pytest.raises(ConfigError, match="at least one of mimic_iii, eicu"):
        cab_demo(tmp_path, databases=())
    (tmp_path / "mimic_iii" / "mimic_iii.db").unlink()
    assert "no database" in refused(CabEhrAgentDemo(str(tmp_path), databases=("mimic_iii",)))


def test_cab_demo_damaged_database_is_refused_before_any_question(tmp_path):
    cut = cab_demo(tmp_path)
    (tmp_path / "mimic_iii" / "mimic_iii.db").write_bytes(b"no database" * 99)
    assert "mimic_iii.db: not a readable database" in refused(cut)


def test_fingerprint_names_the_wording(tmp_path):
    assert cab_demo(tmp_path).fingerprint.startswith("template-")
    assert (
        cab_demo(tmp_path).fingerprint.partition("-")[2]
        != cab_demo(tmp_path, [ANSWERED] * 2).fingerprint.partition("-")[2]
    )


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
