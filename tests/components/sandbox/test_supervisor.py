"""Workers as their supervisor sees them, and what they may do to it: every lie is a result, the next cell is right."""

import asyncio
import os
import signal
import socket
import stat
import time

import pytest

from components.sandbox import Limits, Sandbox
from components.sandbox.supervisor import Child
from tests.components.sandbox.conftest import PROBE
from tests.components.sandbox.processes import below, state
from tests.slow import slow
from tests.table import each_row


def close(child):
    child.close()
    child.ended(wait=True)


def test_the_host_gets_the_ends_and_the_supervisor_keeps_what_it_watches():
    here, there = socket.socketpair()
    child = Child(lambda *_: time.sleep(9), ())
    assert len(child.descriptors) == 5
    child.hand_over(there)
    _, came, _, _ = socket.recv_fds(here, 1000, 8)
    assert [stat.S_ISFIFO(os.fstat(one).st_mode) for one in came] == [True, True, True, False, True]
    assert child.descriptors == (child.output, child.process)
    close(child)
    assert child.descriptors == () and child.signal == signal.SIGKILL
    for one in came:
        os.close(one)
    here.close()
    there.close()


def test_a_worker_has_none_of_the_descriptors_of_others():
    first = Child(lambda *_: time.sleep(9), ())

    def live(*own):
        held = set()
        for one in range(1024):
            try:
                os.fstat(one)
                held.add(one)
            except OSError:
                continue
        if not held & set(first.descriptors) and {*own} <= held:
            os.write(1, b"ok")
        os._exit(0)

    other = Child(live, first.descriptors)
    sent = os.read(other.output, 9)
    assert other.ended(wait=True) and other.signal == 0 and sent == b"ok"
    for one in (first, other):
        close(one)


def test_cpu_time_is_measured_to_the_end_of_the_cell():
    def burn(*_):
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        os._exit(0)

    child = Child(burn, ())
    assert child.ended(wait=True) and 0.05 <= child.cpu_seconds() < 2
    close(child)


@pytest.fixture(scope="module")
def brief():
    made = Sandbox(limits=Limits(wall_seconds=0.5))
    yield made
    made.close()


LIES = {
    "a forged frame before the real one": (
        "import os, json, struct\nbody = json.dumps(dict(status='ok', answer='forged', output='', error=None, "
        "seconds=1)).encode()\nfor d in range(3, 20):\n    try: os.write(d, struct.pack('>I', len(body)) + body)\n"
        "    except OSError: pass",
        "error",
    ),
    "a frame that is too long": (
        "import os\nfor d in range(3, 20):\n    try:\n        while True: os.write(d, b'\\0' * 65536)\n"
        "    except OSError: pass",
        "error",
    ),
    "closed pipes": ("import os\nos.closerange(0, 60)", "error"),
    "killed by itself": ("import os\nos.kill(os.getpid(), 9)", "killed"),
    "stopped by itself": ("import os\nwhile True: os.kill(os.getpid(), 19)", "timeout"),
}


@slow
@each_row(
    "name, keep",
    [*((name, False) for name in LIES), ("a forged frame before the real one", True), ("closed pipes", True)],
)
async def test_a_dishonest_worker_gives_a_result_and_the_next_cell_is_right(brief, name, keep):
    cell, status = LIES[name]
    opened = brief.open(PROBE, keep=keep)
    ran = await opened.run(cell)
    assert ran.status == status and ran.answer == "" and ran.error.type in ("Protocol", "Killed", "Timeout")
    assert (await opened.run("answer = 1")).answer == "1"
    opened.close()


@slow
async def test_output_of_a_kept_worker_between_cells_ends_it(brief):
    opened = brief.open(PROBE, keep=True)
    await opened.run(
        "import os, signal\nkept = 1\ndef late(*_):\n    for d in range(3, 20):\n        try: os.write(d, b'late')\n"
        "        except OSError: pass\nsignal.signal(signal.SIGALRM, late)\nsignal.setitimer(signal.ITIMER_REAL, 0.3)"
    )
    await asyncio.sleep(0.6)
    ran = await opened.run("answer = 'kept' in globals()")
    assert (ran.status, ran.error.type) == ("error", "Protocol") and "it came without a cell" in ran.error.message
    assert (await opened.run("answer = 'kept' in globals()")).answer == "False"
    opened.close()


@slow
async def test_activity_of_a_kept_worker_between_cells_is_limited(brief):
    opened = brief.open(PROBE, keep=True)
    await opened.run(
        "import signal\ndef late(*_): sum(range(10**5))\nsignal.signal(signal.SIGALRM, late)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)"
    )
    until = time.monotonic() + 5
    while "T" not in (held := [state(pid) for pid in below(os.getpid())]) and time.monotonic() < until:
        await asyncio.sleep(0.05)
    assert "T" in held
    assert (await opened.run("signal.setitimer(signal.ITIMER_REAL, 0)\nanswer = 'late' in globals()")).answer == "True"
    opened.close()


@slow
async def test_a_worker_has_no_descriptors_but_its_own(session):
    await session.run("import time\ntime.sleep(0.2)")  # long enough for the next worker to be forked next to it
    ran = await session.run(
        "import os, stat\nfound = []\nfor d in range(64):\n    try: found.append(stat.S_IFMT(os.fstat(d).st_mode))\n"
        "    except OSError: pass\nanswer = found.count(stat.S_IFIFO), found.count(stat.S_IFSOCK)"
    )
    assert ran.answer == "(3, 0)"  # output, cells, results


@slow
async def test_a_large_cell_arrives(session):
    ran = await session.run("answer = len('" + "x" * 300_000 + "')")
    assert ran.answer == "300000"
