import asyncio

import pytest

from components.core.concurrency import gather_all


async def test_results_keep_their_order_and_all_tasks_finish_before_the_first_error_is_raised():
    done = []

    async def work(n, seconds, error=None):
        await asyncio.sleep(seconds)
        done.append(n)
        if error is not None:
            raise error
        return n

    assert await gather_all([work(1, 0.02), work(2, 0.0)]) == [1, 2] and done == [2, 1]
    with pytest.raises(KeyError):
        await gather_all([work(3, 0.02, KeyError("a")), work(4, 0.0, ValueError("b")), work(5, 0.03)])
    assert done[2:] == [4, 3, 5]


async def test_a_task_that_exits_does_not_end_the_loop():
    async def leaves():
        raise SystemExit(2)

    with pytest.raises(RuntimeError, match="a line of work raised SystemExit: 2"):
        await gather_all([leaves()])
