from components.core.messages import Message, Usage
from components.core.types import Step, Trajectory
from components.core.usage import sum_usages, usage_lines, usage_of


def trajectory_of(*calls):
    steps = [
        Step(purpose, "main", "main", n, 0, (), Message("assistant", "x"), Usage(*usage))
        for n, (purpose, *usage) in enumerate(calls)
    ]
    return Trajectory(steps)


def test_calls_are_counted_in_total_and_by_purpose_and_a_judge_s_apart():
    found = usage_of(trajectory_of(("act", 10, 2, 0.5), ("act", 20, 3, 0.25), ("judge", 7, 1, 1.0)))
    act = {"calls": 2, "input_tokens": 30, "output_tokens": 5, "cost_usd": 0.75}
    judge = {"calls": 1, "input_tokens": 7, "output_tokens": 1, "cost_usd": 1.0}
    assert found == {**act, "purposes": {"act": act, "judge": judge}}


def test_usages_are_added_and_a_value_unknown_for_one_is_unknown_for_all():
    one, two = (usage_of(trajectory_of(("act", 10, 2, usd), ("plan", 1, 1, 0.0)))["purposes"] for usd in (0.5, None))
    assert sum_usages([one, one])["act"] == {"calls": 2, "input_tokens": 20, "output_tokens": 4, "cost_usd": 1.0}
    assert sum_usages([one, two])["act"]["cost_usd"] is None and sum_usages([one, two])["plan"]["cost_usd"] == 0.0
    assert sum_usages([]) == {}


def test_a_line_for_each_purpose():
    purposes = usage_of(trajectory_of(("plan", 1500, 20, 0.5), ("act", 3, None, None)))["purposes"]
    assert usage_lines(purposes) == [
        "all calls, now and before:",
        "plan:       1 calls, 1,500 tokens in, 20 out, $0.5000",
        "act:        1 calls, 3 tokens in, unknown out, price unknown",
    ]
    assert usage_lines({}) == []
