import time

import pytest

from components.conditions.failing import Denied, Slow, Unavailable
from components.core.errors import ConfigError
from components.core.protocols import Condition
from tests.failing import Book, Says, Tools, call_tools, episode, kinds, texts
from tests.slow import slow


async def test_a_denied_call_is_not_made_and_says_so():
    assert isinstance(Denied(), Condition)
    found = await call_tools(Denied(1.0), "echo 1")
    assert found[0].error == "denied" and kinds(found) == [["denied"]]
    assert found[0].observation.text == "Access denied: no permission to use echo for this request."


async def test_each_call_is_drawn_alone():
    found = await call_tools(Denied(0.5), *["echo 1"] * 40)
    denied = [one.error == "denied" for one in found]
    assert 10 < sum(denied) < 30
    assert all(one.observation.text == "1" for one, hit in zip(found, denied, strict=True) if not hit)


async def test_only_the_named_tools_are_hit_by_a_fault():
    found = await call_tools(Denied(1.0, ["other"]), "echo 1", "other 2")
    assert [one.error for one in found] == [None, "denied"]
    with pytest.raises(ConfigError, match="condition denied: there is no tool 'x'; there are echo, other"):
        await call_tools(Denied(1.0, ["x"]), "echo 1")


async def test_a_tool_fails_from_its_kth_call_on():
    assert isinstance(Unavailable(), Condition)
    found = await call_tools(
        Unavailable(1.0, from_call=3), "echo 1", "other 1", "echo 2", "echo 3", "echo 4", "other 2"
    )
    assert [one.error for one in found] == [None, None, None, "unavailable", "unavailable", None]
    assert kinds(found)[3] == ["unavailable"] and "echo is unavailable" in found[3].observation.text


async def test_calls_of_one_step_are_counted_in_their_order():
    step = 'call echo {"text": "1"}; echo {"text": "2"}; echo {"text": "3"}'
    trajectory = await episode(Unavailable(1.0, from_call=2), [step, "done"])
    assert [one.error for one in trajectory.steps[0].observed] == [None, "unavailable", "unavailable"]


async def test_the_rate_is_that_of_tools_and_they_stay_down():
    for seed in range(8):
        found = await call_tools(Unavailable(0.5), *["echo 1"] * 4, seed=seed)
        assert len({one.error for one in found}) == 1
    down = [(await call_tools(Unavailable(0.5), "echo 1", seed=seed))[0].error for seed in range(40)]
    assert 10 < down.count("unavailable") < 30


async def test_a_delayed_call_takes_longer_and_answers_as_before():
    assert isinstance(Slow(), Condition)
    began = time.monotonic()
    found = await call_tools(Slow(1.0, seconds=0.05), "echo 1")
    assert time.monotonic() - began >= 0.05 and found[0].seconds >= 0.05
    assert texts(found) == ["1"] and kinds(found) == [["slow"]]


@slow
async def test_a_tools_own_timeout_ends_the_wait():
    tools = Tools((Says(timeout_seconds=0.01), Says("other")))
    found = await call_tools(Slow(1.0, seconds=0.5), "echo 1", "other 1", toolset=tools)
    assert [one.error for one in found] == ["slow", None]
    assert texts(found)[0] == "echo timed out: no answer within 0.01 s." and found[0].seconds < 0.5


async def test_a_timeout_for_all_goes_before_a_tools_own():
    tools = Tools((Says(timeout_seconds=0.01),))
    found = await call_tools(Slow(1.0, seconds=0.02, timeout_seconds=1.0), "echo 1", toolset=tools)
    assert found[0].error is None


async def test_a_call_that_is_not_hit_by_a_fault_is_not_delayed():
    found = await call_tools(Slow(0.0, seconds=60), "echo 1")
    assert found[0].seconds < 1 and kinds(found) == [[]]


async def test_a_replay_says_the_same_and_waits_for_nothing():
    book, tools = Book(), Tools((Says(effect="external"), Says("other", timeout_seconds=0.09)))
    for settings in ({}, {"replay": True}):
        began = time.monotonic()
        found = await call_tools(Slow(1.0, seconds=0.1), "echo 1", "other 1", toolset=tools, journal=book, **settings)
        assert (time.monotonic() - began < 0.19) is bool(settings)
        assert texts(found) == ["1", "other timed out: no answer within 0.09 s."] and kinds(found) == [
            ["slow"],
            ["slow"],
        ]
