import sqlite3
from contextlib import closing
from dataclasses import replace

from components.cab.scorers import Cab
from components.cab.tasks import TASKS
from components.core.protocols import Scorer
from components.core.types import Problem, Refusal, Sample, Trajectory
from tests.table import each_row

CHOICES = {"A": "Aspirin", "B": "Question cannot be answered with provided documents"}
KEYS = {
    "choice": ("A", "A"),
    "tolerant_choice": ("A", "A"),
    "contains": ({"answer": "left lung"}, "the left lung"),
    "medcalc": ({"answer": "4", "Output Type": "integer", "Low Limit": "4", "Upper Limit": "4"}, "4"),
    "rows": ({"answer": "[['heparin']]"}, "heparin"),
    "values": ({"answer": ["heparin"]}, "heparin"),
    "no_result": ({"answer": "No result"}, "No result"),
    "rouge1_recall": ({"answer": "heparin daily"}, "daily heparin"),
    "entities": ({"answer": [{"entity_name": "asthma"}]}, '["asthma"]'),
}


def sample(task, target, choices=CHOICES):
    return Sample(Problem("1", "?", choices), target, {"task": task})


def values(one, answer=None, stop=None, **fields):
    trajectory = Trajectory(stop=stop or ("answered" if answer is not None else "limit"), answer=answer, **fields)
    found = Cab().score(one, trajectory)
    assert [score.name for score in found] == ["score/strict", "score/official"]
    assert all(score.explanation for score in found)
    return [score.value for score in found]


def test_is_a_scorer_that_leaves_the_loop():
    assert isinstance(Cab(), Scorer) and Cab().traits.blocking and Cab().version


@each_row("task", TASKS)
def test_every_task_is_scored_by_the_form_of_its_answer(task):
    target, right = KEYS[TASKS[task].form]
    assert values(sample(task, target), right) == [1, 1]
    assert values(sample(task, target), "something else") == [0, 0]


@each_row("task", TASKS)
def test_no_answer_is_wrong_and_an_error_is_unscored(task):
    one = sample(task, KEYS[TASKS[task].form][0])
    assert values(one) == [0, 0]
    assert values(one, stop="failed", failure="plan") == [0, 0]
    assert values(one, stop="error", error="timeout") == [None, None]


def test_images_that_the_model_cannot_take_are_unscored_never_wrong():
    one = sample("vqarad", KEYS["contains"][0])
    assert values(one, stop="failed", failure="unsupported_input") == [None, None]


@each_row(
    "task, target, repaired",
    [
        ("ehr_halt", {"answer": "No result"}, 1),
        ("longhalt", "B", 1),
        ("longhalt", "A", 0),
        ("medhalt_rht", {"accepted": ["I do not know"]}, 1),
        ("medhalt_rht", "A", 0),
        ("longhealthqa", "B", 0),
        ("ehrsql", {"answer": "[]"}, 0),
    ],
)
def test_refusal_is_right_in_strict_where_the_task_wants_one(task, target, repaired):
    assert values(sample(task, target), stop="refused", refusal=Refusal({"reason": "no note"})) == [repaired, 0]


def test_samples_of_other_benchmarks_or_with_a_broken_key_are_unscored():
    assert values(sample("medmcqa", "A"), "A") == [None, None]
    assert values(Sample(Problem("1", "?"), "A"), "A") == [None, None]
    assert values(sample("medqa", "E"), "A") == [None, None]
    assert values(sample("ehrsql", "heparin"), "heparin") == [None, None]
    assert values(sample("medhalt_rht", "E"), stop="refused", refusal=Refusal({})) == [None, None]


def test_statement_runs_on_the_sample_s_database_within_the_limit(tmp_path):
    with closing(sqlite3.connect(tmp_path / "mimic_iv.sqlite")) as made, made:
        made.execute("CREATE TABLE drugs(drug TEXT)")
        made.execute("INSERT INTO drugs VALUES ('heparin')")
    one = replace(
        sample("ehrsql", {"answer": "[['heparin', '2100-12-31 23:59:00']]"}),
        problem=Problem("1", "?", inputs={"sql_database": "hospital"}),
        metadata={"task": "ehrsql", "sql_dialect": "mimic_iv"},
        files={"hospital": str(tmp_path)},
    )
    assert values(one, "SELECT drug, current_time FROM drugs") == [1, 1]
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    strict, official = Cab(seconds=0.05).score(one, Trajectory(stop="answered", answer=endless))
    assert (strict.value, official.value) == (0, 0) and "was stopped" in strict.explanation
    lost = replace(one, files={})
    assert values(lost, "SELECT drug FROM drugs") == [None, None]
    assert values(lost, "heparin at 2100-12-31 23:59:00") == [1, 1]
