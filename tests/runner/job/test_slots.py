"""How many samples are played at once, over all jobs of a model."""

import asyncio

from runner.job.shared_resources import Lease, Slots


async def test_the_job_that_began_first_goes_first():
    slots, order = Slots(1), []

    async def play(rank):
        async with Lease(slots, rank, asyncio.Event()):
            order.append(rank)
            await asyncio.sleep(0)

    await asyncio.gather(*(play(rank) for rank in (9, 3, 2, 1)))
    assert order == [9, 1, 2, 3]


async def test_who_is_cancelled_while_waiting_leaves_the_place_to_others():
    slots = Slots(1)
    await slots.take(0)
    waiting = [asyncio.create_task(slots.take(rank)) for rank in (1, 2)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    slots.release()
    await asyncio.wait_for(waiting[1], 1)
    slots.release()
    late = asyncio.create_task(slots.take(3))
    await asyncio.sleep(0)
    assert late.done()


async def test_a_place_that_was_given_to_one_who_is_cancelled_goes_on():
    slots = Slots(1)
    await slots.take(0)
    first, second = (asyncio.create_task(slots.take(rank)) for rank in (1, 2))
    await asyncio.sleep(0)
    slots.release()
    first.cancel()
    await asyncio.wait_for(second, 1)


async def test_there_is_room_when_nobody_wants_a_place():
    slots = Slots(2)
    await asyncio.wait_for(slots.unused.wait(), 1)
    await slots.take(0)
    await slots.take(0)
    room = asyncio.create_task(slots.unused.wait())
    await asyncio.sleep(0)
    assert not room.done()
    slots.release()
    await asyncio.wait_for(room, 1)


async def test_a_job_has_begun_when_it_asks():
    lease = Lease(Slots(1), 0, asyncio.Event())
    assert not lease.begun.is_set()
    async with lease:
        assert lease.begun.is_set()
