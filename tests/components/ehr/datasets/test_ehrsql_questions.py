import pytest

from components.core.errors import ConfigError
from components.ehr.datasets.ehrsql_questions import cells_of, database_file, ehr_questions, gold_answers
from tests.components.cab_files import database, write

ASKED = {
    "id": "q1", "db_id": "mimic_iii", "question": "How is aspirin taken? ", "template": "intake of aspirin?",
    "query": "select route from prescriptions where drug = 'aspirin' and current_time > '2105-01-01'",
    "value": {"patient_id": 12}, "importance": "high", "para_type": "human", "is_impossible": False,
}  # fmt: skip
UNASKED = {"id": "q2", "db_id": "mimic_iii", "question": "Her phone?", "template": "phone", "query": "null", "is_impossible": True}  # fmt: skip


def test_question_has_sql_or_cannot_be_answered(tmp_path):
    first, second = ehr_questions(write(tmp_path / "test.json", [ASKED, UNASKED]), "mimic_iii")
    assert (first.id, first.question, first.template) == ("q1", "How is aspirin taken?", "intake of aspirin?")
    assert (first.patient, first.strata) == ("12", {"importance": "high", "wording": "human"})
    assert (first.sql, second.sql, second.patient) == (ASKED["query"], None, None)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"db_id": "eicu"}, "db_id: must be 'mimic_iii' in this file, found 'eicu'"),
        ({"is_impossible": "no"}, "is_impossible: must be true or false, found 'no'"),
        ({"query": "nan"}, "query: an answerable question needs its SQL, found 'nan'"),
        ({"id": None}, "id: must be a text, found None"),
    ],
)
def test_wrong_question_is_refused(tmp_path, fields, told):
    file = write(tmp_path / "test.json", [UNASKED, {**ASKED, **fields}])
    with pytest.raises(ConfigError) as caught:
        list(ehr_questions(file, "mimic_iii"))
    assert f"test.json: record 2: {told}" in str(caught.value)


def test_gold_sql_is_run_at_the_fixed_time_and_may_only_read(tmp_path):
    sqlite = database(tmp_path / "db.sqlite")
    questions = list(ehr_questions(write(tmp_path / "a.json", [ASKED]), "mimic_iii"))
    assert gold_answers(questions, sqlite, "mimic_iii", 5) == [["po", "iv"]]
    for sql in ("delete from prescriptions", "select nothing from prescriptions"):
        wrong = list(ehr_questions(write(tmp_path / "b.json", [{**ASKED, "query": sql}]), "mimic_iii"))
        with pytest.raises(ConfigError, match=r"b\.json: record 1: query: the gold SQL fails on .*db\.sqlite"):
            gold_answers(wrong, sqlite, "mimic_iii", 5)


def test_cells_are_texts_that_executed_answers_contain():
    assert cells_of([(1, 2.0), (1114.7500000000002, "iv"), (None, 0.12345)]) == [
        "1",
        "2",
        "1114.75",
        "iv",
        "None",
        "0.123",
    ]


def test_missing_database_says_how_to_get_it(tmp_path):
    with pytest.raises(ConfigError, match=r"no database .*x\.sqlite; build it"):
        database_file(tmp_path / "x.sqlite", "build it")
