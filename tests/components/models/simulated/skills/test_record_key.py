import pytest

from components.core.types import Problem, Sample
from components.models.simulated.draws import Draws
from components.models.simulated.skills.record_key import gold_of, is_records
from tests.components.models.simulated.chartroom import questions


def gold(sql, database="mimic_iii"):
    return gold_of(Sample(Problem("g", "Which?"), {"answer": ["5"]}, {"sql": sql, "sql_dialect": database}))


def test_samples_with_a_database_of_records_are_known():
    facts = {"sql": "select 1", "sql_dialect": "mimic_iii"}
    records = [Sample(Problem("g", "?"), {"answer": answer}, facts) for answer in (["5"], None)]
    assert all(map(is_records, records))
    others = [Sample(Problem("g", "?"), {"answer": "5"}, facts), Sample(Problem("g", "?"), "A"), None]
    others.append(Sample(Problem("g", "?"), {"answer": ["5"]}, {**facts, "task": "ehrsql"}))
    assert not any(map(is_records, others))


def test_it_holds_the_names_of_the_statement():
    first = gold_of(questions()[0])
    assert first.tables == {"patients"} and first.names == {"patients", "gender", "subject_id"}
    assert first.spelt == {"patients": ["SUBJECT_ID", "GENDER"]}
    assert gold("").names == frozenset() == gold("").may_misspell


ALIASED = "select t1.c1 from ( select count(*) as c1, t2.subject_id from (select patients.subject_id from patients) as t2 ) as t1"


@pytest.mark.parametrize("database,columns", [("mimic_iii", {"subject_id"}), ("unheard_of", {"subject_id"})])
def test_names_that_a_statement_makes_itself_are_no_columns(database, columns):
    assert gold(ALIASED, database).columns == columns


def test_names_in_quotes_and_without_a_table_are_columns_and_words_of_values_are_none():
    found = gold(
        'SELECT DEMOGRAPHIC."AGE", gender FROM DEMOGRAPHIC WHERE DEMOGRAPHIC."NAME" = \'marital_status\'', "treqs"
    )
    assert found.columns == {"age", "gender", "name"}
    assert gold("select cost.cost from cost").spelt["cost"] == ["COST"]


def test_all_columns_of_its_tables_may_be_misspelt():
    assert {"row_id", "dob"} <= gold("select patients.gender from patients").may_misspell


def test_by_heart_it_is_the_answer_or_a_guess_that_is_not_made_of_it():
    guesses = {gold("select 1").by_heart(False, Draws(n, ())) for n in range(200)}
    assert gold("select 1").by_heart(True, Draws(0, ())) == "['5']" not in guesses and len(guesses) > 20
    assert {gold("").by_heart(known, Draws(0, ())) for known in (True, False)} == {"no result", "1"}
