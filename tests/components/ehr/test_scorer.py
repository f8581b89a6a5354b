"""Scores of questions over health records, of any agent's trajectory."""

import sqlite3
from dataclasses import replace

import pytest

from components.core.types import Problem, Sample, Trajectory
from components.ehr.outcome import FAILURES
from components.ehr.scorer import NAMES, Ehr
from tests.components.ehr.test_outcome import TERMINATED, acted, cell, step
from tests.table import each_row

SAMPLE = Sample(
    Problem("1", "How many?"), {"answer": ["3"]}, {"sql": "select 3", "sql_dialect": "mimic_iii"},
    strata={"database": "mimic_iii", "level": "I"},
)  # fmt: skip
UNANSWERABLE = replace(SAMPLE, target={"answer": None}, metadata={"sql": None, "sql_dialect": "mimic_iii"})


def scores(*steps, sample=SAMPLE, stop="answered", answer="3", **settings):
    trajectory = Trajectory(list(steps), stop=stop, answer=answer if stop == "answered" else None)
    return {one.name: one.value for one in Ehr(**settings).score(sample, trajectory)}


def chosen(found, *names):
    return tuple(found[name] for name in names)


def test_a_question_solved_with_a_repaired_cell():
    steps = [step(purpose="knowledge"), step(cell("error", "KeyError")), step(purpose="debug"), step(cell("ok"))]
    found = scores(*steps, step(text="TERMINATE", remarks={**TERMINATED, "executions": 2}))
    assert found == {
        "score/strict": 1, "score/official": 1, "ehr/completed": 1, "ehr/completed_official": 1,
        "ehr/answered_wrong": 0, "ehr/abstained": 0, "ehr/executions": 2, "ehr/failed_executions": 1, "ehr/calls": 5,
        "ehr/success_within_3": 0, "ehr/success_within_5": 1, "ehr/success_within_10": 1, "ehr/success_within_22": 1,
        "ehr/execution_accuracy": None, "reliability/rs_0": 1, "reliability/rs_5": 1, "reliability/rs_10": 1,
        "reliability/penalised": 0, **{f"ehr/failures/{kind}": kind == "other" for kind in FAILURES},
    }  # fmt: skip


@each_row(
    "trajectory, expected",
    [  # strict, official, completed, completed_official, answered_wrong
        ({"answer": "13"}, (0, 1, 1, 1, 1)),
        ({"answer": "4"}, (0, 0, 1, 1, 1)),
        ({"steps": [step(acted("no_rows"))]}, (1, 1, 0, 1, 0)),
        ({"steps": [step(acted("no_rows"))], "answer": "4"}, (0, 0, 0, 1, 0)),
        ({"steps": [step(cell("ok"), remarks={"terminated": False})]}, (0, 0, 0, 0, 0)),
        ({"steps": [step(cell("error", "line 3"), remarks=TERMINATED)], "stop": "failed"}, (0, 1, 0, 1, 0)),
        ({"stop": "limit"}, (0, 0, 0, 0, 0)),
        ({"stop": "refused"}, (0, 0, 1, 1, 0)),
        ({"stop": "error"}, (None,) * 5),
    ],
)
def test_success_and_completion(trajectory, expected):
    found = scores(*trajectory.pop("steps", []), **trajectory)
    names = ("score/strict", "score/official", "ehr/completed", "ehr/completed_official", "ehr/answered_wrong")
    assert chosen(found, *names) == expected


