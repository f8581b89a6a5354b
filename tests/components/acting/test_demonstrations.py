import pytest

from components.acting.solved import own_tasks, shown_plans, steps_of
from components.core.errors import ConfigError
from tests.record_desk import PLAN, SOLVED, Records


def episode(desk):
    return desk.episode([])[0]


def test_solved_questions_of_the_database_are_shown_in_both_forms():
    (shown,) = shown_plans(episode(Records()), "mimic_iii", 4)
    assert shown.problem == SOLVED.question and shown.data["knowledge"] == "- One table."
    assert shown.data["plan"] == ["LoadDB[admissions]", "FilterDB[SUBJECT_ID=2]", "GetValue[HADM_ID]", "Finish[#3]"]
    assert shown.data["steps"][1:] == [
        ("FilterDB[SUBJECT_ID=2]", "The current table is down to 1 row."),
        ("GetValue[HADM_ID]", "13"),
        ("Finish[13]", ""),
    ]


@pytest.mark.parametrize("desk,database", [(Records(), "treqs"), (Records(memory=None), "mimic_iii")])
def test_a_memory_without_one_is_refused_unless_none_is_asked_for(desk, database):
    with pytest.raises(ConfigError, match=f"no solved question of '{database}'.*memory=demonstrations"):
        shown_plans(episode(desk), database, 1)
    assert shown_plans(episode(desk), database, 0) == []


def test_references_to_what_is_not_there_stay():
    assert steps_of("Finish[#1 and #2]\nwell") == [("Finish[#1 and #2]", "")]
    assert steps_of(PLAN)[0] == ("LoadDB[admissions]", "admissions: 3 rows.")


def test_a_solved_question_is_also_shown_step_by_step():
    (shown,) = shown_plans(episode(Records()), "mimic_iii", 4)
    assert shown.solution.endswith("Action: GetValue[HADM_ID]\nObservation: 13\nAction: Finish[13]")


@pytest.mark.parametrize("name", ["clinical_demonstrations", "radiology_demonstrations"])
def test_shipped_tasks_end_with_an_answer(name):
    (one,) = own_tasks(name)
    assert one.problem.startswith("Inputs:\n") and "\nInstruction:\n" in one.problem
    assert one.data["steps"][-1][0].startswith("Finish[") and len(one.data["steps"]) > 2


@pytest.mark.parametrize(
    "text",
    [
        "task: one",
        "[]",
        "- {task: one}",
        "- {task: one, steps: [['a[]']]}",
        "- {task: 1, steps: [['a[]', b]]}",
        "- {task: one, steps: []}",
        "- {task: one, steps: [['a[]', b]], stepz: 1}",
        "- {task: one, steps: [['rm -rf /', b]]}",
    ],
)
def test_tasks_that_cannot_be_shown_are_named(tmp_path, text):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "tasks.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"tasks\.yaml(, task 1)?: must be a list of \{task, steps\}"):
        own_tasks(str(folder))
