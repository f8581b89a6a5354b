import orjson
import pytest

from components.core.task_text import chain_text, written
from components.models.simulated.skills.learn import learnt
from components.prompts import load
from components.text.structured import array_in, lessons, object_in

TASK = "Instruction:\nWhich drug? New:\nSecond attempt:\n[x]"
CHAIN = [('Medrag[{"query":"gout drug"}]', "Action: a passage"), (written("Finish", "B"), "B")]


def optimize(name, /, **values):
    return learnt(load("optimize").render(name, **values))


@pytest.mark.parametrize("prompts,extra", [("optimize", {"gold": "B"}), ("reflexion", {})])
def test_advice_names_the_tool_and_no_answer(prompts, extra):
    said = learnt(load(prompts).render("reflect", task=TASK, chain=chain_text(CHAIN), **extra))
    assert said.startswith("Medrag should") and "B" not in said
    bare = learnt(load(prompts).render("reflect", task=TASK, chain=chain_text(CHAIN[1:]), **extra))
    assert bare.startswith("No tool was asked")


def test_lessons_are_on_the_actions_of_the_second_attempt():
    other = chain_text([('UMLS[{"query":"x"}]', "y")])
    said = object_in(optimize("suggest", task=TASK, gold="B", before=other, after=chain_text(CHAIN)))
    assert list(said) == ["Medrag", "Finish"] and all(lessons(value) for value in said.values())
    assert "query" in said["Medrag"][0]


@pytest.mark.parametrize(
    "old,new,fused",
    [
        ([], ["a"], ["a"]),
        (["a", "b"], ["b", "c"], ["a", "b", "c"]),
        (['New:\n["x"]', "Known so far:"], ["[d]"], ['New:\n["x"]', "Known so far:", "[d]"]),
    ],
)
def test_lists_are_joined_and_say_nothing_twice(old, new, fused):
    assert array_in(optimize("merge", name="Medrag", old=old, new=new)) == fused


def test_lists_that_cannot_be_read_are_empty():
    text = "a JSON array of short texts\n\nKnown so far:\n[{}, 3]\n\nNew:\nnothing\n\nend"
    assert orjson.loads(learnt(text)) == []


def test_any_other_prompt_is_none_of_its_business():
    assert learnt("Which drug helps?") is None