@each_row(
    "sample, trajectory, expected",
    [  # strict, abstained, rs_0, rs_10, penalised
        (SAMPLE, {"answer": "4"}, (0, 0, 0, -10, 1)),
        (SAMPLE, {"answer": "No result."}, (0, 1, 0, 0, 0)),
        (SAMPLE, {"answer": "[]"}, (0, 1, 0, 0, 0)),
        (SAMPLE, {"stop": "refused"}, (0, 1, 0, 0, 0)),
        (SAMPLE, {"stop": "failed"}, (0, 0, 0, 0, 0)),
        (replace(SAMPLE, target={"answer": ["none"]}), {"answer": "None"}, (1, 0, 1, 1, 0)),
        (UNANSWERABLE, {"answer": "3"}, (0, 0, 0, -10, 1)),
        (UNANSWERABLE, {"answer": "null"}, (1, 1, 1, 1, 0)),
        (UNANSWERABLE, {"answer": "The answer is: no result"}, (1, 1, 1, 1, 0)),
        (UNANSWERABLE, {"stop": "refused"}, (1, 1, 1, 1, 0)),
        (UNANSWERABLE, {"stop": "limit"}, (0, 0, 0, 0, 0)),
    ],
)
def test_abstention_and_the_penalty_of_answers_that_are_wrong(sample, trajectory, expected):
    found = scores(sample=sample, **trajectory)
    names = ("score/strict", "ehr/abstained", "reliability/rs_0", "reliability/rs_10", "reliability/penalised")
    assert chosen(found, *names) == expected
    assert (found["score/official"] is None) == (sample is UNANSWERABLE)


def test_reliability_is_the_share_of_right_answers_minus_the_number_of_wrong_ones():
    said = [(SAMPLE, "3"), (SAMPLE, "4"), (SAMPLE, "No result"), (UNANSWERABLE, "No result"), (UNANSWERABLE, "7")]
    rows = [scores(sample=sample, answer=answer, questions=len(said)) for sample, answer in said]
    mean = {name: sum(row[name] for row in rows) / len(rows) for name in ("reliability/rs_n", "reliability/rs_0",
            "reliability/penalised")}  # fmt: skip
    assert mean["reliability/rs_n"] == pytest.approx(2 / 5 - 2)
    assert mean["reliability/rs_0"] - len(said) * mean["reliability/penalised"] == pytest.approx(2 / 5 - 2)
    assert "reliability/rs_n" not in scores()


@pytest.fixture
def database(tmp_path):
    file = tmp_path / "small.db"
    with sqlite3.connect(file) as connection:
        connection.execute("create table lab (itemid integer, value real, charttime text)")
        connection.executemany(
            "insert into lab values (?, ?, ?)", [(1, 0.1, "2105-12-30"), (2, 0.2, "2105-12-31"), (2, None, None)]
        )
    return file


@pytest.mark.parametrize(
    ("sql", "gold", "accuracy"),
    [
        ("select itemid from lab order by itemid desc", "select distinct itemid from lab", 1),
        ("select value + 0.2 from lab where itemid = 1", "select 0.3", 1),
        ("select itemid, value from lab", "select value, itemid from lab", 0),
        ("select count(*) from lab where charttime > date(current_time, '-1 day')", "select 1", 1),
        ("select nothing from lab", "select 3", 0),
        ("drop table lab", "select 3", 0),
        ("select 3", "select nothing from lab", None),
        ("select 3", None, None),
    ],
)
def test_execution_accuracy_compares_the_rows_of_remarked_sql(database, sql, gold, accuracy):
    sample = replace(SAMPLE, metadata={"sql": gold, "sql_dialect": "mimic_iii"}, files={"database": str(database)})
    assert scores(step(remarks={"sql": sql}), sample=sample)["ehr/execution_accuracy"] == accuracy
    with sqlite3.connect(database) as connection:
        assert connection.execute("select count(*) from lab").fetchone() == (3,)


def test_execution_accuracy_is_unscored_without_a_database_that_can_be_read(tmp_path):
    sample = replace(SAMPLE, files={"database": str(tmp_path / "none.db")})
    assert scores(step(remarks={"sql": "select 3"}), sample=sample)["ehr/execution_accuracy"] is None
    assert scores(step(remarks={"sql": "select 3"}))["ehr/execution_accuracy"] is None


@each_row("target", ["B", None, {"accepted": ["3"]}, {"answer": "3", "chain": "x"}])
def test_other_tasks_are_unscored(target):
    assert scores(sample=replace(SAMPLE, target=target)) == dict.fromkeys(NAMES)
