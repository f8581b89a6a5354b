import json

import pytest

from components.core.errors import ConfigError
from components.core.traits import MemoryTraits, declared
from components.memory.learnt import Learnt, chain_of
from components.stages.optimize import Optimize


def item(n: int, contents: str) -> dict:
    before = [["Finish[{}]", "A"], ["Reflection[{}]", "OK"]]
    return {
        "id": f"example_{n}",
        "contents": contents,
        "task": {"prev_act_obs": [before]},
        "act_obs": [["Plan[{}]", "OK"], ["Finish[{}]", f"B{n}"]],
    }


@pytest.fixture
def folder(tmp_path):
    for n, text in ((1, "gout and urate"), (2, "fracture of the hip"), (10, "urate and stones")):
        path = tmp_path / "memory" / "long_term" / f"example_{n}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(item(n, text)))
    for n in (2, 10):
        path = tmp_path / "memory" / "experience" / f"step-{n}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"Medrag": [f"after {n}"]}))
    return tmp_path / "memory"


def opened(folder, **switches):
    return Learnt(Optimize(), **switches).open(folder, "memory")


def test_the_nearest_solved_tasks_are_found(folder):
    memory = opened(folder)
    assert [one.data["id"] for one in memory.search("a broken hip fracture")] == ["example_2"]
    assert [one.data["id"] for one in memory.search("urate")] == ["example_1", "example_10"]
    (first, _) = memory.search("urate")
    assert first.solution == "Action: Plan[{}]\nObservation: OK\nAction: Finish[{}]\nObservation: B1"
    assert memory.search("nothing alike") == () and memory.digest == "memory"


def test_switches_of_the_ablation(folder):
    assert opened(folder, reflected=False).search("hip")[0].solution == "Action: Finish[{}]\nObservation: A"
    assert opened(folder, long_term=False).search("hip") == ()
    assert opened(folder, max_items=1).search("hip") == ()
    assert opened(folder, experience=False).experience("Medrag") == ()


def test_lessons_of_a_step(folder):
    assert opened(folder).experience("Medrag") == ["after 10"] and opened(folder).experience("Plan") == ()
    assert opened(folder, step=9).experience("Medrag") == ["after 2"]
    assert opened(folder, step=0).experience("Medrag") == ()
    with pytest.raises(ConfigError, match="begins with step 2"):
        opened(folder, step=1)


def test_the_demonstrations_of_a_prompt_set_stand_in_where_no_solved_task_is_near(folder):
    (shown,) = opened(folder, prompts="clinical_demonstrations").search("nothing alike")
    assert "warfarin" in shown.problem and "Finish[" in shown.solution
    without = opened(folder, prompts="clinical_demonstrations", long_term=False)
    assert [*without.search("hip")] == [shown] and without.digest != "memory"
    (near,) = opened(folder, prompts="clinical_demonstrations").search("hip")
    assert near.data["id"] == "example_2"


def test_a_memory_of_demonstrations_is_another_one_when_only_their_steps_differ(folder, tmp_path):
    digests = set()
    for n, saw in enumerate(("A", "A", "B")):
        (place := tmp_path / f"prompts{n}").mkdir()
        (place / "tasks.yaml").write_text(json.dumps([{"task": "Which?", "steps": [["Finish[]", saw]]}]))
        digests.add(opened(folder, prompts=str(place), long_term=False).digest)
    assert len(digests) == 2


def test_each_task_sees_its_own_solved_tasks_and_lessons(folder):
    part = folder / "tasks" / "mmlu%2Fanatomy"
    part.mkdir(parents=True)
    (folder / "long_term").rename(part / "long_term")
    (folder / "experience").rename(part / "experience")
    (folder / "tasks.json").write_text(json.dumps({"mmlu/anatomy": {"tried": 12, "solved": 3}}))
    memory = opened(folder)
    parts = declared(memory, MemoryTraits).tasks
    mine, other = parts.get("mmlu/anatomy", memory), parts.get("medqa", memory)
    assert [one.data["id"] for one in mine.search("hip")] == ["example_2"] and other.search("hip") == ()
    assert mine.experience("Medrag") == ["after 10"] and other.experience("Medrag") == ()
    assert memory.notes == ["training samples solved and kept, for each task: mmlu/anatomy 3 of 12"]
    assert opened(folder, step=50).notes[1].endswith("fewer successes to learn from: 10 for mmlu/anatomy")
    assert len(memory.texts) == 3 and memory.digest == mine.digest == "memory"
    with pytest.raises(ConfigError, match=r"memory\.per=all: .* holds a memory for each task"):
        opened(folder, per="all")


def test_without_a_memory_nothing_is_shown():
    memory = Learnt(Optimize()).open(None, "")
    assert memory.search("x") == () and memory.experience("Medrag") == () and memory.digest == ""
    assert Learnt(Optimize()).needed and not Learnt(Optimize(), long_term=False, experience=False).needed


@pytest.mark.parametrize(("name", "text", "message"), [
    ("long_term/example_3.json", "{", "not JSON"),
    ("long_term/example_3.json", "{}", "pairs in act_obs"),
    ("long_term/example_x.json", "{}", "should end in a number"),
    ("experience/step-99.json", "[]", "must be an object"),
    ("tasks.json", '{"medqa": 5}', "for each task, the numbers tried and solved"),
    ("tasks.json", "[]", "for each task, the numbers tried and solved"),
])  # fmt: skip
def test_damaged_files_are_named(folder, name, text, message):
    (folder / name).write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        opened(folder)
    assert name.rpartition("/")[2] in str(caught.value)


def test_an_empty_chain_has_no_reflection_to_cut():
    assert chain_of({"act_obs": [], "task": {"prev_act_obs": [[]]}}, reflected=False) == []
