import time

from components.conditions.slow import Slow
from components.core.protocols import Condition
from tests.failing import Book, Says, Tools, kinds, seen, texts


async def test_a_struck_call_takes_longer_and_answers_as_ever():
    assert isinstance(Slow(), Condition)
    began = time.monotonic()
    found = await seen(Slow(1.0, seconds=0.05), "echo 1")
    assert time.monotonic() - began >= 0.05 and found[0].seconds >= 0.05
    assert texts(found) == ["1"] and kinds(found) == [["slow"]]


async def test_a_tools_own_timeout_ends_the_wait():
    tools = Tools((Says(seconds=0.01), Says("other")))
    found = await seen(Slow(1.0, seconds=0.05), "echo 1", "other 1", toolset=tools)
    assert [one.error for one in found] == ["slow", None]
    assert texts(found)[0] == "echo timed out: no answer within 0.01 s." and found[0].seconds < 0.05


async def test_a_timeout_for_all_goes_before_a_tools_own():
    tools = Tools((Says(seconds=0.01),))
    found = await seen(Slow(1.0, seconds=0.02, timeout_seconds=1.0), "echo 1", toolset=tools)
    assert found[0].error is None


async def test_a_call_that_is_not_struck_waits_for_nothing():
    found = await seen(Slow(0.0, seconds=60), "echo 1")
    assert found[0].seconds < 1 and kinds(found) == [[]]


async def test_a_replay_says_the_same_and_waits_for_nothing():
    book, tools = Book(), Tools((Says(effect="external"), Says("other", seconds=0.09)))
    for settings in ({}, {"replay": True}):
        began = time.monotonic()
        found = await seen(Slow(1.0, seconds=0.1), "echo 1", "other 1", toolset=tools, journal=book, **settings)
        assert (time.monotonic() - began < 0.19) is bool(settings)
        assert texts(found) == ["1", "other timed out: no answer within 0.09 s."] and kinds(found) == [
            ["slow"],
            ["slow"],
        ]
