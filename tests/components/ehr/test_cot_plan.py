import pytest

from components.agents.self_consistency import SelfConsistency
from components.core.errors import ConfigError
from components.core.types import Answer, Failure, Refusal
from components.ehr.planned import CotPlan
from tests.record_desk import Records, solving
from tests.table import each_row

PLAN = """The last admission comes from admissions, its drugs from prescriptions [both have HADM_ID].
Plan:
1. LoadDB[admissions]
2. FilterDB[SUBJECT_ID=1||max(ADMITTIME)]
3. GetValue[HADM_ID]
4. LoadDB[prescriptions]
5. FilterDB[HADM_ID=#3]
6. GetValue[DRUG]
7. Finish[#6]"""


async def test_one_call_writes_the_plan_and_its_actions_run_in_order():
    outcome, model, trajectory = await solving(CotPlan(), [PLAN])
    assert outcome == Answer("heparin [5,000 units], aspirin")
    (request,), (step,) = model.requests, trajectory.steps
    assert request.purpose == "plan" and len(step.observed) == 6 and not any(one.error for one in step.observed)
    assert step.remarks["label"].startswith("plan: LoadDB, FilterDB, GetValue")


async def test_the_prompt_shows_metadata_actions_and_the_solved_questions_of_the_database():
    _, model, _ = await solving(CotPlan(), [PLAN])
    system, task = (message.text for message in model.requests[0].messages)
    assert "Two tables." in system and "FilterDB[conditions]: keeps" in system and "at most 10 actions" in system
    assert "Thoughts:\n- One table.\nPlan:\n1. LoadDB[admissions]" in system and "4. Finish[#3]" in system
    assert "Which drugs?" not in system and "Refuse" not in system
    assert "last admission of patient 1" in task and "never shown" not in system + task


async def test_the_first_error_leaves_the_run_unfinished():
    outcome, model, trajectory = await solving(CotPlan(), [PLAN.replace("HADM_ID=#3", "HADM_ID=99")])
    assert outcome.label == "plan_failed" and "action 5, FilterDB: no_such_value" in outcome.detail
    assert len(model.requests) == 1 and trajectory.steps[0].observed[-1].error == "no_such_value"


@each_row(
    "plan,outcome",
    [
        ("Calculate[1 + 1]", Answer("2")),
        ("I cannot plan this.", Failure("unparsable_reply", "the plan holds no action")),
        ("Calculate[1]\n" * 11, Failure("step_limit", "no answer within 10 actions")),
    ],
)
async def test_without_finish_the_last_result_is_the_answer(plan, outcome):
    assert (await solving(CotPlan(), [plan]))[0] == outcome


async def test_it_may_refuse_where_refusal_is_allowed():
    outcome, model, _ = await solving(CotPlan(), ["Plan:\n1. Refuse[no table]"], Records(fields=["reason"]))
    assert outcome == Refusal({"reason": "no table"}) and "Refuse[" in model.requests[0].messages[0].text


async def test_solved_questions_are_needed_unless_none_is_shown():
    assert CotPlan().requirements.memory == "demonstrations" and CotPlan(shots=0).requirements.memory is None
    with pytest.raises(ConfigError, match="memory=demonstrations"):
        await solving(CotPlan(), [PLAN], Records(memory=None))
    _, model, _ = await solving(CotPlan(shots=0), [PLAN], Records(memory=None))
    assert "Solved questions" not in model.requests[0].messages[0].text


async def test_of_several_plans_the_majority_of_the_executed_ones_answers():
    said = {
        1: "LoadDB[nothing]",
        2: "Finish[Aspirin ]",
        3: "Finish[heparin]",
        4: "LoadDB[nothing]",
        5: "Finish[aspirin]",
    }
    outcome, model, trajectory = await solving(
        SelfConsistency(CotPlan()), lambda request: said[int(request.branch.split("/")[1])]
    )
    assert outcome == Answer("Aspirin")
    assert {request.sampling.temperature for request in model.requests} == {0.7} and len(model.requests) == 5
    assert [step.remarks["read"] for step in trajectory.steps] == [None, "aspirin", "heparin", None, "aspirin"]


async def test_ties_go_to_the_first_plan_and_without_an_executed_plan_there_is_no_answer():
    said = ["LoadDB[nothing]", "Finish[b]", "Finish[a]"]
    agent = SelfConsistency(CotPlan(), draws=3)
    outcome, _, _ = await solving(agent, lambda request: said[int(request.branch.split("/")[1]) - 1])
    assert outcome == Answer("b")
    outcome, _, _ = await solving(agent, lambda request: "LoadDB[nothing]")
    assert outcome.label == "plan_failed"
