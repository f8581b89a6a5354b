import json

import pytest

from components.errors import ConfigError
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
    memory = opened(folder, k=2)
    assert [one.data["id"] for one in memory.search("a broken hip fracture")] == ["example_2"]
    assert [one.data["id"] for one in memory.search("urate")] == ["example_1", "example_10"]
    (first, _) = memory.search("urate")
    assert first.solution == "Action: Plan[{}]\nObservation: OK\nAction: Finish[{}]\nObservation: B1"
    assert memory.search("nothing alike") == () and memory.digest == "memory"
    assert opened(folder, k=0).search("urate") == ()


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


def test_fixed_examples_are_shown_whatever_the_task(folder):
    fixed = opened(folder, long_term=False, fixed=str(folder / "long_term"), k=1)
    assert [one.data["id"] for one in fixed.search("anything")] == ["example_1"]
    with pytest.raises(ConfigError, match="there is no folder nowhere"):
        opened(folder, long_term=False, fixed="nowhere")


def test_shipped_examples_are_whole():
    memory = Learnt(Optimize(), long_term=False, fixed="clinical").open(None, "")
    (shown,) = memory.search("anything")
    assert "Finish[" in shown.solution and shown.problem


def test_without_a_memory_nothing_is_shown():
    memory = Learnt(Optimize()).open(None, "")
    assert memory.search("x") == () and memory.experience("Medrag") == () and memory.digest == ""
    assert Learnt(Optimize()).needed and not Learnt(Optimize(), long_term=False, experience=False).needed


@pytest.mark.parametrize(("name", "text", "says"), [
    ("long_term/example_3.json", "{", "not JSON"),
    ("long_term/example_3.json", "{}", "pairs in act_obs"),
    ("long_term/example_x.json", "{}", "should end in a number"),
    ("experience/step-99.json", "[]", "must be an object"),
])  # fmt: skip
def test_damaged_files_are_named(folder, name, text, says):
    (folder / name).write_text(text)
    with pytest.raises(ConfigError, match=says) as caught:
        opened(folder)
    assert name.rpartition("/")[2] in str(caught.value)


def test_an_empty_chain_has_no_reflection_to_cut():
    assert chain_of({"act_obs": [], "task": {"prev_act_obs": [[]]}}, reflected=False) == []
