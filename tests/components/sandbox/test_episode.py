"""An episode as the host sees it."""

import asyncio
import os
import signal

import pytest

from components.sandbox import Library, Limits, Sandbox
from tests.components.sandbox.processes import below
from tests.slow import slow

LIBRARY = Library("components.sandbox.probe", {})


async def supervisor(before):
    """Of the processes that are new the one that has children; it may be forking the next just now."""
    while not (found := [pid for pid in set(below(os.getpid())) - before if below(pid)]):
        await asyncio.sleep(0.01)
    return found[0]


@pytest.fixture
async def opened():
    """A session of its own, and the number of its supervisor."""
    made = Sandbox(limits=Limits(wall_seconds=0.3))
    first = made.open(LIBRARY)
    await first.run("answer = 1")
    before = set(below(os.getpid()))
    session = made.open(LIBRARY)
    await session.run("answer = 1")
    yield session, await asyncio.wait_for(supervisor(before), 10)
    made.close()


@slow
async def test_a_supervisor_that_hangs_is_ended_by_the_host(opened, monkeypatch):
    monkeypatch.setattr("components.sandbox.episode._GRACE_SECONDS", 0.3)
    session, pid = opened
    os.kill(pid, signal.SIGSTOP)
    ran = await session.run("import time\ntime.sleep(20)")
    assert ran.status == "timeout" and "0.3 s" in ran.error.message
    assert (await session.run("answer = 2")).answer == "2"


async def test_a_supervisor_that_dies_is_a_result(opened):
    session, pid = opened
    running = asyncio.create_task(session.run("import time\ntime.sleep(20)"))
    await asyncio.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    ran = await running
    assert ran.status == "killed" and "variables of earlier cells are lost" in ran.error.message
    assert (await session.run("answer = 2")).answer == "2"


async def test_more_episodes_than_have_a_worker_waiting_run_their_cells(sandbox):
    sessions = [sandbox.open(LIBRARY) for _ in range(6)]
    for number in range(2):
        rans = await asyncio.gather(*(one.run(f"answer = {number}") for one in sessions))
        assert {ran.answer for ran in rans} == {str(number)}
    for one in sessions:
        one.close()
