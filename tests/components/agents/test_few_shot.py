from dataclasses import replace

import pytest

from components.acting.examples import Example
from components.agents.few_shot import FewShot
from components.core.errors import ConfigError
from components.core.plain import Accept
from components.core.types import Problem, Sample
from components.grammars.xml_call import XmlCall
from components.memory.examples import ExampleMemory
from components.models.scripted import Scripted
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from tests.components.conftest import AgentRun, AsItIs, Desk

CHOICE = Problem("choice", "Which vitamin prevents scurvy?", {"A": "B12", "B": "C"})
OPEN = Problem("open", "Which drug lowers urate?", context="A note on gout.")
TWO = Example("two", "Which vitamin prevents rickets?", "A", {"A": "D", "B": "K"}, rationale="Bone needs calcium.")
THREE = Example("three", "Which vitamin helps clotting?", "C", {"A": "E", "B": "D", "C": "K"}, "A note.")
WORDS = Example("words", "Which drug thins blood?", "Heparin", rationale="It acts on thrombin.")
OWN = replace(TWO, id="own", question="Which vitamin is thiamine?")
MEMORY = ExampleMemory("m", (THREE, TWO), (OWN, WORDS))


async def run_agent(agent, problem, replies, memory=MEMORY):
    model = Scripted(replies)
    door = Door({"main": model}, None, run_seed=0)
    parts = Parts(agent, Accept(), XmlCall(), Desk(), AsItIs(), memory=memory)
    trajectory, _ = await run_episode(parts, door, Sample(problem, target="B"), 0)
    assert trajectory.stop != "error", trajectory.error
    return AgentRun(trajectory, model)


def examples(done):
    return done.trajectory.steps[0].remarks["examples"]


async def test_dialogue_of_a_choice_below_examples(same_dialogue):
    done = await run_agent(FewShot(), CHOICE, ["Answer: B"])
    same_dialogue(done, "few_shot_choice")
    assert examples(done) == ["two", "three"] and done.trajectory.answer == "B"


async def test_dialogue_with_rationales(same_dialogue):
    done = await run_agent(FewShot(reason=True), CHOICE, ["It is ascorbic acid.\nAnswer: B"])
    same_dialogue(done, "few_shot_reasoned")
    assert examples(done) == ["two"] and done.trajectory.answer == "B"


async def test_dialogue_of_an_open_question_below_own_examples(same_dialogue):
    done = await run_agent(FewShot(reason=True), OPEN, ["Answer: Allopurinol"])
    same_dialogue(done, "few_shot_open")
    assert examples(done) == ["words"]


async def test_the_number_of_examples_is_limited():
    assert examples(await run_agent(FewShot(shots=1), CHOICE, ["Answer: B"])) == ["two"]


async def test_own_examples_stand_in_where_none_of_the_training_split_fits():
    memory = ExampleMemory("m", (THREE,), (OWN,))
    assert examples(await run_agent(FewShot(reason=True), CHOICE, ["Answer: B"], memory)) == ["own"]
    assert examples(await run_agent(FewShot(), CHOICE, ["Answer: B"], memory)) == ["three"]


@pytest.mark.parametrize("memory", [None, ExampleMemory("m", (), ())])
async def test_without_an_example_no_model_call_is_made(memory):
    with pytest.raises(ConfigError, match="no example that fits 'choice'; choose memory=examples"):
        await run_agent(FewShot(), CHOICE, [], memory)
