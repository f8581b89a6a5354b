from components.conditions.unavailable import Unavailable
from components.core.protocols import Condition
from tests.failing import episode, kinds, seen


async def test_a_tool_fails_from_its_kth_call_on():
    assert isinstance(Unavailable(), Condition)
    found = await seen(Unavailable(1.0, from_call=3), "echo 1", "other 1", "echo 2", "echo 3", "echo 4", "other 2")
    assert [one.error for one in found] == [None, None, None, "unavailable", "unavailable", None]
    assert kinds(found)[3] == ["unavailable"] and "echo is unavailable" in found[3].observation.text


async def test_calls_of_one_step_are_counted_in_their_order():
    step = 'call echo {"text": "1"}; echo {"text": "2"}; echo {"text": "3"}'
    trajectory = await episode(Unavailable(1.0, from_call=2), [step, "done"])
    assert [one.error for one in trajectory.steps[0].observed] == [None, "unavailable", "unavailable"]


async def test_the_rate_is_that_of_tools_and_they_stay_down():
    for seed in range(8):
        found = await seen(Unavailable(0.5), *["echo 1"] * 4, seed=seed)
        assert len({one.error for one in found}) == 1
    down = [(await seen(Unavailable(0.5), "echo 1", seed=seed))[0].error for seed in range(40)]
    assert 10 < down.count("unavailable") < 30
