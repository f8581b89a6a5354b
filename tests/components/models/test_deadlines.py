import asyncio

import pytest

from components.models.deadlines import Deadlines


async def wait(deadlines, seconds):
    with deadlines.watch():
        await asyncio.sleep(seconds)
    return "done"


async def test_a_call_beyond_its_deadline_times_out():
    loop = asyncio.get_running_loop()
    before = loop.time()
    with pytest.raises(TimeoutError):
        await wait(Deadlines(0.05), 5)
    assert 0.045 < loop.time() - before < 2
    assert asyncio.current_task().cancelling() == 0


async def test_calls_of_different_age_end_each_at_its_time():
    deadlines, loop, ended = Deadlines(0.1), asyncio.get_running_loop(), []

    async def call(delay):
        await asyncio.sleep(delay)
        started = loop.time()
        with pytest.raises(TimeoutError):
            await wait(deadlines, 5)
        ended.append(loop.time() - started)

    await asyncio.gather(*(call(n * 0.02) for n in range(6)), wait(deadlines, 0.01))
    assert len(ended) == 6 and all(0.095 < seconds < 1 for seconds in ended)


async def test_a_cancellation_from_outside_stays_one():
    task = asyncio.create_task(wait(Deadlines(5), 5))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_nothing_is_left_behind():
    deadlines = Deadlines(5)
    assert await asyncio.gather(*(wait(deadlines, 0.001) for _ in range(50))) == ["done"] * 50
    assert (len(deadlines._watches), deadlines._timer) == (0, None)


def test_it_serves_one_loop_after_another():
    deadlines = Deadlines(0.02)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            asyncio.run(wait(deadlines, 5))
