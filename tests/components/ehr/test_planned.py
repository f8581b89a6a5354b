from components.acting.arguments import ActionLine, action_lines
from components.core.messages import Message
from components.core.types import Answer, Failure, Refusal
from components.ehr.planned import PlanRun
from tests.record_desk import Records, counting
from tests.table import each_row


async def carried(plan, **changes):
    """The outcome of a plan's last action, and what was done."""
    episode, _, trajectory = Records(**changes).episode([plan])
    reply = await episode.ask([Message("user", "plan")], "plan")
    run, outcome = PlanRun(episode), None
    for line in action_lines(plan):
        assert outcome is None
        outcome = await run.act(line, reply)
    return outcome, run, trajectory


async def test_results_stand_for_the_references_to_them():
    outcome, run, trajectory = await carried(
        "LoadDB[admissions]\nFilterDB[SUBJECT_ID=1||max(ADMITTIME)]\nGetValue[HADM_ID]\nLoadDB[prescriptions]\n"
        "FilterDB[HADM_ID=#3]\nGetValue[DRUG, list]\nFinish[#6 and #3]"
    )
    assert outcome == Answer("['heparin [5,000 units]', 'aspirin'] and 12")
    assert run.done[4][0] == "FilterDB[HADM_ID=12]"
    assert [one.call.name for one in trajectory.steps[0].observed][::5] == ["LoadDB", "GetValue"]


async def test_the_last_result_is_the_answer_of_a_plan_that_says_none():
    _, run, _ = await carried("Calculate[2 + 3]\nCalculate[#1 * 2]")
    assert run.last_result() == Answer("10")
    assert PlanRun(run.episode).last_result().label == "plan_failed"


async def test_an_empty_result_is_handed_on_as_it_is():
    _, run, _ = await carried("LoadDB[admissions]\nFilterDB[SUBJECT_ID>5]\nGetValue[HADM_ID]")
    assert run.last_result() == Answer("") and "no value" in run.done[-1][1]


@each_row(
    "plan,why",
    [
        ("LoadDB[patients]", "action 1, LoadDB: unknown_table: "),
        ("LoadDB[admissions]\nGetValue[DRUG]", "action 2, GetValue: unknown_column: "),
        ("Python[1]", "action 1, Python: unknown_tool: "),
        ("Finish[#1]", "action 1, Finish: it uses the result #1, and 0 actions stand before it"),
        ("Calculate[1]\nFinish[#2]", "action 2, Finish: it uses the result #2"),
        ("Calculate[1", "action 1, Calculate: the bracket"),
        ("Refuse[no]", "action 1, Refuse: unknown_tool: "),
    ],
)
async def test_the_first_action_that_fails_ends_the_plan(plan, why):
    outcome, _, _ = await carried(plan)
    assert outcome.label == "plan_failed" and outcome.detail.startswith(why)


async def test_a_result_that_is_too_long_to_pass_on_is_not_truncated():
    outcome, run, _ = await carried(f"SQLInterpreter[{counting(9000)}]\nFinish[#1]")
    assert outcome.label == "plan_failed" and "#1 is too long" in outcome.detail
    assert len(run.done[0][1]) < 4100 and isinstance(run.last_result(), Failure)
    outcome, _, _ = await carried(f"SQLInterpreter[{counting(1000)}]\nFinish[#1]")
    assert outcome.text.endswith("(1000,)]")


async def test_a_refusal_ends_the_plan_where_refusal_is_allowed():
    episode, _, _ = Records(fields=["reason"]).episode(["x"], None)
    reply = await episode.ask([Message("user", "plan")], "plan")
    refused = await PlanRun(episode).act(ActionLine("Refuse", '{"reason": "no\n table"}', 0), reply)
    assert refused == Refusal({"reason": "no table"})
