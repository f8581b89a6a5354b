"""Limits on concurrent calls and calls per minute, deadlines and retries."""

import asyncio
import time

import pytest

from components.core.messages import Completion, Message, Usage
from components.models.gateway import Gateway
from components.models.limits import Deadlines, Limiter, Minute, Retries
from components.models.replies import Fault


async def started(limiter, n, tokens=0):
    tasks = []
    for _ in range(n):
        tasks.append(asyncio.create_task(limiter.acquire(tokens)))
        await asyncio.sleep(0)
    return tasks


async def test_no_more_than_the_ceiling_are_under_way():
    limiter, peaks = Limiter(10), []

    async def call():
        ticket = await limiter.acquire()
        peaks.append(limiter.in_flight)
        await asyncio.sleep(0.001)
        limiter.release(ticket)

    await asyncio.gather(*(call() for _ in range(100)))
    assert (max(peaks), limiter.peak, limiter.in_flight, len(peaks)) == (10, 10, 0, 100)


async def test_first_come_first_served():
    limiter, order = Limiter(1), []

    async def call(n):
        ticket = await limiter.acquire()
        order.append(n)
        await asyncio.sleep(0)
        limiter.release(ticket)

    await asyncio.gather(*(call(n) for n in range(20)))
    assert order == list(range(20))


async def test_newcomer_does_not_overtake_those_who_wait():
    limiter = Limiter(1)
    ticket = await limiter.acquire()
    (waiting,) = await started(limiter, 1)
    limiter.release(ticket)
    newcomer = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0.01)
    assert (waiting.done(), newcomer.done()) == (True, False)
    limiter.release(waiting.result())
    limiter.release(await newcomer)


async def test_cancelled_while_waiting_leaves_the_queue():
    limiter = Limiter(1)
    ticket = await limiter.acquire()
    first, second = await started(limiter, 2)
    first.cancel()
    await asyncio.sleep(0)
    limiter.release(ticket)
    limiter.release(await second)
    assert limiter.in_flight == 0


async def test_cancelled_just_after_it_was_admitted_passes_its_ticket_on():
    limiter = Limiter(1, requests=Minute(10), tokens=Minute(1000))
    ticket = await limiter.acquire(100)
    first, second = await started(limiter, 2, tokens=100)
    limiter.release(ticket)
    first.cancel()
    limiter.release(await asyncio.wait_for(second, 1))
    assert limiter.in_flight == 0
    assert limiter.requests.delay(8, asyncio.get_running_loop().time()) == 0
    assert limiter.tokens.delay(800, asyncio.get_running_loop().time()) == 0


async def test_the_429s_of_one_window_halve_it_once():
    limiter = Limiter(100)
    tickets = [await limiter.acquire() for _ in range(100)]
    for ticket in tickets:
        limiter.throttled(ticket, None)
        limiter.release(ticket)
    assert (limiter.limit, limiter.throttles) == (50, 100)
    for _ in range(20):
        ticket = await limiter.acquire()
        limiter.throttled(ticket, None)
        limiter.release(ticket)
    assert (limiter.limit, limiter.lowest) == (1, 1)


async def test_good_replies_let_it_recover_step_by_step():
    limiter = Limiter(100)
    tickets = [await limiter.acquire() for _ in range(20)]
    for ticket in tickets:
        limiter.throttled(ticket, None)
    for ticket in tickets:  # of an older window: they say nothing about the new limit
        limiter.succeeded(ticket)
        limiter.release(ticket)
    assert limiter.limit == 50
    seen = []
    for _ in range(2000):
        ticket = await limiter.acquire()
        limiter.succeeded(ticket)
        limiter.release(ticket)
        seen.append(limiter.limit)
    assert seen[49] == pytest.approx(55, abs=0.5)
    assert seen[-1] == 100


async def test_a_tenth_of_429s_does_not_lower_the_limit_permanently():
    limiter = Limiter(50)
    for n in range(2000):
        ticket = await limiter.acquire()
        limiter.throttled(ticket, None) if n % 10 == 0 else limiter.succeeded(ticket)
        limiter.release(ticket)
    assert limiter.lowest == 50 and limiter.throttles == 200


async def test_retry_after_pauses_everybody():
    limiter, loop = Limiter(10), asyncio.get_running_loop()
    ticket = await limiter.acquire()
    limiter.throttled(ticket, 0.1)
    limiter.release(ticket)
    before = loop.time()
    tickets = await asyncio.gather(*(limiter.acquire() for _ in range(3)))
    assert 0.09 < loop.time() - before < 2
    assert limiter.waited_seconds > 0.27
    for ticket in tickets:
        limiter.release(ticket)


async def test_requests_per_minute_hold_in_every_window():
    limiter, times, loop = Limiter(100, requests=Minute(5, seconds=0.1)), [], asyncio.get_running_loop()

    async def call():
        ticket = await limiter.acquire()
        times.append(loop.time())
        limiter.release(ticket)

    await asyncio.gather(*(call() for _ in range(17)))
    assert times == sorted(times)
    # A busy machine may run a call later than it was let in: half a window is more than none.
    assert all(later - sooner >= 0.05 for sooner, later in zip(times, times[5:], strict=False))
    assert times[-1] - times[0] < 2


