"""An episode as the host sees it."""

import asyncio
import os
import signal

import pytest

from components.sandbox import Library, Limits, Sandbox
from components.sandbox.session import slots
from tests.components.sandbox.processes import below

LIBRARY = Library("components.sandbox.probe", {})


async def test_cells_of_one_session_run_one_after_the_other(sandbox):
    opened = sandbox.open(LIBRARY, keep=True)
    rans = await asyncio.gather(
        *(opened.run(f"found = [*globals().get('found', []), {n}]\nanswer = found") for n in range(5))
    )
    assert [ran.answer for ran in rans][-1] == "[0, 1, 2, 3, 4]"
    opened.close()


def supervisor(pids):
    """Of some processes the one that has children."""
    return next(pid for pid in pids if below(pid))


@pytest.fixture
async def opened():
    """A session of its own, and the number of its supervisor."""
    made = Sandbox(limits=Limits(wall_seconds=0.3))
    first = made.open(LIBRARY)
    await first.run("answer = 1")
    before = set(below(os.getpid()))
    session = made.open(LIBRARY)
    await session.run("answer = 1")
    yield session, supervisor(set(below(os.getpid())) - before)
    made.close()


async def test_a_supervisor_that_hangs_is_ended_by_the_host(opened, monkeypatch):
    monkeypatch.setattr("components.sandbox.session._GRACE_SECONDS", 0.3)
    session, pid = opened
    os.kill(pid, signal.SIGSTOP)
    ran = await session.run("answer = 1")
    assert ran.status == "timeout" and "0.3 s" in ran.error.message
    assert (await session.run("answer = 2")).answer == "2"


async def test_a_supervisor_that_dies_is_a_result(opened):
    session, pid = opened
    running = asyncio.create_task(session.run("while True: pass"))
    await asyncio.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    ran = await running
    assert ran.status == "killed" and "variables of earlier cells are lost" in ran.error.message
    assert (await session.run("answer = 2")).answer == "2"


async def test_cancelling_a_cell_ends_its_worker(sandbox):
    opened = sandbox.open(LIBRARY)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await opened.run("while True: pass")
    assert (await opened.run("answer = 3")).answer == "3"
    opened.close()


async def test_turns_are_shared_on_a_loop():
    assert slots(2) is slots(2) and slots(2) is not slots(3)
