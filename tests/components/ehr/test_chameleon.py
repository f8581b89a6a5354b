from time import perf_counter

import pytest

from components.core.errors import ActionError
from components.core.types import Answer, Failure, Refusal
from components.ehr.planned import Chameleon, modules_of
from tests.record_desk import Records, solving
from tests.table import each_row

PLAN = "LoadDB, FilterDB, GetValue, Finish"
KNOWN = {"LoadDB", "FilterDB", "GetValue", "Finish"}
FILLED = [PLAN, "LoadDB[prescriptions]", "FilterDB[HADM_ID=12]", "DRUG", "Finish[#3]"]


async def test_the_order_is_planned_and_every_module_filled_in_by_a_call_of_its_own():
    outcome, model, trajectory = await solving(Chameleon(), FILLED)
    assert outcome == Answer("heparin [5,000 units], aspirin")
    assert [request.purpose for request in model.requests] == ["plan", "act", "act", "act", "act"]
    assert [[one.call.name for one in step.observed] for step in trajectory.steps] == [
        [], ["LoadDB"], ["FilterDB"], ["GetValue"], [],
    ]  # fmt: skip
    assert trajectory.steps[0].remarks["label"] == "plan: LoadDB, FilterDB, GetValue, Finish"


async def test_a_module_sees_question_plan_and_the_results_so_far():
    _, model, _ = await solving(Chameleon(), FILLED)
    plan, load, narrow, _, finish = (request.messages[1].text for request in model.requests)
    assert all("Two tables." in request.messages[0].text for request in model.requests)
    assert "Modules: LoadDB, FilterDB, GetValue, Finish" in plan and "In which admission was patient 2?" in plan
    assert "No module has been run yet" in load and "FilterDB[conditions]" not in load
    assert "Modules, in their order: LoadDB, FilterDB, GetValue, Finish" in narrow and "as number 2" in narrow
    assert "1. LoadDB[prescriptions]\n   prescriptions: 4 rows" in narrow and "HADM_ID=#3" not in narrow
    assert "3. GetValue[DRUG]\n   heparin [5,000 units], aspirin" in finish and "Finish[answer]" in finish


async def test_a_failing_module_ends_the_run_without_a_retry():
    outcome, model, _ = await solving(Chameleon(), [PLAN, "LoadDB[drugs]"])
    assert outcome.label == "plan_failed" and "unknown_table" in outcome.detail and len(model.requests) == 2


@each_row(
    "replies,outcome",
    [
        (["Calculate", "1 + 1"], Answer("2")),
        (["", "x"], Failure("unparsable_reply", "the plan names no module")),
        (["LoadDB, Python"], Failure("unknown_tool", "the plan names 'Python', which is no module")),
        (["Calculate," * 11, *["1"] * 10], Failure("step_limit", "no answer within 10 modules")),
        (["Refuse"], Failure("unknown_tool", "the plan names 'Refuse', which is no module")),
    ],
)
async def test_how_a_plan_ends(replies, outcome):
    assert (await solving(Chameleon(), replies))[0] == outcome


async def test_it_may_refuse_where_refusal_is_allowed():
    outcome, model, _ = await solving(Chameleon(), ["Refuse", "no table holds it"], Records(fields=["reason"]))
    assert outcome == Refusal({"reason": "no table holds it"})
    assert "Refuse is the only module" in model.requests[0].messages[1].text


@each_row(
    "text",
    [
        "LoadDB, FilterDB, GetValue, Finish",
        '["LoadDB", "FilterDB", "GetValue", "Finish"]',
        "Modules: LoadDB -> FilterDB -> GetValue -> Finish.",
        "1. LoadDB\n2. FilterDB\n3. `GetValue`\n4. Finish\n",
    ],
)
def test_names_are_read_from_a_line_a_list_or_numbered_lines(text):
    assert modules_of(text, KNOWN) == ["LoadDB", "FilterDB", "GetValue", "Finish"]


def test_a_plan_of_blank_lines_is_read_quickly():
    began = perf_counter()
    with pytest.raises(ActionError, match="names no module"):
        modules_of("\n" * 200_000, ["Finish"])
    assert perf_counter() - began < 5


def test_prose_is_not_a_plan():
    with pytest.raises(ActionError, match="which is no module"):
        modules_of("I would load the table first, then filter.", KNOWN)


@each_row("text", ["Next:\nCalculate[1 + 1] as asked", "`1 + 1`", "Calculate[1 + 1]\nFinish[x]"])
async def test_an_argument_may_be_inside_its_action_or_alone(text):
    assert (await solving(Chameleon(), ["Calculate", text]))[0] == Answer("2")
