from dataclasses import replace

import pytest

from components.acting.attempt import Retries, Shown
from components.acting.solved import FixedTasks, own_tasks, solved_task
from components.agents.react import ReAct
from components.core.errors import ConfigError
from components.core.messages import Image
from components.core.tools import Offer
from components.core.types import Answer, Failure, Problem
from components.grammars.bracket_json import BracketJson
from components.grammars.native_tools import NativeTools
from tests.attempts import ECHO, Attempt, Echo, acting_on
from tests.table import each_row

CALL, ANSWER = 'Action: count[{"n": 2}]', 'Action: Finish[{"response": "B"}]'


async def test_a_trial_describes_its_actions_and_its_outcome():
    trial, _ = await acting_on(ReAct("reflectool"), [CALL, "prose", ANSWER])
    assert trial.outcome == Answer("B")
    assert trial.chain == [('count[{"n":2}]', "2"), trial.chain[1], ('Finish[{"response":"B"}]', "B")]
    assert trial.chain[1][0] == "prose" and "could not be read" in trial.chain[1][1]
    assert isinstance(ReAct(), Retries)


async def test_the_step_limit_is_a_failure_and_the_forced_last_step_offers_only_to_finish():
    trial, model = await acting_on(ReAct("reflectool", max_steps=2, force_finish=True), [CALL, CALL])
    assert trial.outcome == Failure("step_limit", "no answer within 2 steps") and len(trial.chain) == 2
    first, last = (request.messages[0].text for request in model.requests)
    assert '"count"' in first and '"count"' not in last and "Finish[" in last
    assert "count[" in first and "[ActionFormatExample]" not in last


async def test_native_tools_are_not_sent_at_the_forced_last_step():
    trial, model = await acting_on(ReAct("react", max_steps=1, force_finish=True), ["the answer"], NativeTools())
    assert trial.outcome == Answer("the answer") and model.requests[0].tools == ()


async def test_configured_displays_appear_in_the_prompts():
    attempt = Attempt(memory=FixedTasks((solved_task("a solved task", (("Plan[{}]", "OK"),)),)))
    shown = Shown(previous=((("Think[{}]", "OK"),),))
    _, model = await acting_on(ReAct("reflectool", shots=1), [ANSWER], shown=shown, attempt=attempt)
    system, task = (message.text for message in model.requests[0].messages)
    assert "[Example]" in system and "a solved task" in system and "[ActionFormatExample]" not in system
    assert task.index("[Previous_Trial]") < task.index("[Execution]") and "Action: Think[{}]" in task
    _, model = await acting_on(ReAct("critic"), [ANSWER], shown=Shown(draft="C. gout"))
    assert "C. gout" in model.requests[0].messages[1].text


@each_row("vision, shows, outcome", [(False, True, "blind"), (True, True, "seen"), (False, False, "named")])
async def test_images_go_to_a_model_that_takes_them_or_to_tools(vision, shows, outcome):
    problem = Problem("p", "Where?", images=(Image("data:image/png;base64,AA"),), inputs={"image": "scan.png"})
    tool = None if shows else Echo(spec=replace(ECHO, facts={"needs": "image"}))
    attempt = Attempt(problem=problem, vision=vision, shows_images=shows, tool=tool)
    trial, model = await acting_on(ReAct("reflectool"), [ANSWER], attempt=attempt)
    if outcome == "blind":
        assert trial.outcome == Failure("unsupported_input", "the model takes no images") and not model.requests
    else:
        content = model.requests[0].messages[1].content
        assert (not isinstance(content, str)) == (outcome == "seen") and "scan.png" in model.requests[0].messages[
            1
        ].text


async def test_inputs_are_preloaded_where_it_is_asked_for():
    attempt = Attempt(inputs="patients(id)")
    _, model = await acting_on(ReAct("reflectool", preload=True), [ANSWER], attempt=attempt)
    assert "patients(id)" in model.requests[0].messages[1].text
    _, model = await acting_on(ReAct("reflectool"), [ANSWER], attempt=attempt)
    assert "patients(id)" not in model.requests[0].messages[1].text


async def test_grammar_is_the_experiments():
    trial, _ = await acting_on(ReAct("reflectool"), [ANSWER], BracketJson())
    assert trial.outcome == Answer("B")


@pytest.mark.parametrize("vision", [True, False])
async def test_images_that_no_tool_looks_at_are_shown_to_the_model(vision):
    problem = Problem("p", "Where?", images=(Image("data:x"),), inputs={"image": "scan.png"})
    attempt = Attempt(problem=problem, vision=vision, shows_images=False)
    trial, model = await acting_on(ReAct("reflectool"), [ANSWER], attempt=attempt)
    assert (trial.outcome == Answer("B")) is vision and len(model.requests) == vision


async def test_a_memory_is_needed_where_solved_questions_are_shown():
    assert (
        ReAct("ehr_react", shots=1).requirements.memory == "demonstrations"
        and ReAct("react").requirements.memory is None
    )
    assert ReAct("react", shots=1).requirements.memory == "tasks"
    assert (
        ReAct("ehr_react", shots=1).requirements.controls == ("metadata",)
        and ReAct("react").requirements.controls == ()
    )


async def test_a_missing_required_control_is_refused():
    with pytest.raises(ConfigError, match="needs the control 'metadata'"):
        await acting_on(ReAct("ehr_react", shots=1), [ANSWER])


@each_row("prompts", ["react", "critic", "reflexion", "reflectool", "cot_steps"])
async def test_each_prompt_shows_as_many_demonstrations_as_are_asked_for(prompts):
    tasks = FixedTasks(tuple(solved_task(f"solved task {n}", (("count[{}]", f"saw {n}"),)) for n in range(3)))
    for shots in range(3):
        _, model = await acting_on(ReAct(prompts, shots=shots), [ANSWER], attempt=Attempt(memory=tasks))
        whole = "\n".join(message.text for message in model.requests[0].messages)
        assert whole.count("solved task ") == whole.count("Observation: saw ") == shots
        assert ("[Example]" in whole) is (shots > 0)


async def test_a_fixed_demonstration_shows_only_actions_that_are_offered():
    attempt = Attempt(memory=FixedTasks(own_tasks("clinical_demonstrations")))
    _, model = await acting_on(ReAct("reflectool", shots=1), [ANSWER], attempt=attempt)
    shown = model.requests[0].messages[0].text.partition("[Example]")[2]
    assert "paracetamol" in shown and "Action: Finish[" in shown and "Medrag[" not in shown and "Plan[" not in shown


async def test_nothing_is_shown_while_a_memory_is_being_learnt():
    _, model = await acting_on(ReAct("react", shots=1), [ANSWER])
    assert "[Example]" not in model.requests[0].messages[0].text


def test_prompts_without_a_place_for_demonstrations_are_refused():
    with pytest.raises(ConfigError, match=r"agent\.shots=1: system\.jinja of the prompts 'cot' shows no"):
        ReAct("cot", shots=1).check_offer(Offer({}, None))