async def test_tokens_per_minute_reserve_an_estimate_and_correct_it():
    limiter, loop = Limiter(100, tokens=Minute(100, seconds=0.2)), asyncio.get_running_loop()
    first = await limiter.acquire(90)
    waiting = asyncio.create_task(limiter.acquire(60))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    limiter.release(first, 20)
    await asyncio.sleep(0.01)
    assert waiting.done()
    before = loop.time()
    big = await limiter.acquire(500)
    assert loop.time() - before > 0.1
    limiter.release(waiting.result(), 60)
    limiter.release(big)


def test_a_correction_after_the_window_changes_nothing():
    minute = Minute(100, seconds=1.0)
    old = minute.spend(90, now=0.0)
    assert minute.delay(20, now=0.5) == 0.5
    assert minute.delay(20, now=1.5) == 0
    minute.correct(old, 500)
    assert minute.delay(100, now=1.6) == 0


def test_a_limiter_serves_one_loop_after_another():
    limiter = Limiter(1, requests=Minute(1, seconds=0.01))

    async def twice():
        for _ in range(2):
            limiter.release(await limiter.acquire())

    asyncio.run(twice())
    asyncio.run(twice())
    assert limiter.in_flight == 0


class Sleeper:
    """A transport that takes as many seconds as it is asked for."""

    async def call(self, seconds):
        await asyncio.sleep(seconds)
        return Completion(Message("assistant", "done"), Usage())


def sleeper(timeout_seconds, **looks):
    gateway = Gateway("m", api_base="http://here/v1", timeout_seconds=timeout_seconds)
    gateway._transport, gateway._deadlines = Sleeper(), Deadlines(timeout_seconds, **looks)
    return gateway


async def wait(gateway, seconds):
    """An attempt that takes so long."""
    return (await gateway._attempt(seconds)).message.text


async def test_a_call_beyond_its_deadline_times_out():
    loop = asyncio.get_running_loop()
    before = loop.time()
    with pytest.raises(Fault, match="no reply within"):
        await wait(sleeper(0.05), 5)
    assert 0.045 < loop.time() - before < 2
    assert asyncio.current_task().cancelling() == 0


async def test_own_work_counts_against_no_deadline():
    call = asyncio.create_task(wait(sleeper(0.3), 0.2))
    await asyncio.sleep(0.05)
    time.sleep(0.5)
    assert await call == "done"


async def test_a_loop_that_is_always_busy_keeps_no_call_from_its_deadline():
    call, looks = asyncio.create_task(wait(sleeper(0.02, look_seconds=0.02, late_seconds=0.005), 60)), 0
    while not call.done() and (looks := looks + 1) < 50:
        await asyncio.sleep(0)
        time.sleep(0.03)
    with pytest.raises(Fault, match="no reply within"):
        await asyncio.wait_for(call, 0)


async def test_calls_of_different_age_end_each_at_its_time():
    gateway, loop, ended = sleeper(0.1), asyncio.get_running_loop(), []

    async def call(delay):
        await asyncio.sleep(delay)
        started = loop.time()
        with pytest.raises(Fault, match="no reply within"):
            await wait(gateway, 5)
        ended.append(loop.time() - started)

    await asyncio.gather(*(call(n * 0.02) for n in range(6)), wait(gateway, 0.01))
    assert len(ended) == 6 and all(0.095 < seconds < 1 for seconds in ended)


async def test_an_external_cancellation_stays_a_cancellation():
    task = asyncio.create_task(wait(sleeper(5), 5))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_task_or_timer_remains():
    gateway = sleeper(5)
    assert await asyncio.gather(*(wait(gateway, 0.001) for _ in range(50))) == ["done"] * 50
    assert (len(gateway._deadlines._until), gateway._deadlines._timer) == (0, None)


def test_it_serves_one_loop_after_another():
    gateway = sleeper(0.02)
    for _ in range(2):
        with pytest.raises(Fault, match="no reply within"):
            asyncio.run(wait(gateway, 5))


def test_a_transient_fault_is_retried_and_counted():
    retries = Retries()
    waits = [retries.note_retry(n, Fault(kind, "")) for n, kind in enumerate(("server", "rate_limit", "server"))]
    assert (retries.by_kind, retries.waited_seconds) == ({"server": 2, "rate_limit": 1}, sum(waits))


def test_a_permanent_fault_is_not_retried():
    retries = Retries()
    assert retries.note_retry(0, Fault("bad_request", "a")) is None
    assert retries.by_kind == {}


def test_retries_end_after_the_limit():
    retries = Retries(3)
    waits = [retries.note_retry(n, Fault("server", "")) for n in range(4)]
    assert [wait is None for wait in waits] == [False, False, False, True]
    assert retries.by_kind["server"] == 3


def test_no_retries_is_one_attempt():
    assert Retries(0).note_retry(0, Fault("server", "a")) is None


def test_waits_double_up_to_the_longest_with_full_jitter():
    retries = Retries()
    for n, longest in enumerate((0.5, 1, 2, 4, 8, 16, 32, 60, 60)):
        waits = [retries.delay(n, Fault("server", "")) for _ in range(300)]
        assert 0 <= min(waits) < longest / 4 and longest * 3 / 4 < max(waits) <= longest


def test_rate_limits_without_a_retry_header_wait_longer():
    assert max(Retries().delay(0, Fault("rate_limit", "")) for _ in range(300)) > 1.5


def test_retry_after_is_obeyed():
    waits = [Retries().delay(0, Fault("rate_limit", "", retry_after=7.0)) for _ in range(100)]
    assert min(waits) >= 7 and max(waits) <= 7.5
