import pytest

from components.core.errors import OVERFLOW, ConfigError, ModelError
from components.core.messages import Message
from components.core.plain import Accept
from components.core.types import Problem, Sample
from components.ehr.agent import EhrAgent
from components.ehr.scorer import Ehr as EhrScorer
from components.grammars.code_block import CodeBlock
from components.models.scripted import Scripted
from components.stages.optimize import Solve
from runner.episode.door import Door
from runner.episode.shared import Parts
from runner.learning.stage_context import Practice
from tests.parts import Intact
from tests.wards import cell, sample, toolset

AGENT = EhrAgent(knowledge=False, debugger=False)


def questions():
    one = sample()
    return [
        Sample(Problem(f"t{n}", f"how many of kind {n}?"), {"answer": [str(n)]}, one.metadata, files=one.files)
        for n in range(3)
    ]


async def learnt(say, **values):
    model = Scripted(say)
    door = Door({"main": model}, None, run_seed=0)
    parts = Parts(AGENT, Accept(), CodeBlock(), toolset(), Intact(), {"ehr": EhrScorer()})
    files = await Solve(**values).run(Practice(AGENT, parts, door), questions())
    return files["solved.json"], model


async def test_a_correctly_solved_question_is_kept_and_shown_to_the_next():
    def say(request) -> str | Message:
        number = request.sample_id[1:]
        return cell(f"answer = {number if number != '1' else 9}", "TERMINATE")

    found, model = await learnt(say)
    assert [one["question"] for one in found] == ["how many of kind 0?", "how many of kind 2?"]
    assert found[1]["code"] == "answer = 2" and found[0]["database"] == "mimic_iii" and not found[0]["seed"]
    shown = [request.messages[1].text for request in model.requests]
    assert "kind 0?" in shown[1] and "kind 0?" in shown[2] and "kind 1?" not in shown[2]


async def test_a_prompt_set_without_demonstrations_is_refused():
    with pytest.raises(ConfigError, match=r"has no mimic_iii\.yaml"):
        await learnt([], prompts="react")


async def test_a_question_that_grows_too_long_has_failed_and_teaches_nothing():
    def say(request) -> str | Message:
        if request.sample_id == "t1":
            raise ModelError("too long", OVERFLOW)
        return cell(f"answer = {request.sample_id[1:]}", "TERMINATE")

    solved, _ = await learnt(say)
    assert {one["question"] for one in solved} >= {"how many of kind 0?", "how many of kind 2?"}
    assert not any("kind 1" in one["question"] for one in solved)


async def test_the_result_of_such_a_question_is_0_and_its_name_is_kept():
    parts = Parts(AGENT, Accept(), CodeBlock(), toolset(), Intact(), {"ehr": EhrScorer()})
    door = Door({"main": Scripted([ModelError("too long", OVERFLOW)])}, None, run_seed=0)
    practice = Practice(AGENT, parts, door)
    outcome = await practice.run_sample(questions()[1], AGENT.solve)
    assert (outcome.score, outcome.scores["ehr/completed"], practice.skipped) == (0.0, 0.0, {"t1"})
